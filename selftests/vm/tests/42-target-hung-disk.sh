#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Disks hang with all that hosts could give them. Another host's I/O on another disk goes on, also when the
# first one has left, with its commands still in the disk, and a second one brings as many; and when the
# disks go on, so does everything.
#
# vm-kernels: 6.12
# vm-timeout: 180
. "$VM_LIB"

hung=nqn.2026-11.org.example:hung
hung2=nqn.2026-11.org.example:hung2
well=nqn.2026-11.org.example:well
other=nqn.2014-08.org.nvmexpress:uuid:cccccccc-0000-4000-8000-000000000003

setup()
{
	modprobe dm_mod && modprobe brd rd_nr=2 rd_size=65536 && rxe_up && modprobe nvme-rdma &&
	dmsetup create hung --noudevsync --table "0 65536 linear /dev/ram0 0" &&
	dmsetup create hung2 --noudevsync --table "0 65536 linear /dev/ram0 65536" &&
	our_target_add $hung /dev/dm-0 && our_target_add $hung2 /dev/dm-1 && our_target_add $well /dev/ram1 &&
	host_connect rdma $hung -i 2 && host_connect rdma $hung2 -i 2 -q $other -I "${other##*:}" &&
	dmsetup suspend --noudevsync hung && dmsetup suspend --noudevsync hung2 && hang $hung 64
}

# hang NQN BUFFERS: more reads than there are data buffers; so many at least get theirs
hang()
{
	local before

	before=$(in_the_disk)
	fio --name=hang --filename="$(host_disk "$1")" --rw=read --bs=1m --iodepth=32 --direct=1 --ioengine=libaio \
		--numjobs=2 --size=32m > /tmp/hang.out 2>&1 & hanging=$!
	wait_for more_in_the_disk $((before + $2))
}

# large buffers that commands have, of queues whose hosts are there or have gone
in_the_disk()
{
	awk '/^queue:/ { for (i = 1; i < NF; i++) if ($i == "claimed") n += substr($(i + 1), index($(i + 1), "+") + 1) }
		END { print n + 0 }' /sys/kernel/debug/pollard-target/queues
}

more_in_the_disk() { [ "$(in_the_disk)" -ge "$1" ]; }

others_go_on()
{
	host_connect rdma $well -i 2 -q $other -I "${other##*:}" || return
	timeout 60 fio --name=well --filename="$(host_disk $well)" --rw=randwrite --bsrange=4k-1m --iodepth=16 --direct=1 \
		--ioengine=io_uring --size=16m --verify=crc32c --verify_fatal=1 --do_verify=1 > /tmp/well.out 2>&1 ||
		{ tail -n 5 /tmp/well.out; cat /sys/kernel/debug/pollard-target/queues; return 1; }
	host_disconnect $well
}

# What its commands keep is not there for the second one, but a part for each queue is.
leaves()
{
	nvme disconnect -n $hung > /dev/null
	wait $hanging
	[ "$(in_the_disk)" -ge 64 ] && others_go_on && hang $hung2 16 && others_go_on
}

disks_go_on()
{
	dmsetup resume --noudevsync hung && dmsetup resume --noudevsync hung2 && wait $hanging &&
		wait_for nothing_waits && fio_verify "$(host_disk $hung2)" 4k 8 --bsrange=4k-1m --size=8m &&
		host_disconnect $hung2
}

nothing_waits() { [ "$(in_the_disk)" = 0 ]; }

tear_down()
{
	wait_for -t 30 queues_gone && pollard subsystem del $hung && pollard subsystem del $hung2 && pollard subsystem del $well && pollard port del 1 &&
		wait_for -t 20 modprobe -r pollard-target && dmsetup remove --noudevsync hung && dmsetup remove --noudevsync hung2
}

queues_gone() { ! grep -q '^queue:' /sys/kernel/debug/pollard-target/queues; }

tap_run "a disk hangs, full of one host's reads" setup || { tap_end; exit 1; }
tap_run "another host's I/O on another disk goes on" others_go_on
tap_run "the first one leaves, a second one brings more, and others go on" leaves
tap_run "the disks go on, and so does everything" disks_go_on
tap_run "tear down" tear_down
tap_end
