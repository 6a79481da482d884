#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 70-teardown.sh HOST ROUNDS [SEED]: everything that can go away goes away, in any order, while
# verified I/O runs, while others connect, while connects are half done, and while a reconnect sleeps.
# Each time it ends in bounded time, costs the host whose I/O runs no more than it may (cost, below),
# what was acknowledged is on the disk, and all is well when it is back. HOST is "ours" or "in-tree".
# Which rounds are played follows from SEED, by default from the day.
#
# vm-kernels: 6.12 6.1
# vm-args: ours 8
# vm-args: in-tree 4
# vm-sample: ours 4
# vm-long: ours 500
# vm-long: in-tree 500
# vm-timeout: 400
# vm-long-timeout: 7200
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/interop-lib.sh"

# shellcheck disable=SC2034 # interop-lib.sh reads it
target=ours
host=$1 rounds=$2 seed=${3:-$(($(date +%s) / 86400))}
[ "$host" = ours ] && host_module=pollard-host || host_module=nvme-rdma
me=$(cat /etc/nvme/hostnqn)
limit=15	# seconds, for anything that goes
patience=600	# attempts to reconnect, one a second: nothing here takes that long
hostile=${VM_LIB%/*}/hostile

# What the hosts say in the kernel's log when a controller has lost its connection, has tried again in vain,
# and has set up its queues, by whichever way it came there: a reset, a reconnect.
if [ "$host" = ours ]; then
	lost='connection lost, recovering'
	in_vain='attempt [0-9]+ to reconnect failed'
	set_up='[0-9]+/[0-9]+/[0-9]+ default/read/poll queues'
else
	lost='starting error recovery'
	in_vain='Failed reconnect attempt'
	set_up='creating [0-9]+ I/O queues'
fi
timed_out='timed out|QID [0-9]+ timeout'

events=(port subsystem namespace host mode offline rxe netdev target reset delete module)
phases=(load churn sleeping halfway)

# cost PHASE EVENT: the most that it may cost the host whose I/O runs: nothing, a reconnect (of the same
# controller, once, and no I/O fails), or failure
cost()
{
	case $2 in
	# Polling goes on in another way, or on another CPU.
	mode|offline)		cost=nothing ;;
	# What a connection needs is away for a while. No I/O has a reason to fail: the host waits for it.
	port|target|reset)	cost=reconnect ;;
	# nvme-rdma deletes the controllers of a device that goes. Ours keeps them.
	rxe|netdev)		[ $host = ours ] && cost=reconnect || cost=failure ;;
	# Connect is refused, and the host told not to try again (DNR): it gives up if it tries before all is back,
	# and the disk goes with the controller. (nvme-rdma of 6.1 tries again all the same.) Where the controller
	# comes through, no I/O fails either: the target cuts the connection and says nothing.
	subsystem|host)		cost=failure ;;
	# The disk goes from under the I/O; the connection does not.
	namespace)		cost=failure ;;
	# The user wants it gone, and its disk.
	delete|module)		cost=failure ;;
	esac
	# The port is away then, and comes back with everything in one transaction: no host is told of anything
	# else. The connection has been lost for that already.
	case $1:$2 in
	sleeping:mode|sleeping:offline|sleeping:subsystem|sleeping:namespace|sleeping:host)
		cost=reconnect ;;
	esac
}

# ---- the host whose I/O runs, and what the kernel's log says of it ---------------------------------

# Others of the same subsystem come and go; this one is known by its host NQN.
load_ctrl() { nvme_ctrl_with hostnqn "$me"; }
load_gone() { ! load_ctrl > /dev/null; }

load_is()
{
	local state=

	read -r state 2>/dev/null < "/sys/class/nvme/$ctrl/state"
	[ "$state" = "$1" ]
}

load_connect() { cell_connect --ctrl-loss-tmo=$patience; }

# A round begins at its mark in the log. What is there of $ctrl, and of its path to the disk:
mark_log()
{
	mark="pollard-vm: round $n: "
	echo "$mark$*" > /dev/kmsg && round_log | grep -q . || { diag "there is no mark in the log"; return 1; }
}
round_log() { dmesg | sed -n "/$mark/,\$p"; }
load_log() { round_log | grep -E "nvme $ctrl: |nvme[0-9]+c${ctrl#nvme}n[0-9]+"; }

# said PATTERN: how often, since the mark
said() { round_log | grep "nvme $ctrl: " | grep -cE "$1"; }

# ---- what can go ---------------------------------------------------------------------------------

go_port() { pollard port del 1; }
go_subsystem() { pollard subsystem del $cell_nqn; }
go_namespace()
{
	pollard namespace del $cell_nqn 1 || return
	# A host that is connected is told.
	! load_is live || wait_for -t 10 no_disk || { diag "the host keeps the disk"; return 1; }
}
no_disk() { ! nvme_of $cell_nqn; }
go_host() { pollard host del $cell_nqn "$me"; }
go_mode()
{
	local mode groups

	groups=(/sys/kernel/pollard/groups/*)
	for mode in busy event adaptive busy adaptive; do
		pollard group set "${groups[0]##*/}" mode $mode || return
		# One CPU has to stay without a busy group.
		[ $mode = busy ] || pollard group set "${groups[1]##*/}" mode $mode || return
	done
}
go_offline() { echo 0 > /sys/devices/system/cpu/cpu1/online; }
go_rxe() { rdma link delete rxe0; }
go_netdev() { dummy_down; }
go_target() { modprobe -r pollard-target; }
# One that is connecting cannot be reset, and says so.
go_reset() { echo 1 > "/sys/class/nvme/$ctrl/reset_controller" || load_is connecting; }
go_delete() { echo 1 > "/sys/class/nvme/$ctrl/delete_controller" && load_gone; }
# A disk that is open keeps its module; the rest is up to whoever has it open. nvme-rdma does not wait
# for a controller that somebody else is deleting: its module would go from under that (a page fault in
# blk_mq_free_rqs()), so the others stop first. Ours waits for all of them.
go_module()
{
	local ctrl

	[ $host = ours ] || churn_end || return
	for ctrl in $(host_controllers $cell_nqn); do
		echo 1 > "/sys/class/nvme/$ctrl/delete_controller"
	done 2>/dev/null
	wait_for -t 10 modprobe -r $host_module
}

