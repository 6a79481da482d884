#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The targets of 59-host-target-crash.sh: each exports a disk, ours one and the kernel's own the other, and the
# machine crashes when it is told to. It keeps nothing over that but the disks.
. "$VM_LIB"

nqn=nqn.2026-11.org.example:machine

# A write is in a cache until it is flushed, as far as the host can know.
caches()
{
	local d

	for d in vda vdb; do
		[ "$(< /sys/block/$d/queue/write_cache)" = "write back" ] || { echo "$d has no cache"; return 1; }
	done
}

# At once: a host that finds the port without the subsystem is refused for good.
targets_up()
{
	modprobe pollard-target || return
	cat > /tmp/batch <<-END
		subsystem add $nqn-ours allow-any-host on
		namespace add $nqn-ours nsid 1 device /dev/vda uuid 11111111-2222-4333-8444-555555555555
		port add 1 traddr $VM_ADDR2 trsvcid 4420
		port add-subsystem 1 $nqn-ours
	END
	pollard -b /tmp/batch && intree_subsystem_add $nqn-in-tree /dev/vdb 11111111-2222-4333-8444-666666666666 &&
		intree_export $nqn-in-tree $VM_ADDR2 4421
}

caches && rxe_up && targets_up || { echo "cannot export, boot $VM_BOOT"; dmesg | tail -n 20; exit 1; }
echo "exported, boot $VM_BOOT, $(cut -d ' ' -f 1 /proc/uptime) s after its begin"
vm_signal "exported-$VM_BOOT" || exit 1
wait_for -t 1000 test -e /run/signals/crash -o -e /run/signals/over || exit 1
if [ ! -e /run/signals/over ]; then
	echo "crashes"
	vm_crash
fi
pollard subsystem del $nqn-ours && pollard port del 1 && wait_for modprobe -r pollard-target &&
	intree_target_del $nqn-in-tree
