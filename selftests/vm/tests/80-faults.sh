#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 80-faults.sh KIND EVERY [FIRST]: memory runs short at one place after the other - while the modules are loaded,
# while poll groups and the target are configured, command by command and by transactions, while a host
# connects, does I/O and leaves. Each time what was asked for fails with an error, and everything is as it was
# before, or it succeeds, and all that was asked for is there and works. Nothing is left behind, and the next
# try succeeds. KIND is slab or page; every EVERY-th place is tried, from the FIRST on (by default it is another
# one each day).
#
# A place is an allocation with a function of ours on its stack, whichever thread makes it.
#
# vm-kernels: 6.12-debug
# vm-args: slab 40
# vm-args: page 10
# vm-long: slab 1 1
# vm-long: page 1 1
# vm-timeout: 500
# vm-long-timeout: 14400
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/config-lib.sh"
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
# While it is disarmed no place is counted.
fault_disarm() { fault_set probability 0; }

# ---- places ----------------------------------------------------------------------------------------
#
# An operation is three functions: do_WHAT, which may fail; check_WHAT STATUS, which looks, without a fault,
# whether all is as it has to be after do_WHAT has ended so; undo_WHAT, which without a fault must succeed.

# under_fault WHAT: do it while the fault is armed; sets $said and $happened
under_fault()
{
	fault_set probability 100
	"do_$1" > /tmp/said 2>&1
	said=$?
	fault_disarm
	cat /tmp/said
	fault_happened && happened=1 || happened=
}

# What is not used up is used up by something that comes through places of both kinds: only then the count is
# known. The modules are loaded whenever something has succeeded.
use_up()
{
	local n

	fault_set probability 100
	for ((n = 0; n < 200; n++)); do
		! fault_happened || break
		pollard group add 99 cpu 0; pollard group del 99
	done
	fault_disarm
	fault_happened && ungroup 99 || { diag "a fault is left that does not happen"; return 1; }
}

ungroup() { ! pollard group show "$1" > /dev/null 2>&1 || pollard group del "$1"; }

# One place of an operation: armed, done, looked at, undone without a fault.
place()
{
	local what=$1 nr=$2

	fault_arm "$nr" || return
	under_fault "$what"
	if [ -z "$happened" ] && [ $said != 0 ]; then
		# A worker closes what a transaction without effect had opened, and may not have come to it.
		echo "$what failed without a fault, so once more"
		"undo_$what" && under_fault "$what"
	fi
	if [ -z "$happened" ] && [ $said != 0 ]; then
		diag "$what: place $nr: it fails, and no allocation has"
		return 1
	fi
	"check_$what" $said || {
		diag "$what: place $nr (status $said, fault ${happened:-0}): things are not as they should be"
		fault_shown
		return 1
	}
	[ -n "$happened" ] || use_up || return
	"undo_$what" || { diag "$what: place $nr (status $said): it cannot be undone"; return 1; }
}

count_place()
{
	tried=$((tried + 1))
	[ $said = 0 ] || failed=$((failed + 1))
}

# walk WHAT: all places there are
walk()
{
	local what=$1 nr n failed=0 tried=0 happened=1 said=0

	settled=$(rdma_snapshot)
	for ((nr = first; ; nr += every)); do
		place "$what" "$nr" || return
		[ -n "$happened" ] || break
		count_place
	done
	# One with fewer places than that, and not the same number of them each time: one of these.
	for ((n = 0; tried == 0 && n < 8; n++)); do
		nr=$(((nr + 1) / 2))
		place "$what" $nr || return
		[ -z "$happened" ] || count_place
	done
	echo "$what: $tried places up to number $nr tried, in $failed of them it failed"
	"do_$what" && "check_$what" 0 || { diag "$what fails without a fault"; return 1; }
	seen=$((seen + failed))
	[ $tried -gt 0 ]
}

# ---- loading ---------------------------------------------------------------------------------------

modules=(pollard pollard-target pollard-host)

do_load()
{
	local m

	for m in "${modules[@]}"; do
		modprobe "$m" || return
	done
}

undo_load()
{
	local m

	for m in pollard-host pollard-target pollard; do
		! grep -q "^${m/-/_} " /proc/modules || modprobe -r $m || return
	done
}

