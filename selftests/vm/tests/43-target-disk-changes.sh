#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk that changes under a namespace: a device mapper's new table knows no REQ_NOWAIT, then again it
# does; a disk gets a volatile write cache. No I/O may fail for that, and a Flush has to be one. One becomes
# read-only. And a device mapper on a disk with polled queues, which ends no other I/O than what it is asked
# about.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 120
. "$VM_LIB"

nqn=nqn.2026-11.org.example:changes
table="linear /dev/ram0 0"

setup()
{
	modprobe -a dm_mod dm_delay && modprobe brd rd_nr=1 rd_size=32768 && rxe_up && host_load rdma &&
	null_disk cached size=64 memory_backed=1 cache_size=16 &&
	echo "write through" > /sys/block/cached/queue/write_cache &&
	dmsetup create changes --noudevsync --table "0 65536 $table" &&
	our_target_add $nqn /dev/dm-0 && pollard namespace add $nqn nsid 2 device /dev/cached &&
	host_connect rdma $nqn -i 2 && wait_for both_disks
}

both_disks() { disk 1 > /dev/null && disk 2 > /dev/null; }

# disk NSID: the host's disk; they are found in any order
disk()
{
	local d

	for d in /sys/block/nvme*n*; do
		[ -b "/dev/${d##*/}" ] && [ "$(< "$d/nsid")" = "$1" ] && echo "/dev/${d##*/}" && return
	done
	return 1
}

submits() { pollard -s namespace show $nqn 1 | grep -o 'worker-submits [0-9]*'; }
io() { fio_verify "$(disk 1)" 4k 8 --bsrange=512-256k --size=8m; }

reload()
{
	dmsetup suspend --noudevsync changes && dmsetup load changes --table "0 65536 $1" &&
		dmsetup resume --noudevsync changes
}

by_worker()
{
	local before

	reload "delay /dev/ram0 0 1" && before=$(submits) && io || return
	[ "$(submits)" != "$before" ] || { diag "nothing was given to a worker: $before"; return 1; }
}

inline_again()
{
	local before

	reload "$table" && before=$(submits) && io || return
	[ "$(submits)" = "$before" ] || { diag "$before, then $(submits)"; return 1; }
}

# The table changes while there is I/O, many times.
under_load()
{
	local n pid

	while [ ! -e /tmp/stop ]; do io || exit; done & pid=$!
	for ((n = 0; n < 10; n++)); do
		reload "delay /dev/ram0 0 1" && reload "$table" || break
	done
	touch /tmp/stop
	wait $pid && [ $n = 10 ]
}

flushes() { awk '{ print $16 }' /sys/block/cached/stat; }
flush() { nvme flush "$(disk 2)" -n 2 > /dev/null; }
flush_is_one()
{
	local before

	before=$(flushes)
	flush && [ "$(flushes)" = "$before" ] || { diag "without a cache: $before, then $(flushes)"; return 1; }
	echo "write back" > /sys/block/cached/queue/write_cache && flush || return
	[ "$(flushes)" -gt "$before" ] || { diag "with a cache: still $before"; return 1; }
}

# Commands of several bios each: all of them have to be asked about.
polled()
{
	null_disk polled size=64 poll_queues=1 max_sectors=64 &&
	dmsetup create polled --noudevsync --table "0 131072 linear /dev/polled 0" &&
	pollard namespace add $nqn nsid 3 device /dev/dm-1 && wait_for disk 3 || return
	[ "$(< /sys/block/dm-1/queue/io_poll)" = 1 ] || { diag "the device mapper does not poll"; return 1; }
	timeout 30 fio --name=polled --filename="$(disk 3)" --rw=randrw --bsrange=4k-256k --iodepth=4 --direct=1 \
		--ioengine=libaio --size=64m --io_size=8m > /tmp/polled.out 2>&1 ||
		{ tail -n 5 /tmp/polled.out; cat /sys/kernel/debug/pollard-target/queues; return 1; }
}

host_writes() { dd if=/dev/zero of="$(disk 1)" bs=4k count=1 oflag=direct status=none 2> /dev/null; }

# The block layer warns of a write to a read-only disk and lets it through.
read_only()
{
	blockdev --setro /dev/dm-0 && pollard namespace set $nqn 1 || return
	pollard namespace show $nqn 1 | grep -q 'read-only on' || { pollard namespace show $nqn 1; return 1; }
	! host_writes || { diag "a host writes to a disk that is read-only"; return 1; }
	! pollard namespace set $nqn 1 read-only off 2> /tmp/err && grep -q 'the device is read-only' /tmp/err ||
		{ diag "writing is allowed again:" "$(cat /tmp/err)"; return 1; }
	blockdev --setrw /dev/dm-0 && pollard namespace set $nqn 1 read-only off && wait_for host_writes
}

tear_down()
{
	host_disconnect $nqn && pollard subsystem del $nqn && pollard port del 1 &&
		modprobe -r pollard-target nvme-rdma && dmsetup remove --noudevsync changes &&
		dmsetup remove --noudevsync polled && null_disk_del polled && null_disk_del cached
}

tap_run "set up" setup || { tap_end; exit 1; }
tap_run "I/O" io
tap_run "a table without REQ_NOWAIT" by_worker
tap_run "and with it again" inline_again
tap_run "tables change under load" under_load
tap_run "Flush reaches the disk once it has a cache" flush_is_one
tap_run "a disk is made read-only, and writable again" read_only
tap_run "commands of several bios on a polled device mapper" polled
tap_run "tear down" tear_down
tap_end
