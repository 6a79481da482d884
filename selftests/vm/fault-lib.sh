# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Faults on demand, on the debug kernel: allocations that fail where a function of ours is on the stack, and what
# our own modules leave out when they are asked to (drivers/core/fault.h). Source after guest-lib.sh.

fault=

fault_set() { echo "$2" > "$fault/$1"; }

# faults_of DIRECTORY: which faults are meant, by the directory of their controls; none happens yet
faults_of()
{
	fault=$1
	fault_set probability 0 && fault_set verbose 2 && fault_set stacktrace-depth 32 && fault_set task-filter N
}

# faults_init KIND: allocations are meant, "slab" or "page"; none fails yet
faults_init()
{
	case $1 in
	slab)
		faults_of /sys/kernel/debug/failslab && fault_set cache-filter N || return ;;
	page)
		faults_of /sys/kernel/debug/fail_page_alloc && fault_set ignore-gfp-highmem N && fault_set min-order 0 ||
			return ;;
	esac
	fault_set ignore-gfp-wait N
}

# fault_shown: what the kernel's log says of the last fault: where it happened
fault_shown()
{
	dmesg | awk '
		/FAULT_INJECTION/ { last = NR }
		{ line[NR] = $0 }
		END { for (i = last; last && i < last + 40 && i <= NR; i++) print line[i] }'
}

# faults_where MODULES|any: where the stack has to pass, modules with such names. Before ours are there it is any
# module: nothing else runs one then.
faults_where()
{
	local name size rest base end low='' high=''

	while read -r name size _ _ _ base rest; do
		# shellcheck disable=SC2053 # a pattern
		[[ $name == $1 ]] || continue
		end=$(printf '0x%x' $((base + size)))
		[ -n "$low" ] && [[ ! $base < $low ]] || low=$base
		[ -n "$high" ] && [[ ! $end > $high ]] || high=$end
	done < /proc/modules
	[ "$1" != any ] || low=0xffffffffa0000000 high=0xffffffffff000000
	fault_set require-start "$low" && fault_set require-end "$high"
}
