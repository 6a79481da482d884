#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 70-teardown.sh HOST ROUNDS [SEED]: everything that can go away goes away, in any order, while
# verified I/O runs, while others connect, and while a reconnect sleeps. Each time it ends in bounded
# time, what was acknowledged is on the disk, and all is well when it is back. HOST is "ours" or
# "in-tree". Which rounds are played follows from SEED, by default from the day.
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

events=(port subsystem namespace host mode offline rxe netdev target reset delete module)
phases=(load churn sleeping)

# ---- what can go ---------------------------------------------------------------------------------

go_port() { pollard port del 1; }
go_subsystem() { pollard subsystem del $cell_nqn; }
go_namespace() { pollard namespace del $cell_nqn 1; }
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
go_netdev() { ip link del "$VM_NETDEV"; }
go_target() { modprobe -r pollard-target; }
go_reset()
{
	local ctrl
	ctrl=$(nvme_ctrl_of $cell_nqn) && echo 1 > "/sys/class/nvme/$ctrl/reset_controller" 2>/dev/null
	# One that is connecting cannot be reset, and says so.
	true
}
go_delete()
{
	local ctrl
	ctrl=$(nvme_ctrl_of $cell_nqn) || return 0
	echo 1 > "/sys/class/nvme/$ctrl/delete_controller" && cell_no_ctrl
}
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
	if [ ! -e "/sys/class/net/$VM_NETDEV" ]; then
		ip -batch - <<-END || return
			link add $VM_NETDEV type dummy
			addr add $VM_ADDR1/24 dev $VM_NETDEV
			addr add $VM_ADDR2/24 dev $VM_NETDEV
			link set $VM_NETDEV mtu 9000 up
		END
	fi
	[ -e /sys/class/infiniband/rxe0 ] || rxe_up || return
	cell_load_target && modprobe $host_module || return
	pollard subsystem show $cell_nqn > /dev/null 2>&1 || pollard subsystem add $cell_nqn || return
	pollard namespace show $cell_nqn 1 > /dev/null 2>&1 ||
		pollard namespace add $cell_nqn nsid 1 device $cell_disk uuid $cell_uuid || return
	pollard host show $cell_nqn "$me" > /dev/null 2>&1 || pollard host add $cell_nqn "$me" || return
	pollard host show $cell_nqn "$me-other" > /dev/null 2>&1 || pollard host add $cell_nqn "$me-other" || return
	pollard port show 1 > /dev/null 2>&1 || pollard port add 1 traddr $VM_ADDR1 trsvcid 4420 || return
	pollard port show 1 | grep -q $cell_nqn || pollard port add-subsystem 1 $cell_nqn
}

is_live_or_gone()
{
	cell_no_ctrl || cell_is live
}

# Again a disk, by the controller that came through or by another one.
connected()
{
	wait_for -t 60 is_live_or_gone || { diag "the controller is $(cell_state)"; return 1; }
	if cell_no_ctrl; then
		cell_connect
	else
		wait_for nvme_of $cell_nqn && cell_dev=$(nvme_of $cell_nqn)
	fi
}

# ---- the load ------------------------------------------------------------------------------------

journal=/tmp/journal
load_pid='' churn_pid=''

load_begin()
{
	[ -z "$load_pid" ] || ! kill -0 "$load_pid" 2>/dev/null || return 0
	ackwrite run "$cell_dev" $journal > /tmp/ackwrite 2>&1 & load_pid=$!
	wait_for cell_busy || { cat /tmp/ackwrite; return 1; }
}

load_ended() { ! kill -0 "$load_pid" 2>/dev/null; }

# load_end: stops it if it still runs. Only the disk's failure may have ended it before.
load_end()
{
	local status=0

	kill "$load_pid" 2>/dev/null
	wait_for -t 30 load_ended || { diag "a writer hangs"; cat "/proc/$load_pid/task"/*/stack; return 1; }
	wait "$load_pid" || status=$?
	load_pid=
	[ $status = 0 ] || [ $status = 5 ] || { cat /tmp/ackwrite; return 1; }
	return 0
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

# ---- a round -------------------------------------------------------------------------------------

begin_load() { :; }
begin_churn()
{
	churn & churn_pid=$!
}
# The host has lost its target, has tried again at least once, and waits.
begin_sleeping()
{
	pollard port del 1 && wait_for -t 60 cell_is connecting && wait_for -t 60 tried_again
}
tried_again()
{
	dmesg | tail -n 40 | grep -q "$(nvme_ctrl_of $cell_nqn).*[Rr]econnect"
}

# round PHASE EVENT
round()
{
	local phase=$1 event=$2

	load_begin && "begin_$phase" || return
	[ "$phase" != sleeping ] || [ "$event" != port ] || event=subsystem
	within $limit "go_$event" || { diag "go_$event failed"; return 1; }
	all_back || { diag "not all came back"; return 1; }
	churn_end && connected && load_end || return
	ackwrite check "$cell_dev" $journal
}

# An own generator: the same rounds with the same seed, whatever shell this is.
random=$seed
draw()
{
	random=$(((random * 1103515245 + 12345) & 0x7fffffff))
	drawn=$(((random >> 8) % $1))
}

set_up()
{
	modprobe brd rd_nr=2 rd_size=65536 && rxe_up && cell_load_target && modprobe $host_module || return
	# shellcheck disable=SC2034 # interop-lib.sh reads it
	cell_before=$(cell_objects)
	all_back && cell_connect && draw 1
}

tear_down()
{
	cell_disconnect && cell_teardown
}

diag "seed $seed"
tap_run "set up" set_up || { tap_end; exit 1; }
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
	tap_run "round $n: $event goes, $phase" round "$phase" "$event" || { dmesg | tail -n 30 | sed 's/^/# /'; break; }
done
tap_run "everything goes, nothing stays" tear_down
tap_end
