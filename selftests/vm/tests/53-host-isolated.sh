#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A CPU is isolated: blk-mq does nothing there of its own, so a queue that is this CPU's alone cannot be
# connected. What runs there uses the other CPU's queue, with each kind of queues, and no connection is
# given up for it.
#
# vm-kernels: 6.12 6.1
# vm-append: isolcpus=1
# vm-timeout: 150
. "$VM_LIB"

nqn=nqn.2026-11.org.example:isolated

setup()
{
	[ "$(< /sys/devices/system/cpu/isolated)" = 1 ] || { diag "CPU 1 is not isolated"; return 1; }
	modprobe brd rd_nr=1 rd_size=32768 && rxe_up && our_target_add $nqn /dev/ram0
}

# connect OPTION...: two queues of each kind that is asked for, one of which is left out
connect()
{
	local before

	before=$(dmesg | grep -c 'left out')
	host_connect pollard $nqn "$@" || return
	ctrl=/sys/class/nvme/$(host_controllers $nqn)
	disk=$(host_disk $nqn)
	[ "$(dmesg | grep -c 'left out')" -gt "$before" ] || { diag "no queue was left out"; return 1; }
}

# settled: live, by the first connection
settled()
{
	[ "$(< "$ctrl/state") $(< "$ctrl/pollard/reconnects")" = "live 0" ] ||
		{ diag "state $(< "$ctrl/state"), $(< "$ctrl/pollard/reconnects") reconnects"; return 1; }
}

# io CPU OPTION...: verified, on this CPU
io()
{
	local cpu=$1
	shift

	fio_verify "$disk" 4k 4 --size=512k --cpus_allowed="$cpu" "$@" && settled
}

both()
{
	local pid status=0

	fio --name=other --filename="$disk" --offset=16m --size=4m --rw=randwrite --bs=4k --iodepth=4 --direct=1 \
		--ioengine=io_uring --cpus_allowed=0 > /tmp/other.out 2>&1 & pid=$!
	io 1 || status=1
	wait $pid && return $status
}

reset() { nvme reset "/dev/${ctrl##*/}" && io 1 && io 0; }

tap_run "set up" setup || tap_end
tap_run "connect" connect -i 2 || tap_end
tap_run "I/O on the isolated CPU" io 1
tap_run "I/O on the other one" io 0
tap_run "I/O on both" both
tap_run "after a reset" reset
tap_run "disconnect" host_disconnect $nqn
tap_run "connect with write queues" connect -i 2 -W 2
tap_run "I/O on the isolated CPU" io 1
tap_run "disconnect" host_disconnect $nqn
tap_run "connect with poll queues" connect -i 2 -P 2
tap_run "I/O on the isolated CPU" io 1
tap_run "polled I/O on the isolated CPU" io 1 --hipri=1
tap_run "disconnect" host_disconnect $nqn
tap_end
