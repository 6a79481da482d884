#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The promise of the design, counted: what a 4 KiB I/O costs in work requests, posts, registrations,
# armings and wake-ups, and that no memory is allocated for it by our modules.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 200
# vm-debug: counts what a build for use does
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"

ios=2000

# about SIDE NAME EACH [OF]: EACH per I/O, or per OF of them, give or take a keep-alive command
about()
{
	local n want

	n=$(count_of "$1" "$2")
	want=$(($3 * ios / ${4:-1}))
	[ "$n" -ge "$want" ] && [ "$n" -le $((want + 8)) ] ||
		{ echo "$1 $2: $n for $ios I/Os, expected $want"; cat /tmp/count; return 1; }
}

# none NAME...: not even once, whatever else goes on
none()
{
	local name

	for name; do
		[ "$(count_of host "$name")" = 0 ] || { echo "host $name, expected none"; cat /tmp/count; return 1; }
	done
}

# undisturbed COUNTS: on a machine with other work there are pauses, in which a queue flushes what it has
# not been told of yet. That only adds; once in five times it must not happen. What is not there at all does
# not come of it.
undisturbed()
{
	local n

	for n in 1 2 3 4; do
		"$@" > /tmp/undisturbed && return
		! grep -q 'expected none' /tmp/undisturbed || { cat /tmp/undisturbed; return 1; }
		diag "disturbed: $(grep -m 1 expected /tmp/undisturbed)"
	done
	"$@"
}

counts_read()
{
	bench_count randread $ios && none registrations invalidations || return
	about target receives 1 && about target receive_posts 1 && about target post_chains 1 &&
		about target work_requests 2 && about host posts 1 && about host work_requests 1
}

counts_write()
{
	bench_count randwrite $ios && none registrations invalidations || return
	about target receives 1 && about target receive_posts 1 && about target post_chains 1 &&
		about target work_requests 1 &&
		about host posts 1 && about host work_requests 1 && about host in_capsule 1
}

# Commands that are submitted together ring one doorbell, and none is merged with another here.
counts_batch()
{
	local f

	for f in /sys/block/nvme*/queue/nomerges; do
		echo 2 > "$f" || return
	done
	bench_count "$1" $ios --iodepth=8 --iodepth_batch_submit=8 --iodepth_batch_complete_min=8 || return
	about host commands 1 && about host work_requests 1 && about host posts 1 8
}

counts_busy()
{
	bench_count randread $ios || return
	about target arms 0 && about target sleeps 0 && about target wakeups 0
}

# Allocation events whose call site lies in one of our modules, while there is I/O.
no_allocations()
{
	local t=/sys/kernel/tracing e base size filter

	grep -q " $t " /proc/mounts || mount -t tracefs tracefs $t || return
	while read -r _ size _ _ _ base _; do
		filter+="${filter:+ || }(call_site >= $base && call_site < $(printf '0x%x' $((base + size))))"
	done < <(grep '^pollard' /proc/modules)
	[ -n "$filter" ] || { echo "our modules are not loaded"; return 1; }
	for e in $t/events/kmem/{kmalloc,kmalloc_node,kmem_cache_alloc,kmem_cache_alloc_node}; do
		[ -d "$e" ] || continue
		echo "$filter" > "$e/filter" && echo 1 > "$e/enable" || return
	done
	echo > $t/trace
	"$@" || return
	echo 0 > $t/events/kmem/enable
	grep -v '^#' $t/trace > /tmp/allocations
	[ ! -s /tmp/allocations ] || { head -n 20 /tmp/allocations; return 1; }
}

io() { bench_fio "$bench_ours" "$1" 4k 8 --number_ios=$ios >/dev/null; }
io_both() { io randread && io randwrite; }

# The net has to catch: connecting allocates, and must be seen.
reconnect()
{
	nvme disconnect -n $BENCH_OURS &&
		nvme connect -t pollard -a $VM_ADDR1 -s 4420 -n $BENCH_OURS -i 2 &&
		wait_for nvme_of $BENCH_OURS && bench_ours=$(nvme_of $BENCH_OURS)
}

expect_allocations() { ! no_allocations reconnect; }

tap_run "both pairs are set up" bench_setup || { tap_end; exit 1; }
pollard group set 1 mode adaptive
tap_run "4 KiB read: 1 receive, 1 chain of WRITE and SEND, no registration" undisturbed counts_read
tap_run "4 KiB write: 1 receive, 1 SEND, data in the capsule, no registration" undisturbed counts_write
tap_run "8 reads at a time: one post for them" undisturbed counts_batch randread
tap_run "8 writes at a time: one post for them" undisturbed counts_batch randwrite
pollard group set 1 mode busy
tap_run "busy: no arming, no sleep, no wake-up" undisturbed counts_busy
tap_run "busy: the same counts for a read" undisturbed counts_read
io_both
tap_run "no allocation by our modules during I/O" no_allocations io_both
tap_run "an allocation would be seen" expect_allocations
tap_run "everything is taken down" bench_teardown
tap_end