# ---- how everything comes back -------------------------------------------------------------------

all_back()
{
	[ "$(cat /sys/devices/system/cpu/cpu1/online)" = 1 ] || echo 1 > /sys/devices/system/cpu/cpu1/online
	[ -e "/sys/class/net/$VM_NETDEV" ] || dummy_up || return
	[ -e /sys/class/infiniband/rxe0 ] || rxe_up || return
	cell_load_target && modprobe $host_module || return
	# All at once: a host that finds the port without the subsystem, or itself not allowed, never comes again.
	missing > /tmp/missing
	pollard -b /tmp/missing && wait_for -t 10 port_listens || { cat /tmp/missing; pollard port show; return 1; }
}

# The lines of a batch that brings back what is not there.
missing()
{
	is_there subsystem $cell_nqn || echo "subsystem add $cell_nqn"
	is_there namespace $cell_nqn 1 ||
		echo "namespace add $cell_nqn nsid 1 device $cell_disk uuid $cell_uuid"
	is_there host $cell_nqn "$me" || echo "host add $cell_nqn $me"
	is_there host $cell_nqn "$me-other" || echo "host add $cell_nqn $me-other"
	is_there port 1 || echo "port add 1 traddr $VM_ADDR1 trsvcid 4420"
	pollard port show 1 2>/dev/null | grep -q $cell_nqn || echo "port add-subsystem 1 $cell_nqn"
}

is_there()
{
	local object=$1
	shift

	pollard "$object" show "$@" > /dev/null 2>&1
}

port_listens() { pollard port show 1 | grep -q 'state listening'; }

