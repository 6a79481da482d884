# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What measuring scripts in a guest share: two like disks, one behind each pair of initiator and
# target, and fio runs that print one line of figures. Source after guest-lib.sh.
#
# Everything is measured in one guest: fio on CPU 0, the only poll group on CPU 1. Both pairs stay
# connected; which one is measured alternates, so that what the machine does meanwhile hits both.

BENCH_OURS=nqn.2026-11.org.example:ours
BENCH_THEIRS=nqn.2026-11.org.example:in-tree

# A clock that had to fall back would make every figure wrong.
bench_clock_ok()
{
	[ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" = tsc ]
}

# nvme_of NQN: the block device of the only namespace of a subsystem that is connected
nvme_of()
{
	local c ns

	for c in /sys/class/nvme/nvme*; do
		[ "$(cat "$c/subsysnqn" 2>/dev/null)" = "$1" ] || continue
		for ns in "$c"/nvme*n*; do
			[ -e "$ns/size" ] || continue
			ns=${ns##*/}
			# with native multipath the path is nvme0c0n1, the disk nvme0n1
			ns=$(sed 's/c[0-9]*n/n/' <<< "$ns")
			[ -b "/dev/$ns" ] && echo "/dev/$ns" && return
		done
	done
	return 1
}

# nvme_ctrl_with ATTRIBUTE VALUE: the name of a controller of which that is so
nvme_ctrl_with()
{
	local c

	for c in /sys/class/nvme/nvme*; do
		[ "$(cat "$c/$1" 2>/dev/null)" = "$2" ] && echo "${c##*/}" && return
	done
	return 1
}

# nvme_ctrl_of NQN: the controller's name
nvme_ctrl_of() { nvme_ctrl_with subsysnqn "$1"; }

# Disks that cannot block and take no time: what is left is the path to them.
bench_disks()
{
	modprobe null_blk nr_devices=2 gb=4 queue_mode=2 irqmode=0 bs=512 submit_queues=2
}

# bench_setup [in-tree]: both pairs connected; sets bench_ours and bench_theirs. With an argument both
# initiators use the kernel's own target.
bench_setup()
{
	local port=4420

	bench_clock_ok || { diag "the clock is not tsc"; return 1; }
	bench_disks && rxe_up && modprobe -a nvme-rdma pollard-host pollard-target || return
	pollard group del 0 || return
	if [ "${1:-}" = in-tree ]; then
		port=4421
		intree_target_add $BENCH_OURS /dev/nullb0 $VM_ADDR1 4421 || return
	else
		our_target_add $BENCH_OURS /dev/nullb0 $VM_ADDR1 4420 || return
	fi
	intree_target_add $BENCH_THEIRS /dev/nullb1 $VM_ADDR1 4421 || return
	nvme connect -t pollard -a $VM_ADDR1 -s $port -n $BENCH_OURS -i 2 || return
	nvme connect -t rdma -a $VM_ADDR1 -s 4421 -n $BENCH_THEIRS -i 2 || return
	wait_for nvme_of $BENCH_OURS && wait_for nvme_of $BENCH_THEIRS || return
	bench_ours=$(nvme_of $BENCH_OURS) bench_theirs=$(nvme_of $BENCH_THEIRS)
}

# bench_fio DEVICE RW BS DEPTH LIMIT...: run fio on CPU 0; LIMIT is --runtime=S or --number_ios=N.
# Prints: IOPS p50 p99 p99.9, latencies in microseconds.
bench_fio()
{
	local dev=$1 rw=$2 bs=$3 depth=$4 column
	shift 4

	column=8
	[[ $rw == *write ]] && column=49
	fio --name=bench --filename="$dev" --rw="$rw" --bs="$bs" --iodepth="$depth" --direct=1 \
		--ioengine=io_uring --thread --cpus_allowed=0 --size=1g --norandommap --randrepeat=0 \
		--clat_percentiles=0 --lat_percentiles=1 --percentile_list=50:99:99.9 \
		--output-format=terse --terse-version=3 "$@" 2>/tmp/fio.err > /tmp/fio.out ||
		{ cat /tmp/fio.err /tmp/fio.out >&2; return 1; }
	awk -F';' -v c=$column '$1 == 3 {
		for (i = 0; i < 3; i++) {
			split($(c + 10 + i), p, "=")
			v[i] = p[2]
		}
		printf "%d %d %d %d\n", $c, v[0], v[1], v[2]
	}' /tmp/fio.out
}

# ---- exact counts -------------------------------------------------------------------------------

# bench_counters: every counter of the group and of our initiator's controller, "SIDE NAME VALUE"
bench_counters()
{
	local f c

	for f in /sys/kernel/pollard/groups/1/counters/*; do
		echo "target ${f##*/} $(cat "$f")"
	done
	c=$(nvme_ctrl_of $BENCH_OURS)
	for f in /sys/class/nvme/"$c"/pollard/*; do
		[[ $(cat "$f") =~ ^[0-9]+$ ]] && echo "host ${f##*/} $(cat "$f")"
	done
	return 0
}

# bench_count RW NUMBER [FIO OPTION...]: what NUMBER I/Os of 4 KiB cost, one at a time unless options say
# otherwise: "SIDE NAME DIFFERENCE" in /tmp/count. The connection is warm; nothing else uses it but a keep-alive now
# and then.
bench_count()
{
	local rw=$1 number=$2
	shift 2

	bench_fio "$bench_ours" "$rw" 4k 1 --number_ios=200 "$@" >/dev/null || return
	bench_counters > /tmp/count.before
	bench_fio "$bench_ours" "$rw" 4k 1 --number_ios="$number" "$@" >/dev/null || return
	bench_counters > /tmp/count.after
	awk 'NR == FNR { before[$1, $2] = $3; next }
		{ print $1, $2, $3 - before[$1, $2] }' /tmp/count.before /tmp/count.after > /tmp/count
}

# count_of SIDE NAME: a difference that bench_count found
count_of()
{
	awk -v s="$1" -v n="$2" '$1 == s && $2 == n { print $3 }' /tmp/count
}

# bench_counts WORKLOAD RW: the counts of a workload for each I/O, as compare.awk takes them
bench_counts()
{
	local n=2000

	bench_count "$2" $n || return
	awk -v w="$1" -v n=$n '$2 !~ /passes|yields|slot|copy_|bytes|reconnects/ {
		printf "count %s %s-%s %.3f\n", w, $1, $2, $3 / n }' /tmp/count
}

bench_teardown()
{
	nvme disconnect -n $BENCH_OURS && nvme disconnect -n $BENCH_THEIRS || return
	if [ -e "$nvmet/subsystems/$BENCH_OURS" ]; then
		intree_target_del $BENCH_OURS
	else
		pollard subsystem del $BENCH_OURS && pollard port del 1
	fi && intree_target_del $BENCH_THEIRS &&
		modprobe -r pollard-host pollard-target nvme-rdma nvmet-rdma
}
