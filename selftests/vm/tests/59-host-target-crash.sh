#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 59-host-target-crash.sh [ROUNDS [TARGET]]: the machine of the target crashes, boots and exports its disks again, under a
# database on one of them, and under writes to the other one whose acknowledgements are remembered. The host
# comes back by itself: no application is told of an error, and all that was acknowledged is there, over the
# same connection and over a new one. The database is on ext4, with ROUNDS in each round on ext4 and on xfs.
#
# The target's disks have a cache. What a crash of that machine does not take is what was flushed, and here also
# what was only written: their emulator has it in its own machine's file by then. So these writes may be looked
# for, too; without that, no host could know of a lost one that was acknowledged. (A cache that is really lost is in
# 55-host-database.sh.) TARGET is "ours" or "in-tree"; unless it is said, ours on 6.12 and the kernel's own on 6.1.
#
# vm-kernels: 6.12 6.1
# vm-peer: 59-host-target-crash-target
# vm-peer-disk: 320M
# vm-peer-disk: 8M
# vm-timeout: 400
# vm-long: 20 ours
# vm-long: 20 in-tree
# vm-long-timeout: 7200
. "$VM_LIB"
. "${VM_LIB%/*}/database-lib.sh"
. "${VM_LIB%/*}/ackwrite-lib.sh"

nqn=nqn.2026-11.org.example:machine

setup()
{
	# Whoever waits for a machine to boot does not hang.
	echo $((120 * VM_SLOWNESS)) > /proc/sys/kernel/hung_task_timeout_secs
	db_setup && rxe_up && vm_wait exported-1
}

# Disk 1 is the database's, disk 2 ackwrite's.
connect()
{
	host_connect pollard $nqn -a $VM_ADDR2 --reconnect-delay=1 --ctrl-loss-tmo=600 &&
		wait_for host_disk $nqn 2 || return
	disk=$(host_disk $nqn 1) raw=$(host_disk $nqn 2) c=/sys/class/nvme/$(host_controllers $nqn)
}

is() { [ "$(< "$c/state")" = "$1" ]; }
reconnected() { is live && [ "$(< "$c/pollard/reconnects")" -gt "$1" ]; }

# What is to be seen of the way back, for people
way_back()
{
	diag "state $(< "$c/state"), $(< "$c/pollard/reconnects") reconnects"
	dmesg | grep -E 'nvme|pollard|rxe' | tail -n 20
	rdma resource show cm_id
	ip neigh show dev "$VM_NETDEV"
	for p in $db_pid $db_fio_pid $ack_pid; do
		[ ! -e "/proc/$p" ] || grep -H . "/proc/$p/task"/*/stack
	done
	return 1
}

# begin FILESYSTEM
begin()
{
	connect && ack_check "$raw" && db_mkfs "$1" "$disk" && mount "$disk" /mnt || return
	db_begin "$1" && ack_begin "$raw"
}

target_crashes()
{
	local before start now

	before=$(< "$c/pollard/reconnects")
	db_commits 5 && vm_signal crash || return
	vm_now; start=$now
	wait_for -t 60 is connecting || { diag "the host does not notice"; way_back; return; }
	vm_wait exported-2 120 || { way_back; return; }
	vm_now; took="exported again after $(((now - start) / 1000)) ms"
	wait_for -t 60 reconnected "$before" || { diag "the host is not back"; way_back; return; }
	vm_now; took+=", connected again after $(((now - start) / 1000)) ms"
}

# They were waiting, and go on.
applications_go_on()
{
	db_runs && db_commits 20 || { diag "the database does not go on:"; cat /tmp/sqlite; way_back; return; }
	ack_goes_on && ack_going "$raw" || { way_back; return; }
}

# Not one error has got as far as a disk or a file system.
no_error()
{
	local disk=' error, dev nvme|Buffer I/O error|lost .*page write'

	! dmesg | grep -E "$disk|EXT4-fs (error|warning)|Aborting journal|XFS .*(error|[Ss]hutdown)"
}

applications_end()
{
	ack_end && ack_check "$raw" && db_end && umount /mnt
}

# Nothing that the host's caches still had
all_is_there()
{
	host_disconnect $nqn && connect && ack_check "$raw" && db_consistent "$1" "$disk" && host_disconnect $nqn
}

tap_run "set up" setup || { tap_end; exit 1; }
# A crash takes a minute. What a file system does of its own is in 55-host-database.sh, too.
filesystems=(ext4)
[ -z "$1" ] || mapfile -t filesystems < <(for ((round = $1; round > 0; round--)); do printf 'ext4\nxfs\n'; done)
for fs in "${filesystems[@]}"; do
	modprobe -q "$fs" || { tap_skip "$fs" "the kernel has none"; continue; }
	tap_run "$fs: make, mount, commit transactions" begin "$fs" &&
	tap_run "$fs: the target's machine crashes, boots and exports again, the host is back" target_crashes &&
	tap_run "$fs: the applications go on" applications_go_on &&
	tap_run "$fs: no error was seen" no_error &&
	tap_run "$fs: the applications are stopped, all writes are there" applications_end &&
	tap_run "$fs: all is there over a new connection" all_is_there "$fs" || break
	diag "$took; $db_last transactions"
done
# A target that still waits for more is stopped with us.
[ $tap_failed != 0 ] || vm_signal over
tap_end