# ---- the load ------------------------------------------------------------------------------------

journal=/tmp/journal
load_pid='' churn_pid=''

load_begin()
{
	ackwrite run "$cell_dev" $journal > /tmp/ackwrite 2>&1 & load_pid=$!
	load_mark
	wait_for load_moves || { diag "the load does not begin"; cat /tmp/ackwrite; return 1; }
}

load_ended() { ! kill -0 "$load_pid" 2>/dev/null; }

# Does every writer move on? One that has waited for an answer since before the mark has two writes to do.
load_mark()
{
	read -ra marked < <(ackwrite count $journal 2>/dev/null) || marked=(0 0 0 0 0)
}

load_moves()
{
	local now i

	read -ra now < <(ackwrite count $journal) || return
	for i in "${!marked[@]}"; do
		[ "${now[i]:-0}" -ge $((marked[i] + 2)) ] || return
	done
}

load_moves_or_ended() { load_ended || load_moves; }

# load_end STATUS: the load ends, if it has not yet, and with this status
load_end()
{
	local status=0

	kill "$load_pid" 2>/dev/null
	wait_for -t 30 load_ended || { diag "a writer hangs"; stacks "$load_pid"; return 1; }
	wait "$load_pid" || status=$?
	load_pid=
	[ $status = "$1" ] || { diag "the load ended with status $status, not $1:" "$(cat /tmp/ackwrite)"; return 1; }
}

stacks() { cat "/proc/$1/task"/*/stack; }

# Every writer makes progress, and nothing had ended them.
load_goes_on()
{
	load_mark
	wait_for load_moves_or_ended || {
		diag "a writer makes no progress: ${marked[*]} writes, then $(ackwrite count $journal)"
		stacks "$load_pid"
		return 1
	}
	load_end 0
}

# The disk has failed, and that has ended the load.
load_failed()
{
	wait_for load_ended || { diag "the load goes on without its disk"; stacks "$load_pid"; return 1; }
	load_end 5
}

# Others come and go meanwhile; whether they get through does not matter.
churn()
{
	trap 'exit 0' TERM
	while :; do
		nvme connect -t "$(cell_transport)" -a $VM_ADDR1 -s 4420 -n $cell_nqn -q "$me-other" -D -i 1 \
			--reconnect-delay=1 --ctrl-loss-tmo=2
		churn_disconnect
	done > /dev/null 2>&1
}

churn_disconnect()
{
	local c

	for c in /sys/class/nvme/nvme*; do
		[ "$(cat "$c/hostnqn")" = "$me-other" ] && echo 1 > "$c/delete_controller"
	done 2>/dev/null
}

no_churners()
{
	churn_disconnect
	! grep -q -- "-other" /sys/class/nvme/nvme*/hostnqn 2>/dev/null
}

churn_end()
{
	[ -n "$churn_pid" ] || return 0
	kill "$churn_pid"
	wait "$churn_pid" 2>/dev/null
	churn_pid=
	wait_for -t 60 no_churners || { diag "a controller of the churn stays"; return 1; }
}

# ---- connects that are half done -------------------------------------------------------------------

halfway_pid='' halfway_killer=''
halfway_end=/tmp/halfway.end halfway_out=/tmp/halfway.out

# Begins when the peer is where it wants to be, and the target knows of it: twelve controllers, and queues
# that have none (more than this, but those have 10 s only).
begin_halfway()
{
	local known=lives stranger=over stuck=drop

	case $1 in
	port|target)	known=gone stranger=gone stuck=gone ;;
	subsystem)	known=gone stuck=gone ;;
	esac
	rm -f $halfway_end
	rawpeer nqn=$cell_nqn host="$me-other" end=$halfway_end known=$known stranger=$stranger stuck=$stuck \
		"$hostile/lib.peer" "$hostile/halfway.peer" > $halfway_out 2>&1 & halfway_pid=$!
	wait_for halfway_is_there_or_ended
	halfway_is_there && wait_for -t 8 halfway_is_seen || {
		diag "the peer is not half way:" "$(cat $halfway_out)"
		pollard controller show
		pollard queue show
		return 1
	}
	case $1 in
	rxe|netdev) halfway_goes_with_device ;;
	esac
}