# family_answers MODULE: so does the generic netlink family of that name, asked for a list: of groups, subsystems,
# controllers
family_answers()
{
	local answer

	case $1 in
	pollard)	answer=$(nlraw "$1" <<< 1d) && [[ $answer == ok* ]] &&
				[ "$(pollard --no-load group show | wc -l)" = "$VM_CPUS" ] ;;
	pollard-target)	answer=$(nlraw "$1" <<< 4d) && [[ $answer == ok* ]] && pollard --no-load subsystem show ;;
	pollard-host)	answer=$(nlraw "$1" <<< 1d) && [[ $answer == ok* ]] ;;
	esac || { echo "family $1 does not answer: $answer"; return 1; }
}

# A module is there and answers, or it is not there, and none that would have come after it.
check_load()
{
	local m missing=

	for m in "${modules[@]}"; do
		if [ ! -e "/sys/module/${m/-/_}" ]; then
			missing=$m
		elif [ -n "$missing" ]; then
			echo "$m is there, $missing is not"
			return 1
		else
			family_answers "$m" || return
		fi
	done
	[ "$1" = 0 ] || [ -n "$missing" ] || { echo "loading failed, but all modules are there"; return 1; }
	[ "$1" != 0 ] || [ -z "$missing" ] || { echo "loading succeeded, but $missing is not there"; return 1; }
}

# ---- commands, each of which takes effect as a whole or not at all ----------------------------------

# $steps are commands; $state is a function that prints what there is, and ${states[N]} what it prints after N of
# them; $clear brings back what there is before the first.

state_is()
{
	local now

	now=$($state) && [ "$now" = "$1" ]
}

# state_comes STATE: it is so, at once or after what goes on by itself (a port tries again each second)
state_comes()
{
	wait_for -t 5 state_is "$1" || {
		echo "there should be:"; echo "$1"
		echo "there is:"; $state
		return 1
	}
}

do_steps()
{
	local step

	steps_done=0
	for step in "${steps[@]}"; do
		$step || { echo "status $? of: $step"; return 1; }
		steps_done=$((steps_done + 1))
	done
}

# A port has been made when it does not listen yet, though its command says by its status that this failed.
check_steps()
{
	local n=$steps_done

	[ "$1" = 0 ] || ! grep -q 'was made but does not listen yet' /tmp/said || n=$((n + 1))
	state_comes "${states[n]}" || { echo "$n commands have succeeded"; printf '%s\n' "${steps[@]:0:n}"; return 1; }
}

undo_steps() { "$clear" && state_comes "${states[0]}"; }

# walk_steps STATE CLEAR COMMAND...
walk_steps()
{
	local step

	state=$1 clear=$2
	shift 2
	steps=("$@") states=("$($state)")
	for step in "${steps[@]}"; do
		$step || { diag "this fails without a fault: $step"; return 1; }
		states+=("$($state)")
	done
	undo_steps && walk steps && undo_steps
}

# Poll groups, without what changes by itself
groups()
{
	local all

	all=$(pollard group show) || return
	sed 's/ state .*//' <<< "$all"
}

ungroup_steps() { ungroup 7; }

group_steps=(
	"pollard group add 7 cpu 1 mode event"
	"pollard group set 7 mode adaptive spin-us 20"
	"pollard device show"
	"pollard latency show"
	"pollard latency reset group 7"
	"pollard group set 7 mode event"
	"pollard group del 7"
)

# The target's configuration, one object a line, in an order that does not depend on how it came about
configured()
{
	local all

	all=$(printf '%s show\n' subsystem namespace host port | pollard -j -b -) || return
	sed 's/^\[//; s/\]$//; s/},{/}\n{/g' <<< "$all" | sort
}

# Nothing is configured any more, and the disk that grows is small again.
unconfigure()
{
	config_clear && pollard -b /tmp/clear && resize 8192
}

# resize SECTORS: of the disk that grows; the target sees it when it is told to look
resize()
{
	[ "$(cat /sys/block/dm-0/size)" = "$1" ] || {
		dmsetup suspend --noudevsync grows && dmsetup load grows --table "0 $1 linear /dev/ram1 0" &&
			dmsetup resume --noudevsync grows
	}
}

other=nqn.2026-11.org.example:other
guest=nqn.2026-11.org.example:guest
uuid=22222222-2222-4333-8444-55555555555

