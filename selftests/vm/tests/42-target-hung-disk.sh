#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A disk hangs with all that one host could give it. Another host's I/O on another disk goes on, also when
# the first one has left and comes back for more; and when the disk goes on, so does everything.
#
# vm-kernels: 6.12
# vm-timeout: 180
. "$VM_LIB"

hung=nqn.2026-11.org.example:hung
well=nqn.2026-11.org.example:well
other=nqn.2014-08.org.nvmexpress:uuid:cccccccc-0000-4000-8000-000000000003

setup()
{
	modprobe dm_mod && modprobe brd rd_nr=2 rd_size=65536 && rxe_up && modprobe nvme-rdma &&
	dmsetup create hung --noudevsync --table "0 131072 linear /dev/ram0 0" &&
	our_target_add $hung /dev/dm-0 && our_target_add $well /dev/ram1 &&
	host_connect rdma $hung -i 2 && hang
}

# More than all the data buffers there are.
hang()
{
	dmsetup suspend --noudevsync hung || return
	fio --name=hang --filename="$(host_disk $hung)" --rw=read --bs=1m --iodepth=48 --direct=1 --ioengine=libaio \
		--numjobs=2 --size=48m > /tmp/hang.out 2>&1 & hanging=$!
	wait_for in_the_disk
}

# Reads that have their buffers and are in the disk: nothing more goes there.
in_the_disk()
{
	local now

	now=$(awk '/^queue:/ { for (i = 1; i < NF; i++) if ($i == "claimed") n += substr($(i + 1), index($(i + 1), "+") + 1) }
		END { print n + 0 }' /sys/kernel/debug/pollard-target/queues)
	[ "$now" -ge 64 ]
}

others_go_on()
{
	host_connect rdma $well -i 2 -q $other -I "${other##*:}" || return
	timeout 60 fio --name=well --filename="$(host_disk $well)" --rw=randwrite --bsrange=4k-1m --iodepth=16 --direct=1 \
		--ioengine=io_uring --size=16m --verify=crc32c --verify_fatal=1 --do_verify=1 > /tmp/well.out 2>&1 ||
		{ tail -n 5 /tmp/well.out; cat /sys/kernel/debug/pollard-target/queues; return 1; }
	host_disconnect $well
}

# Its commands stay in the disk, and it brings as many again.
leaves_and_comes_back()
{
	nvme disconnect -n $hung > /dev/null
	wait $hanging
	others_go_on && nvme connect -t rdma -a "$VM_ADDR1" -s 4420 -n $hung -i 2 -q $other -I "${other##*:}" &&
		wait_for -t 20 host_disk $hung
}

the_disk_goes_on()
{
	dmsetup resume --noudevsync hung && wait_for nothing_waits &&
		fio_verify "$(host_disk $hung)" 4k 8 --bsrange=4k-1m --size=8m && host_disconnect $hung
}

nothing_waits() { ! in_the_disk; }

tear_down()
{
	wait_for -t 30 queues_gone && pollard subsystem del $hung && pollard subsystem del $well && pollard port del 1 &&
		wait_for -t 20 modprobe -r pollard-target && dmsetup remove --noudevsync hung
}

queues_gone() { ! grep -q '^queue:' /sys/kernel/debug/pollard-target/queues; }

tap_run "a disk hangs, full of one host's reads" setup || { tap_end; exit 1; }
tap_run "another host's I/O on another disk goes on" others_go_on
tap_run "the first one leaves; others go on, and it comes back" leaves_and_comes_back
tap_run "the disk goes on, and so does everything" the_disk_goes_on
tap_run "tear down" tear_down
tap_end