halfway_is_there() { grep -q '^halfway there' $halfway_out; }
halfway_ended() { ! kill -0 "$halfway_pid" 2>/dev/null; }
halfway_is_there_or_ended() { halfway_is_there || halfway_ended; }
halfway_is_seen() { [ "$(others)" = 12 ] && [ "$(strangers)" -ge 1 ]; }
others() { pollard controller show | grep -cE "^controller target .* hostnqn $me-other( |\$)"; }
strangers() { pollard queue show | grep -c '^queue target qid '; }

# A process with an RDMA device open can keep it from going: soft-RoCE has no disassociate_ucontext (neither
# 6.1's nor 6.12's), so ib_uverbs_remove_one() waits until every process has closed it, and the network device
# waits for that in turn. Whoever removes a device has to end its users; but not before what is ours has gone,
# which is what this is about. Clients of a device are removed last come, first gone: pollard.ko, rdma_cm,
# then ib_uverbs, which takes its file away before it waits.
halfway_goes_with_device()
{
	{
		wait_for -t 10 no_verbs
		kill -KILL "$halfway_pid"
	} & halfway_killer=$!
}

no_verbs()
{
	local devices=(/sys/class/infiniband_verbs/uverbs*)

	[ ! -e "${devices[0]}" ]
}

# The peer ends as it should, and leaves nothing in the target.
end_halfway()
{
	local status=0 want=0

	touch $halfway_end
	[ -z "$halfway_killer" ] || { want=137; wait "$halfway_killer"; halfway_killer=; }
	wait_for halfway_ended || { diag "the peer hangs"; stacks "$halfway_pid"; cat $halfway_out; return 1; }
	wait "$halfway_pid" || status=$?
	halfway_pid=
	[ $status = $want ] || { diag "the peer ended with status $status:" "$(cat $halfway_out)"; return 1; }
	wait_for -t 20 halfway_is_forgotten || {
		diag "the target has not done with the peer"
		pollard controller show
		pollard queue show
		return 1
	}
}

halfway_is_forgotten() { [ "$(others)" = 0 ] && [ "$(strangers)" = 0 ]; }

# ---- a round -------------------------------------------------------------------------------------

begin_load() { :; }
end_load() { :; }
begin_churn()
{
	churn & churn_pid=$!
}
end_churn() { churn_end; }

# The host has lost its target, has tried again at least once, and waits; long enough that the event comes
# between two attempts.
begin_sleeping()
{
	echo $((2 * ${VM_SLOWNESS:-1})) > "/sys/class/nvme/$ctrl/reconnect_delay" && pollard port del 1 || return
	wait_for -t 60 load_is connecting && wait_for -t 60 load_sleeps || {
		diag "no reconnect sleeps:" "$(load_log)"
		return 1
	}
}
end_sleeping()
{
	[ ! -e "/sys/class/nvme/$ctrl/reconnect_delay" ] || echo 1 > "/sys/class/nvme/$ctrl/reconnect_delay"
}
# An attempt has failed, and the last that the host has said is that it waits.
load_sleeps()
{
	round_log | grep "nvme $ctrl: " | awk -v in_vain="$in_vain" '
		$0 ~ in_vain { tried = 1 }
		{ waits = /econnecting in [0-9]+ seconds/ }
		END { exit !(tried && waits) }'
}

# paid_COST EVENT: it has cost no more than that. The load has ended when this returns, and $cell_dev is
# the disk.
paid_nothing()
{
	load_goes_on || return
	load_is live && [ -z "$(load_log)" ] || { diag "it was not to notice:" "$(load_log)"; return 1; }
}

paid_reconnect()
{
	wait_for -t 60 load_is_back || { diag "$ctrl has not come back:" "$(load_log)"; return 1; }
	load_goes_on && only_once
}