object_steps=(
	"pollard subsystem add $other model Other"
	"pollard subsystem set $other allow-any-host on serial 80"
	"pollard namespace add $other nsid 1 device $cell_disk uuid ${uuid}1"
	"pollard namespace set $other 1 submit worker"
	"pollard namespace set $other 1 submit auto read-only on"
	"pollard namespace add $other nsid 2 device /dev/dm-0 uuid ${uuid}2 enabled off"
	"pollard namespace set $other 2 enabled on"
	"resize 16384"
	"pollard namespace set $other 2"
	"pollard namespace add $other nsid 3 ram 64k uuid ${uuid}3"
	"pollard host add $other ${guest}1"
	"pollard host add $other ${guest}2"
	"pollard host del $other ${guest}1"
	"pollard port add 1 traddr $VM_ADDR1"
	"pollard port set 1 inline-data-size 8k max-queue-depth 64"
	"pollard port add-subsystem 1 $other"
	"pollard port del-subsystem 1 $other"
	"pollard namespace del $other 3"
	"pollard port del 1"
)

# A transaction that changes what there is, in most ways there are, and what it begins with
transaction() { pollard -b /tmp/transaction; }
transaction_changes()
{
	cat <<-END
		subsystem set $cell_nqn allow-any-host off
		host add $cell_nqn ${guest}1
		namespace del $cell_nqn 1
		namespace add $cell_nqn nsid 2 device /dev/dm-0 uuid ${uuid}2
		namespace add $cell_nqn nsid 3 ram 64k uuid ${uuid}3
		subsystem add $other
		host add $other ${guest}2
		port set 1 max-queue-depth 64
		port add 2 traddr $VM_ADDR2 trsvcid 4420
		port add-subsystem 2 $other
		port add-subsystem 2 $cell_nqn
		port del-subsystem 1 $cell_nqn
	END
} > /tmp/transaction

reconfigure() { unconfigure && cell_export; }

walk_transaction()
{
	transaction_changes
	cell_export && walk_steps configured reconfigure transaction && unconfigure
}

# ---- connecting ------------------------------------------------------------------------------------

# The disk may come late or not at all: that, too, is an answer. $stage says how far it got.
do_connect()
{
	stage=connect
	nvme connect -t pollard -a $VM_ADDR1 -s 4420 -n $cell_nqn -i 1 --reconnect-delay=1 --ctrl-loss-tmo=5 || return
	stage=disk
	wait_for -t 5 nvme_of $cell_nqn || return
	stage=io
	dd if=/dev/zero of="$(nvme_of $cell_nqn)" bs=64k count=4 oflag=direct status=none
}

# The disk takes data, in large pieces, and gives it back, in small ones. (do_connect left zeroes there.)
keeps_data()
{
	local disk

	disk=$(nvme_of $cell_nqn) && dd if=/tmp/data of="$disk" bs=64k oflag=direct status=none &&
		dd if="$disk" of=/tmp/data.read bs=4k count=64 iflag=direct status=none &&
		cmp /tmp/data /tmp/data.read
}

# There is a disk that works, or if connecting has been refused no controller.
check_connect()
{
	case $1:$stage in
	0:*)		keeps_data || { echo "the disk of a host that has connected does not work"; return 1; } ;;
	*:connect)	wait_for cell_no_ctrl || { echo "connecting has failed and there is a controller"; return 1; } ;;
	esac
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

walk_connect() { cell_export && walk connect && undo_connect && unconfigure; }

set_up()
{
	modprobe brd rd_nr=2 rd_size=16384 && rxe_up && host_load rdma && faults_init $kind || return
	modprobe dm_mod && dmsetup create grows --noudevsync --table '0 8192 linear /dev/ram1 0' &&
		dd if=/dev/urandom of=/tmp/data bs=64k count=4 status=none || return
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
tap_run "poll groups come, change and go" walk_steps groups ungroup_steps "${group_steps[@]}" || { tap_end; exit 1; }
tap_run "the target is configured" walk_steps configured unconfigure cell_export || { tap_end; exit 1; }
tap_run "the target is configured command by command" walk_steps configured unconfigure "${object_steps[@]}" ||
	{ tap_end; exit 1; }
tap_run "a transaction changes the target" walk_transaction || { tap_end; exit 1; }
tap_run "a host connects" walk_connect || { tap_end; exit 1; }
# A fault that nobody ever notices is none.
tap_run "some of it failed" test $seen -gt 0
tap_run "everything goes, nothing stays" undo_load
tap_end
