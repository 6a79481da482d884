#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 56-host-cycles.sh CYCLES: connect and disconnect so many times, our pair and the kernel's own in the
# same guest. RDMA objects and users of modules are as before, memory of the slabs has not grown by
# more than with the kernel's pair, and no disconnect, from a target that answers, takes longer than a
# second. (From one that is silent: 52-host-silence.sh.)
#
# vm-kernels: 6.12 6.1
# vm-timeout: 180
# vm-args: 15
# vm-long: 1000
# vm-long-timeout: 3600
. "$VM_LIB"

nqn=nqn.2026-11.org.example:cycles
cycles=$1

setup()
{
	modprobe brd rd_nr=2 rd_size=8192 && rxe_up && modprobe -a nvme-rdma pollard-host || return
	intree_target_add $nqn /dev/ram0 $VM_ADDR1 4421 && our_target_add $nqn /dev/ram1
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
as_before()
{
	[ "$(rdma_snapshot)" = "$objects" ] && [ "$(module_users)" = "$users" ]
}

theirs()
{
	local before

	rounds 5 rdma 4421 && before=$(slab_kb) && rounds "$cycles" rdma 4421 || return
	their_growth=$(($(slab_kb) - before)) their_slowest=$slowest
}

ours()
{
	rounds 5 pollard 4420 || return
	slab_before=$(slab_kb) objects=$(rdma_snapshot) users=$(module_users) slowest=0
	rounds "$cycles" pollard 4420
}

nothing_stays()
{
	wait_for as_before && return
	diag "before:"; printf '%s\n' "$objects" "$users"
	diag "after:"; rdma_snapshot; module_users
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

slowest=0
tap_run "set up" setup &&
tap_run "the kernel's own pair" theirs &&
tap_run "our pair" ours || { tap_end; exit 1; }
tap_run "RDMA objects and users of modules are as before" nothing_stays
tap_run "slabs have not grown by more than the kernel's own" slab_as_theirs
tap_run "every disconnect from a target that answers took less than a second" prompt
diag "the slowest disconnect: $((slowest / 1000)) ms, slabs: $growth kB"
diag "with the kernel's own: $((their_slowest / 1000)) ms, $their_growth kB"
tap_end
