#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The initiator where memory is scattered: there are no 64 KiB in one piece for the slots of a queue. It
# connects all the same, copies less of each request and registers the rest, and copies as before once
# there is memory again.
#
# vm-kernels: 6.12-debug
# vm-sample:
# vm-timeout: 120
. "$VM_LIB"
. "${VM_LIB%/*}/fault-lib.sh"

nqn=nqn.2026-11.org.example:memory

setup()
{
	modprobe brd rd_nr=1 rd_size=65536 && rxe_up && our_target_add $nqn /dev/ram0 && host_load pollard &&
		faults_init page && faults_where pollard_host
}

# From here on nothing of that size can be had, until fault_over.
fault_begin() { fault_set min-order 4 && fault_set times -1 && fault_set probability 100; }
fault_over() { fault_set probability 0; }

# copies BYTES: what the controller copies now, and that it says so if it is less than it should
copies()
{
	[ "$(cat "$c/pollard/copy_now")" = "$1" ] || { diag "copy_now is $(cat "$c/pollard/copy_now"), not $1"; return 1; }
	[ "$1" = "$(cat "$c/pollard/copy_max")" ] || dmesg | grep -q "copied up to $1 bytes"
}

connect()
{
	local status=0

	fault_begin && host_connect pollard $nqn -i 1 -Q 16 --reconnect-delay=1 || status=1
	fault_over && [ $status = 0 ] || return
	c=/sys/class/nvme/$(host_controllers $nqn)
	# 16 slots of 2 KiB are the most that fits into pieces of less than 64 KiB.
	copies 2048
}

# Below and above what is copied, and where one turns into the other
verified()
{
	local disk size
	disk=$(host_disk $nqn)
	for size in 512 2k 2560 16k 64k; do
		fio_verify "$disk" $size 16 --size=256k || return
	done
}

is_live() { [ "$(cat "$c/state")" = live ]; }

again()
{
	nvme reset "/dev/${c##*/}" && wait_for is_live && copies 16384
}

# A controller that has its memory loses it in a reset, and no I/O with it.
shortage_at_reset()
{
	local status=0

	fault_begin && nvme reset "/dev/${c##*/}" && wait_for is_live || status=1
	fault_over && [ $status = 0 ] && copies 2048
}

tap_run "set up" setup || { tap_end; exit 1; }
tap_run "connect with little memory: less is copied" connect || { tap_end; exit 1; }
tap_run "verified I/O" verified
tap_run "a reset with enough memory: all is copied again" again
tap_run "verified I/O" verified
tap_run "a reset with little memory: less is copied" shortage_at_reset
tap_run "verified I/O" verified
tap_run "disconnect" host_disconnect $nqn
tap_run "unload" modprobe -r pollard-host pollard-target
tap_end
