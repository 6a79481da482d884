#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 56-host-cycles.sh [CYCLES]: connect and disconnect so many times, the kernel's own pair, then our initiator with
# either target, in the same guest. RDMA objects and users of modules are as before, memory of the slabs has not
# grown by more than with the kernel's pair, and no disconnect, from a target that answers, takes longer than a
# second. (From one that is silent: 52-host-silence.sh.)
#
# vm-kernels: 6.12 6.1
# vm-timeout: 180
# vm-long: 1000
# vm-long-timeout: 5400
. "$VM_LIB"

nqn=nqn.2026-11.org.example:cycles
# On the older kernel as many as show that nothing is other there.
[[ $(uname -r) = 6.1.* ]] && cycles=8 || cycles=15
cycles=${1:-$cycles}
our_service=4420 their_service=4421

setup()
{
	modprobe brd rd_nr=2 rd_size=8192 && rxe_up && modprobe -a nvme-rdma pollard-host || return
	intree_target_add $nqn /dev/ram0 $VM_ADDR1 $their_service && our_target_add $nqn /dev/ram1 $VM_ADDR1 $our_service ||
		return
	idle_pairs=$(queue_pairs)
}

# cycle TRANSPORT SERVICE: as nvme connect and disconnect do, without the time the program takes to start
cycle()
{
	local answer f c start now status

	exec {f}<> /dev/nvme-fabrics || return
	echo "nqn=$nqn,transport=$1,traddr=$VM_ADDR1,trsvcid=$2,nr_io_queues=2" >&"$f" && read -r answer <&"$f"
	status=$?
	exec {f}>&-
	[ $status = 0 ] && [[ $answer =~ instance=([0-9]+) ]] || { diag "cannot connect"; return 1; }
	c=/sys/class/nvme/nvme${BASH_REMATCH[1]}
	vm_now; start=$now
	echo 1 > "$c/delete_controller" && wait_for [ ! -e "$c" ] || { diag "$c stays"; return 1; }
	vm_now
	[ $((now - start)) -le "$slowest" ] || slowest=$((now - start))
}

# rounds NUMBER TRANSPORT SERVICE
rounds()
{
	local n
	for ((n = 0; n < $1; n++)); do
		cycle "$2" "$3" || { diag "cycle $n"; return 1; }
	done
}

slab_kb()
{
	echo 3 > /proc/sys/vm/drop_caches
	awk '/^SUnreclaim:/ { print $2 }' /proc/meminfo
}
module_users() { awk '/^(pollard|nvme|rdma|ib_)/ { print $1, $3 }' /proc/modules | sort; }

# Of all connections; without any there is the connection manager's.
queue_pairs() { rdma_snapshot | sed 's/.* qp \([0-9]*\).*/\1/'; }
# A target takes its time to forget a host.
quiet() { [ "$(queue_pairs)" = "$idle_pairs" ]; }

# The kernel's own target shares completion queues, which stay until the device goes.
objects()
{
	if [ "$service" = $our_service ]; then
		rdma_snapshot
	else
		rdma_snapshot | sed 's/ cq [0-9]*//'
	fi
}
as_before()
{
	[ "$(objects)" = "$objects_before" ] && [ "$(module_users)" = "$users_before" ]
}

theirs()
{
	local before

	slowest=0
	rounds 5 rdma $their_service && before=$(slab_kb) && rounds "$cycles" rdma $their_service || return
	their_growth=$(($(slab_kb) - before)) their_slowest=$slowest
}

# ours SERVICE: the target's
ours()
{
	service=$1
	rounds 5 pollard "$service" || return
	wait_for quiet || { diag "queue pairs stay:"; rdma_snapshot; return 1; }
	slab_before=$(slab_kb) objects_before=$(objects) users_before=$(module_users) slowest=0
	rounds "$cycles" pollard "$service"
}

nothing_stays()
{
	wait_for as_before && return
	diag "before:"; printf '%s\n' "$objects_before" "$users_before"
	diag "after:"; objects; module_users
	return 1
}

# What is freed after a grace period takes its time; a page here and there is chance.
slab_settled()
{
	growth=$(($(slab_kb) - slab_before))
	[ $growth -le $(((their_growth > 0 ? their_growth : 0) + 1024)) ]
}
slab_as_theirs()
{
	wait_for -t 10 slab_settled || { diag "$growth kB, $their_growth kB with the kernel's own"; return 1; }
}

# On a busy machine nobody is fast: no longer than a second, or than the kernel's own pair takes.
prompt()
{
	[ $slowest -le $((1000000 * ${VM_SLOWNESS:-1})) ] || [ $slowest -le "$their_slowest" ]
}

# initiator NAME SERVICE: ours, with the target of this name
initiator()
{
	tap_run "our initiator, $1" ours "$2" || { tap_end; exit 1; }
	tap_run "our initiator, $1: RDMA objects and users of modules are as before" nothing_stays
	tap_run "our initiator, $1: slabs have not grown by more than with the kernel's own pair" slab_as_theirs
	tap_run "our initiator, $1: every disconnect took less than a second" prompt
	diag "$1: the slowest disconnect: $((slowest / 1000)) ms, slabs: $growth kB"
}

tap_run "set up" setup &&
tap_run "the kernel's own pair" theirs || { tap_end; exit 1; }
initiator "the kernel's target" $their_service
initiator "our target" $our_service
diag "the kernel's own pair: the slowest disconnect: $((their_slowest / 1000)) ms, slabs: $their_growth kB"
tap_end
