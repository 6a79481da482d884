#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 52-host-silence.sh [ROUNDS [TARGET]]: the target falls silent: its machine is there, but no packet comes from
# it any more. Whatever is going on then - I/O, connecting, a reset, deleting, unloading - ends in bounded time,
# and all is well when it is back. With a target that is silent a disconnect takes 15 s at the most, whoever
# asks for it and whatever the controller was at. (With one that answers: 56-host-cycles.sh.) TARGET is "ours"
# or "in-tree"; unless it is said, ours on 6.12 and the kernel's own on 6.1.
#
# vm-kernels: 6.12 6.1
# vm-peer: 52-host-silence-target
# vm-timeout: 400
# vm-long: 20 ours
# vm-long: 20 in-tree
# vm-long-timeout: 7200
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/interop-lib.sh"

nqn=nqn.2026-11.org.example:silent

setup()
{
	rxe_up && host_load pollard && vm_wait ready
}

connect()
{
	nvme connect -t pollard -a $VM_ADDR2 -s 4420 -n $nqn --reconnect-delay=1 || return
	wait_for nvme_of $nqn && disk=$(nvme_of $nqn)
}

gone() { ! nvme_ctrl_of $nqn; }
state() { cat "/sys/class/nvme/$(nvme_ctrl_of $nqn)/state"; }
is() { [ "$(state)" = "$1" ]; }
unheard() { ! ping -c 1 -W 1 $VM_ADDR2; }
# It says so before it does it: afterwards it cannot.
silence() { vm_signal silence && vm_wait silent && wait_for unheard; }
# Nothing is heard of the peer meanwhile, but it hears: one datagram, for nobody's port, is the word to come back.
sound()
{
	echo enough > /dev/udp/$VM_ADDR2/7778
	vm_wait back 60
}

busy() { [ "$(awk '{ n += $5 } END { print n }' /sys/block/nvme*n*/stat)" -gt 100 ]; }

# goes_silent COMMAND...: with I/O on its way, COMMAND makes a controller go that will not hear of its target again
goes_silent()
{
	local pid status=0

	fio --name=io --filename="$disk" --rw=randwrite --bs=4k --iodepth=8 --size=16m --direct=1 \
		--ioengine=io_uring --time_based --runtime=60 > /tmp/fio.out 2>&1 & pid=$!
	wait_for busy && silence || return
	within 15 "$@" || { diag "controllers:" "$(grep -s . /sys/class/nvme/*/state)"; dmesg | tail -n 20; status=1; }
	wait $pid
	sound && return $status
}

by_nvme() { nvme disconnect -n $nqn && wait_for -t 5 gone; }

# Without what a program does before, which takes long enough for the loss to be noticed.
by_sysfs()
{
	local c
	c=/sys/class/nvme/$(nvme_ctrl_of $nqn)

	is live && echo 1 > "$c/delete_controller" && wait_for -t 5 gone
}

# Unloading deletes all controllers.
by_unload_in_reset()
{
	local c pid
	c=/sys/class/nvme/$(nvme_ctrl_of $nqn)

	echo 1 > "$c/reset_controller" & pid=$!
	wait_for -t 5 is resetting || { diag "state $(state)"; return 1; }
	modprobe -r pollard-host && gone || return
	! wait $pid || { diag "the reset was successful"; return 1; }
	modprobe pollard-host
}

cannot_connect() { ! connect; }
connect_silent()
{
	local status=0

	silence || return
	within 16 cannot_connect && gone || { diag "connected to nobody, or late"; status=1; }
	sound && return $status
}

# Attempts of a controller that have failed
attempts() { dmesg | grep -c 'nvme nvme[0-9]*: attempt [0-9]* to reconnect failed'; }
tries_in_vain() { [ "$(attempts)" -gt "$before" ]; }

io_survives()
{
	local pid before

	connect && fio_verify "$disk" 8k 8 --size=4m || return
	before=$(attempts)
	fio_verify "$disk" 8k 8 --size=16m --loops=2 & pid=$!
	sleep 0.5
	silence || return
	wait_for -t 35 tries_in_vain || { diag "no attempt to reconnect, state $(state)"; sound; return 1; }
	sound || return
	wait_for -t 60 is live || { diag "state $(state)"; return 1; }
	wait $pid
}

tap_run "set up" setup || { tap_end; exit 1; }
for ((round = ${1:-1}; round > 0; round--)); do
	tap_run "connect" connect
	tap_run "a disconnect from a silent target takes 15 s at the most" goes_silent by_nvme
	tap_run "connecting to a silent target ends in time" connect_silent
	tap_run "connect" connect
	tap_run "deleting its controller takes 15 s at the most" goes_silent by_sysfs
	tap_run "connect" connect
	tap_run "unloading while a reset waits for it takes 15 s at the most" goes_silent by_unload_in_reset
	tap_run "I/O goes on when the target is back" io_survives
	tap_run "disconnect" host_disconnect $nqn
done
vm_signal done
tap_end
