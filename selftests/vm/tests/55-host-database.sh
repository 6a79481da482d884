#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 55-host-database.sh [ROUNDS]: a database on a file system on a disk of our initiator, while the target
# crashes. SQLite commits transactions, each one acknowledged goes into a list; a program that calls fsync
# after each write runs besides. The target's disk has a volatile cache.
#
# - The target's software crashes and comes back: nobody notices but by the time it takes.
# - The target loses power, its disk all that was not flushed, and the host gives up: after the file
#   system is mounted over a new connection every acknowledged transaction is there, and database and
#   file system are in order.
#
# The target is ours with one file system and the kernel's own with the other.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 300
# vm-long: 20
# vm-long-timeout: 7200
. "$VM_LIB"
. "${VM_LIB%/*}/database-lib.sh"

nqn=nqn.2026-11.org.example:database
uuid=11111111-2222-4333-8444-555555555555

setup()
{
	db_setup && rxe_up && modprobe pollard-host || return
	# The disk does forget what was not flushed, and keeps the rest.
	null_disk disk size=320 memory_backed=1 cache_size=128 || return
	dd if=/dev/zero bs=4k count=1 2> /dev/null | tr '\0' x > /tmp/x
	dd if=/tmp/x of=/dev/disk bs=4k oflag=direct 2> /dev/null && disk_power_fails || return
	! cmp -s -n 4096 /tmp/x /dev/disk || { diag "it keeps what was not flushed"; return 1; }
	dd if=/tmp/x of=/dev/disk bs=4k oflag=direct conv=fsync 2> /dev/null && disk_power_fails &&
		cmp -n 4096 /tmp/x /dev/disk
}

disk_power_fails()
{
	echo 0 > /sys/kernel/config/nullb/disk/power && echo 1 > /sys/kernel/config/nullb/disk/power
}

# ---- target and host ----------------------------------------------------------------------------

target_up()
{
	[ "$target" = ours ] || { intree_subsystem_add $nqn /dev/disk $uuid && intree_export $nqn $VM_ADDR1; return; }
	modprobe pollard-target || return
	cat > /tmp/batch <<-END
		subsystem add $nqn allow-any-host on
		namespace add $nqn nsid 1 device /dev/disk uuid $uuid
		port add 1 traddr $VM_ADDR1 trsvcid 4420
		port add-subsystem 1 $nqn
	END
	pollard -b /tmp/batch
}
# All of a sudden for the host: no goodbye, no memory of any connection afterwards.
target_crashes()
{
	if [ "$target" = ours ]; then modprobe -r pollard-target; else intree_target_del $nqn; fi
}

connect()
{
	host_connect pollard $nqn --reconnect-delay=1 --ctrl-loss-tmo="$1" || return
	disk=$(host_disk $nqn) c=/sys/class/nvme/$(host_controllers $nqn)
}
is() { [ "$(< "$c/state")" = "$1" ]; }

# ---- tests --------------------------------------------------------------------------------------

# A write that asks for it (FUA) needs no flush. What a file system does hardly tells: it flushes soon afterwards.
forced_write()
{
	target_up && connect 60 || return
	nvme write "$disk" -s 8 -c 7 -z 4096 -d /tmp/x -f && host_disconnect $nqn && target_crashes && disk_power_fails ||
		return
	dd if=/dev/disk bs=4k skip=1 count=1 iflag=direct 2> /dev/null | cmp - /tmp/x
}

# begin FILESYSTEM
begin()
{
	db_mkfs "$1" /dev/disk && blockdev --flushbufs /dev/disk && target_up && connect 60 || return
	mount "$disk" /mnt && db_begin "$1"
}

target_returns()
{
	target_crashes && wait_for is connecting && target_up && wait_for is live || return
	db_commits 20 && db_fio_end
}

power_fails()
{
	db_fio_begin 99
	echo 2 > "$c/ctrl_loss_tmo" && db_commits 20 && target_crashes && disk_power_fails || return
	wait_for host_gone $nqn || { diag "the controller is $(< "$c/state")"; return 1; }
	db_failed && umount /mnt
}

consistent()
{
	target_up && connect 60 && db_consistent "$1" "$disk"
}

end()
{
	host_disconnect $nqn && target_crashes
}

tap_run "set up" setup || { tap_end; exit 1; }
mapfile -t turns < <(db_turns "${1:-1}")
for turn in "${turns[@]}"; do
	read -r fs target <<< "$turn"
	name="$fs, target $target"
	modprobe -q "$fs" || { tap_skip "$name" "the kernel has no $fs"; continue; }
	tap_run "$name: a forced write is there when power fails" forced_write &&
	tap_run "$name: make, mount, commit transactions" begin "$fs" &&
	tap_run "$name: the target crashes and returns" target_returns &&
	tap_run "$name: the target loses power, the host gives up" power_fails &&
	tap_run "$name: all is there, over a new connection" consistent "$fs" &&
	tap_run "$name: disconnect" end || break
done
tap_end
