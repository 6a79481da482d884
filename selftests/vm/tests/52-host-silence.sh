#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 52-host-silence.sh [ROUNDS]: the targets fall silent: their machine is there, but no packet comes from it any
# more. Whatever is going on then - I/O, connecting, a reset, deleting, unloading - ends in bounded time, and all is
# well when they are back, also when it was their link that was down. With a target that is silent a disconnect takes
# 15 s at the most, whoever asks for it and whatever the controller was at. (With one that answers: 56-host-cycles.sh.)
#
# Our target and the kernel's own are in the same guest and silent at the same time, with a controller for each: one
# pair of guests does for both, and what one controller waits for must not keep the other one waiting.
#
# vm-kernels: 6.12 6.1
# vm-peer: 52-host-silence-target
# vm-timeout: 400
# vm-long: 20
# vm-long-timeout: 7200
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/ackwrite-lib.sh"

nqn=nqn.2026-11.org.example:silent
targets=(ours in-tree)
keep_alive=
declare -A service=([ours]=4420 [in-tree]=4421) disk=() ctrl=()

setup()
{
	rxe_up && host_load pollard && vm_wait ready
}

# each COMMAND...: with all of them at the same time. What it sets is lost.
each()
{
	local t status=0
	local -A began=()

	for t in "${targets[@]}"; do
		"$@" "$t" & began[$t]=$!
	done
	for t in "${targets[@]}"; do
		wait "${began[$t]}" || { diag "target $t: $*"; status=1; }
	done
	return $status
}

# ---- one target's, by its name as the last argument ----------------------------------------------

connect()
{
	nvme connect -t pollard -a $VM_ADDR2 -s "${service[$1]}" -n "$nqn-$1" --reconnect-delay=1 \
		${keep_alive:+-k "$keep_alive"} || return
	wait_for nvme_of "$nqn-$1" || return
	disk[$1]=$(nvme_of "$nqn-$1") ctrl[$1]=/sys/class/nvme/$(nvme_ctrl_of "$nqn-$1")
}
# No Keep Alive is going to notice anything: the limit has to be the initiator's own.
connect_patient() { keep_alive=60 connect "$1"; }
disconnect() { host_disconnect "$nqn-$1"; }
gone() { ! nvme_ctrl_of "$nqn-$1"; }
# is STATE TARGET
is()
{
	local state=

	read -r state 2> /dev/null < "${ctrl[$2]}/state"
	[ "$state" = "$1" ]
}

by_nvme() { nvme disconnect -n "$nqn-$1" && wait_for -t 5 gone "$1"; }
# Without what a program does before, which takes long enough for the loss to be noticed.
by_sysfs() { is live "$1" && echo 1 > "${ctrl[$1]}/delete_controller" && wait_for -t 5 gone "$1"; }

# Attempts that have failed of all controllers that had this name
attempts() { dmesg | grep -c "nvme ${ctrl[$1]##*/}: attempt [0-9]* to reconnect failed"; }
tried_in_vain() { is connecting "$1" && [ "$(attempts "$1")" -gt "${had_tried[$1]}" ]; }
reconnects() { cat "${ctrl[$1]}/pollard/reconnects"; }
reconnected() { is live "$1" && [ "$(reconnects "$1")" -gt "${had_come_back[$1]}" ]; }

# A load each: load FUNCTION TARGET, of ackwrite-lib.sh
declare -A ack_pids=()
load()
{
	local status=0

	# shellcheck disable=SC2034 # ackwrite-lib.sh reads it
	ack_journal=/tmp/journal.$2 ack_pid=${ack_pids[$2]:-}
	"$1" "${disk[$2]}" || status=$?
	ack_pids[$2]=$ack_pid
	return $status
}

# ---- silence -------------------------------------------------------------------------------------

unheard() { ! ping -c 1 -W 1 $VM_ADDR2; }
# It says so before it does it: afterwards it cannot.
silence() { vm_signal silence && vm_wait silent && wait_for unheard; }
# Nothing is heard of the peer meanwhile, but it hears: one datagram, for nobody's port, is the word to come back.
sound()
{
	echo enough > /dev/udp/$VM_ADDR2/7778
	vm_wait back 60
}

looks()
{
	diag "controllers:" "$(grep -s . /sys/class/nvme/*/state)"
	dmesg | tail -n 30
}

# goes_silent COMMAND...: with I/O on its way, COMMAND makes controllers go that will not hear of their targets again
goes_silent()
{
	local t pids=() status=0

	for t in "${targets[@]}"; do
		# Not where ackwrite writes.
		fio --name=io --filename="${disk[$t]}" --rw=randwrite --bs=4k --iodepth=8 --offset=8m --size=16m --direct=1 \
			--ioengine=io_uring --time_based --runtime=60 > "/tmp/fio.$t" 2>&1 & pids+=($!)
	done
	for t in "${targets[@]}"; do
		wait_for ack_writes_reach "${disk[$t]}" 100 || { diag "no I/O:" "$(cat "/tmp/fio.$t")"; return 1; }
	done
	silence || return
	"$@" || { looks; status=1; }
	wait "${pids[@]}"
	sound && return $status
}

# Unloading deletes all controllers.
by_unload_in_reset()
{
	local t pids=()

	for t in "${targets[@]}"; do
		echo 1 > "${ctrl[$t]}/reset_controller" & pids+=($!)
	done
	all wait_for -t 5 is resetting || return
	modprobe -r pollard-host && all gone || return
	for t in "${pids[@]}"; do
		! wait "$t" || { diag "a reset was successful"; return 1; }
	done
	modprobe pollard-host
}

# Nobody answers: it does not matter who.
cannot_connect() { ! connect ours; }
connect_silent()
{
	local status=0

	silence || return
	within 16 cannot_connect && gone ours || { diag "connected to nobody, or late"; status=1; }
	sound && return $status
}

# survives GO RETURN: meanwhile both loads write, see no error, and all is there
survives()
{
	local t
	local -A had_tried=() had_come_back=()

	all load ack_check && all load ack_begin || return
	for t in "${targets[@]}"; do
		had_tried[$t]=$(attempts "$t") had_come_back[$t]=$(reconnects "$t")
	done
	"$1" && "$2" && all wait_for -t 60 reconnected || { looks; return 1; }
	all load ack_going && all load ack_end && all load ack_check || { looks; return 1; }
}
# Both have gone, and to come back is of no use.
in_vain_and_sound()
{
	local status=0

	all wait_for -t 35 tried_in_vain || status=1
	sound && return $status
}
unplug() { vm_signal unplug && vm_wait unplugged && wait_for unheard; }
plugged() { vm_wait back 60; }

tap_run "set up" setup || { tap_end; exit 1; }
for ((round = ${1:-1}; round > 0; round--)); do
	tap_run "connect" all connect
	tap_run "a disconnect from a silent target takes 15 s at the most" goes_silent each within 15 by_nvme
	tap_run "connecting to a silent target ends in time" connect_silent
	tap_run "connect" all connect_patient
	tap_run "deleting its controller takes 15 s at the most" goes_silent each within 15 by_sysfs
	tap_run "connect" all connect_patient
	tap_run "unloading while a reset waits for it takes 15 s at the most" goes_silent within 15 by_unload_in_reset
	tap_run "connect" all connect
	tap_run "I/O goes on when the target is back, all writes are there" survives silence in_vain_and_sound
	# A link that comes back takes a new RDMA device.
	! dummy_may_go || tap_run "and when its link was down" survives unplug plugged
	tap_run "disconnect" all disconnect
done
vm_signal done
tap_end
