#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 80-faults.sh KIND EVERY [FIRST]: memory runs short at one place after the other - while the modules
# are loaded, while the target is configured, while a host connects, does I/O and leaves. Each time
# what was asked for fails with an error or succeeds, nothing is left behind, and the next try
# succeeds. KIND is slab or page; every EVERY-th place is tried, from the FIRST on (by default it is
# another one each day).
#
# A place is an allocation with a function of ours on its stack, whichever thread makes it.
#
# vm-kernels: 6.12-debug
# vm-args: slab 40
# vm-args: page 10
# vm-long: slab 1 1
# vm-long: page 1 1
# vm-timeout: 200
# vm-long-timeout: 7200
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/interop-lib.sh"
. "${VM_LIB%/*}/fault-lib.sh"

# shellcheck disable=SC2034 # interop-lib.sh reads them
target=ours host=ours
kind=$1 every=$2 first=${3:-$(($(date +%s) / 86400 % $2 + 1))}

# The kernel counts the places it passes while a fault is armed and lets each one fail whose number is
# a multiple of the interval. That count cannot be read or set, but it is known when a fault has
# happened: it is the interval then.
passed=0
seen=0

# fault_arm N: the N-th place from here fails
fault_arm()
{
	passed=$((passed + $1))
	fault_set interval $passed && fault_set times 1 && fault_set probability 100
}

fault_happened() { [ "$(cat $fault/times)" = 0 ]; }
fault_disarm() { fault_set probability 0; }

# ---- what is done meanwhile ------------------------------------------------------------------------

do_load() { modprobe pollard && modprobe pollard-target && modprobe pollard-host; }
undo_load()
{
	local m

	for m in pollard-host pollard-target pollard; do
		! grep -q "^${m/-/_} " /proc/modules || modprobe -r $m || return
	done
}

do_configure() { cell_export; }
undo_configure()
{
	! pollard subsystem show $cell_nqn > /dev/null 2>&1 || pollard subsystem del $cell_nqn || return
	! pollard port show 1 > /dev/null 2>&1 || pollard port del 1
}

# The disk may come late or not at all: that, too, is an answer.
do_connect()
{
	nvme connect -t pollard -a $VM_ADDR1 -s 4420 -n $cell_nqn -i 1 --reconnect-delay=1 --ctrl-loss-tmo=5 || return
	wait_for -t 5 nvme_of $cell_nqn || return
	dd if=/dev/zero of="$(nvme_of $cell_nqn)" bs=64k count=4 oflag=direct status=none
}
undo_connect()
{
	local ctrl

	for ctrl in $(host_controllers $cell_nqn); do
		echo 1 > "/sys/class/nvme/$ctrl/delete_controller"
	done
	wait_for cell_no_ctrl && wait_for rdma_settled "$settled" || {
		diag "before: $settled"; diag "after: $(rdma_snapshot)"; return 1; }
}

# One place of an operation: armed, done, undone without a fault.
place()
{
	local what=$1 nr=$2

	fault_arm "$nr" || return
	"do_$what"
	said=$?
	fault_happened && happened=1 || happened=
	# What is not used up is used up by doing it again: only then the count is known.
	until fault_happened; do
		"undo_$what" && "do_$what"
	done
	fault_disarm
	"undo_$what" || { diag "$what: place $nr (status $said): it cannot be undone"; return 1; }
}

# walk WHAT: all places there are
walk()
{
	local what=$1 nr failed=0 tried=0 happened=1 said=0

	settled=$(rdma_snapshot)
	for ((nr = first; ; nr += every)); do
		place "$what" "$nr" || return
		[ -n "$happened" ] || break
		tried=$((tried + 1))
		[ $said = 0 ] || failed=$((failed + 1))
	done
	echo "$what: $tried places up to number $nr tried, in $failed of them it failed"
	"do_$what" || { diag "$what fails without a fault"; return 1; }
	seen=$((seen + failed))
	[ $tried -gt 0 ]
}

set_up()
{
	modprobe brd rd_nr=2 rd_size=16384 && rxe_up && host_load rdma && faults_init $kind || return
	faults_where any
	# The first arming of all: an interval of 1 would not be counted.
	fault_arm 2 && do_load
	until fault_happened; do undo_load; do_load; done
	fault_disarm && undo_load
}

# shellcheck disable=SC2034 # what tap_run shows
TAP_VERBOSE=1
diag "$kind, every $every from $first"
tap_run "set up" set_up || { tap_end; exit 1; }
tap_run "modules are loaded" walk load || { tap_end; exit 1; }
faults_where 'pollard*'
tap_run "the target is configured" walk configure || { tap_end; exit 1; }
tap_run "a host connects" walk connect || { tap_end; exit 1; }
undo_connect; undo_configure
# A fault that nobody ever notices is none.
tap_run "some of it failed" test $seen -gt 0
tap_run "everything goes, nothing stays" undo_load
tap_end
