#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The host of 49-peer-gone.sh: with I/O on its way it is paused, outlives a target that is paused, and
# dies as by a power cut.
. "$VM_LIB"

nqn=nqn.2026-11.org.example:gone

load()
{
	fio --name=load --filename="$(host_disk $nqn)" --rw=randrw --bs=4k --iodepth=8 --size=8m --direct=1 \
		--ioengine=io_uring --time_based --runtime=100 > /tmp/load.out 2>&1 &
}

live()
{
	[ "$(cat "/sys/class/nvme/$(host_controllers $nqn)/state")" = live ]
}

reconnected()
{
	[ "$(dmesg | grep -cE 'nvme[0-9]+: reconnected')" -ge "$1" ] && live
}

connect()
{
	host_connect pollard $nqn -i 2 -k 2 --reconnect-delay=1 --ctrl-loss-tmo=100
}

rxe_up && modprobe pollard-host && vm_wait once && connect && host_disconnect $nqn && vm_signal over &&
	vm_wait ready || exit 1
connect && load && vm_signal connected || exit 1
vm_pause 12
wait_for -t 60 reconnected 1 || { dmesg | tail -n 20; exit 1; }
fio_verify "$(host_disk $nqn)" 4k 8 --offset=12m --size=2m && vm_signal resumed || exit 1
vm_wait target-resumed 100 && wait_for -t 60 reconnected 2 || { dmesg | tail -n 20; exit 1; }
fio_verify "$(host_disk $nqn)" 4k 8 --offset=12m --size=2m && vm_signal back && vm_wait die || exit 1
vm_die
