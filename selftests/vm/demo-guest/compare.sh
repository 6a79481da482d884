#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# compare.sh [ROUNDS [SECONDS [in-tree]]]: our pair beside the kernel's own in one guest, or our
# initiator beside the kernel's, both with the kernel's target. Prints lines that selftests/vm/demo
# makes tables of:
#	run WORKLOAD CONFIGURATION ROUND IOPS P50 P99 P99.9
#	count WORKLOAD NAME VALUE-PER-IO
# then, of pairs, the target's latency per stage.
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"

rounds=${1:-5}
seconds=${2:-1.2}
target=${3:-}

set -e
bench_setup "$target"

# One round of a workload: each configuration once. The order turns, so none is always first.
round()
{
	local workload=$1 rw=$2 bs=$3 depth=$4 n=$5 configuration figures

	for configuration in $(case $((n % 3)) in
			0) echo adaptive busy in-tree ;;
			1) echo in-tree adaptive busy ;;
			2) echo busy in-tree adaptive ;;
			esac); do
		case $configuration in
		in-tree)
			pollard group set 1 mode event
			figures=$(bench_fio "$bench_theirs" "$rw" "$bs" "$depth" --time_based --runtime="$seconds") ;;
		*)
			pollard group set 1 mode "$configuration"
			figures=$(bench_fio "$bench_ours" "$rw" "$bs" "$depth" --time_based --runtime="$seconds") ;;
		esac
		echo "run $workload $configuration $n $figures"
	done
}

workloads="
4k-read-qd1 randread 4k 1
4k-write-qd1 randwrite 4k 1
4k-read-qd32 randread 4k 32
4k-write-qd32 randwrite 4k 32
"
if [ -z "$target" ]; then
	workloads+="
128k-read-qd8 read 128k 8
128k-write-qd8 write 128k 8
"
else
	workloads+="
64k-read-qd8 read 64k 8
64k-write-qd8 write 64k 8
1m-read-qd4 read 1m 4
1m-write-qd4 write 1m 4
"
fi

bench_fio "$bench_ours" randread 4k 8 --time_based --runtime=1 >/dev/null
bench_fio "$bench_theirs" randread 4k 8 --time_based --runtime=1 >/dev/null
pollard latency reset
for n in $(seq 1 "$rounds"); do
	while read -r workload rw bs depth; do
		[ -z "$workload" ] || round "$workload" "$rw" "$bs" "$depth" "$n"
	done <<< "$workloads"
done

if [ -z "$target" ]; then
	echo "latency-begin"
	pollard latency show
	echo "latency-end"

	pollard group set 1 mode busy
	bench_counts read randread
	bench_counts write randwrite
fi

bench_teardown
