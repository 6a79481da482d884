#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 59-host-target-crash.sh [ROUNDS]: the machine of the targets crashes, boots and exports its disks again, under a
# database on one of them, and under writes to the other one whose acknowledgements are remembered. The host
# comes back by itself: no application is told of an error, and all that was acknowledged is there, over the
# same connections and over new ones. The database is on ext4, with ROUNDS in each round on ext4 and on xfs.
#
# Both targets are on that machine: our own has one disk, the kernel's the other. Which of them has the database
# changes from turn to turn, and from kernel to kernel.
#
# The targets' disks have a cache. What a crash of that machine does not take is what was flushed, and here also
# what was only written: their emulator has it in its own machine's file by then. So these writes may be looked
# for, too; without that, no host could know of a lost one that was acknowledged. (A cache that is really lost is in
# 55-host-database.sh.)
#
# vm-kernels: 6.12 6.1
# vm-peer: 59-host-target-crash-target
# vm-peer-disk: 320M
# vm-peer-disk: 320M
# vm-timeout: 400
# vm-long: 20
# vm-long-timeout: 7200
. "$VM_LIB"
. "${VM_LIB%/*}/database-lib.sh"
. "${VM_LIB%/*}/ackwrite-lib.sh"

nqn=nqn.2026-11.org.example:machine
targets=(ours in-tree)
declare -A service=([ours]=4420 [in-tree]=4421) disks=() c=()

setup()
{
	# Whoever waits for a machine to boot does not hang.
	echo $((120 * VM_SLOWNESS)) > /proc/sys/kernel/hung_task_timeout_secs
	db_setup && rxe_up && vm_wait exported-1
}

connect()
{
	host_connect pollard "$nqn-$1" -a $VM_ADDR2 -s "${service[$1]}" --reconnect-delay=1 --ctrl-loss-tmo=600 || return
	disks[$1]=$(host_disk "$nqn-$1") c[$1]=/sys/class/nvme/$(host_controllers "$nqn-$1")
}
disconnect() { host_disconnect "$nqn-$1"; }

# is STATE TARGET
is() { [ "$(< "${c[$2]}/state")" = "$1" ]; }
reconnects() { cat "${c[$1]}/pollard/reconnects"; }
reconnected() { is live "$1" && [ "$(reconnects "$1")" -gt "${before[$1]}" ]; }
# A machine that boots fast may be back before one has looked.
lost() { ! is live "$1" || reconnected "$1"; }

# What is to be seen of the way back, for people
way_back()
{
	grep -H . /sys/class/nvme/*/state /sys/class/nvme/*/pollard/reconnects
	dmesg | grep -E 'nvme|pollard|rxe' | tail -n 20
	rdma resource show cm_id
	ip neigh show dev "$VM_NETDEV"
	for p in $db_pid $db_fio_pid $ack_pid; do
		[ ! -e "/proc/$p" ] || grep -H . "/proc/$p/task"/*/stack
	done
	return 1
}

# connect_all TARGET: the database is on the disk of this target, ackwrite writes to the other one's.
connect_all()
{
	local other=ours
	[ "$1" != ours ] || other=in-tree

	all connect || return
	disk=${disks[$1]} raw=${disks[$other]} ack_journal=/tmp/journal.$other
	ack_check "$raw"
}

# begin FILESYSTEM TARGET
begin()
{
	connect_all "$2" || return
	# What ackwrite has written to one disk goes now, and what there may be of a database on the other one.
	rm -f "/tmp/journal.$2"
	[ -e $ack_journal ] || dd if=/dev/zero of="$raw" bs=1M count=8 oflag=direct 2> /dev/null || return
	db_mkfs "$1" "$disk" && mount "$disk" /mnt || return
	db_begin "$1" && ack_begin "$raw"
}

targets_crash()
{
	local t start now
	local -A before=()

	for t in "${targets[@]}"; do
		before[$t]=$(reconnects "$t")
	done
	db_commits 5 && vm_signal crash || return
	vm_now; start=$now
	all wait_for -t 60 lost || { diag "the host does not notice"; way_back; return; }
	vm_wait exported-2 120 || { way_back; return; }
	vm_now; took="exported again after $(((now - start) / 1000)) ms"
	all wait_for -t 60 reconnected || { diag "the host is not back"; way_back; return; }
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

# all_is_there FILESYSTEM TARGET: nothing that the host's caches still had
all_is_there()
{
	all disconnect && connect_all "$2" && db_consistent "$1" "$disk" && all disconnect
}

tap_run "set up" setup || { tap_end; exit 1; }
mapfile -t turns < <(db_turns "${1:-1}")
# A crash takes a minute. What a file system does of its own is in 55-host-database.sh, too.
[ -n "$1" ] || turns=("${turns[0]}")
for turn in "${turns[@]}"; do
	read -r fs target <<< "$turn"
	name="$fs, target $target"
	modprobe -q "$fs" || { tap_skip "$name" "the kernel has no $fs"; continue; }
	tap_run "$name: make, mount, commit transactions" begin "$fs" "$target" &&
	tap_run "$name: the targets' machine crashes, boots and exports again, the host is back" targets_crash &&
	tap_run "$name: the applications go on" applications_go_on &&
	tap_run "$name: no error was seen" no_error &&
	tap_run "$name: the applications are stopped, all writes are there" applications_end &&
	tap_run "$name: all is there over new connections" all_is_there "$fs" "$target" || break
	diag "$took; $db_last transactions"
done
# A target that still waits for more is stopped with us.
[ $tap_failed != 0 ] || vm_signal over
tap_end