# Live, and not still.
load_is_back() { load_is live && [ "$(said "$set_up")" -ge 1 ]; }
load_is_back_or_gone() { load_is_back || load_gone; }

# No more than one connection was lost, and no command had to be waited for in vain.
only_once()
{
	[ "$(said "$lost")" -le 1 ] && [ "$(said "$timed_out")" = 0 ] || {
		diag "more than one reconnect:" "$(load_log)"
		return 1
	}
}

paid_failure()
{
	case $1 in
	namespace)
		load_failed || return
		wait_for nvme_of $cell_nqn || { diag "the disk does not come back"; return 1; }
		cell_dev=$(nvme_of $cell_nqn)
		load_is live && [ "$(said "$lost")$(said "$set_up")" = 00 ] ||
			{ diag "the connection was not to go:" "$(load_log)"; return 1; }
		;;
	delete|module)
		load_gone || { diag "$(load_ctrl) is still there"; return 1; }
		load_failed && load_connect
		;;
	*)
		wait_for -t 60 load_is_back_or_gone || { diag "neither back nor gone:" "$(load_log)"; return 1; }
		if load_gone; then
			load_failed && load_connect
		else
			load_goes_on && only_once
		fi
		;;
	esac
}

# round PHASE EVENT COST
round()
{
	ctrl=$(load_ctrl) || { diag "there is no controller"; return 1; }
	load_begin && mark_log "$2 goes, $1, may cost $3" && "begin_$1" "$2" || return
	within $limit "go_$2" || { diag "go_$2 failed"; return 1; }
	all_back || { diag "not all came back"; return 1; }
	"end_$1" && "paid_$3" "$2" || return
	ackwrite check "$cell_dev" $journal
}

# A round has failed: what there is to know, and an end of what would keep the rest from going.
post_mortem()
{
	echo "the log since the mark:"
	round_log | tail -n 100
	grep . /sys/class/nvme/nvme*/{hostnqn,state}
	pollard controller show
	pollard queue show
	echo "load: $(cat /tmp/ackwrite)"
	[ -z "$halfway_pid" ] || echo "peer: $(cat $halfway_out)"
	# shellcheck disable=SC2086 # those that there are
	kill -KILL $load_pid $churn_pid $halfway_pid $halfway_killer
} 2>&1

# An own generator: the same rounds with the same seed, whatever shell this is.
random=$seed
draw()
{
	random=$(((random * 1103515245 + 12345) & 0x7fffffff))
	drawn=$(((random >> 8) % $1))
}

prepare()
{
	modprobe brd rd_nr=2 rd_size=65536 && rxe_up && cell_load_target && modprobe $host_module || return
	# shellcheck disable=SC2034 # interop-lib.sh reads it
	cell_before=$(cell_objects)
	all_back && load_connect && draw 1
}

tear_down()
{
	cell_disconnect && cell_teardown
}

diag "seed $seed"
tap_run "set up" prepare || { tap_end; exit 1; }
order=()
for ((n = 0; n < rounds; n++)); do
	# Every event comes up before one comes again.
	if [ ${#order[@]} = 0 ]; then
		order=("${events[@]}")
		for ((i = ${#order[@]} - 1; i > 0; i--)); do
			draw $((i + 1))
			event=${order[i]} order[i]=${order[drawn]} order[drawn]=$event
		done
	fi
	draw ${#phases[@]}
	phase=${phases[drawn]} event=${order[0]} order=("${order[@]:1}")
	# To make the host sleep the port goes.
	[ $phase:$event != sleeping:port ] || event=subsystem
	[ $event != netdev ] || dummy_may_go || event=rxe
	cost $phase $event
	tap_run "round $n: $event goes, $phase, costs at most: $cost" round $phase $event $cost ||
		{ post_mortem | sed 's/^/# /'; break; }
done
tap_run "everything goes, nothing stays" tear_down
tap_end
