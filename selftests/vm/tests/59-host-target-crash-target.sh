#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The target of 59-host-target-crash.sh [ROUNDS [TARGET]]: exports its two disks, and crashes when it is told to. It keeps nothing over
# that but the disks.
. "$VM_LIB"

nqn=nqn.2026-11.org.example:machine
uuids=(11111111-2222-4333-8444-555555555555 11111111-2222-4333-8444-666666666666)
target=$(target_of "$2")

# A write is in a cache until it is flushed, as far as the host can know.
caches()
{
	local d

	for d in vda vdb; do
		[ "$(< /sys/block/$d/queue/write_cache)" = "write back" ] || { echo "$d has no cache"; return 1; }
	done
}

# At once: a host that finds the port without the subsystem is refused for good.
target_up()
{
	if [ "$target" != ours ]; then
		intree_subsystem_add $nqn /dev/vda "${uuids[0]}" /dev/vdb "${uuids[1]}" && intree_export $nqn $VM_ADDR2
		return
	fi
	modprobe pollard-target || return
	cat > /tmp/batch <<-END
		subsystem add $nqn allow-any-host on
		namespace add $nqn nsid 1 device /dev/vda uuid ${uuids[0]}
		namespace add $nqn nsid 2 device /dev/vdb uuid ${uuids[1]}
		port add 1 traddr $VM_ADDR2 trsvcid 4420
		port add-subsystem 1 $nqn
	END
	pollard -b /tmp/batch
}

caches && rxe_up && target_up || { echo "cannot export, boot $VM_BOOT"; dmesg | tail -n 20; exit 1; }
echo "exported, boot $VM_BOOT, $(cut -d ' ' -f 1 /proc/uptime) s after its begin"
vm_signal "exported-$VM_BOOT" || exit 1
wait_for -t 1000 test -e /run/signals/crash -o -e /run/signals/over || exit 1
if [ ! -e /run/signals/over ]; then
	echo "crashes"
	vm_crash
fi
if [ "$target" = ours ]; then
	pollard subsystem del $nqn && pollard port del 1 && wait_for modprobe -r pollard-target
else
	intree_target_del $nqn
fi
