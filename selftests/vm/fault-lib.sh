# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Allocations that fail on demand, on the debug kernel, where a function of ours is on the stack. Source after
# guest-lib.sh.

fault=

fault_set() { echo "$2" > "$fault/$1"; }

# faults_init KIND: which allocations are meant, "slab" or "page"; none fails yet
faults_init()
{
	case $1 in
	slab) fault=/sys/kernel/debug/failslab ;;
	page) fault=/sys/kernel/debug/fail_page_alloc ;;
	esac
	fault_set probability 0 && fault_set ignore-gfp-wait N && fault_set verbose 2 && fault_set stacktrace-depth 32 &&
		fault_set task-filter N || return
	if [ "$1" = page ]; then
		fault_set ignore-gfp-highmem N && fault_set min-order 0
	else
		fault_set cache-filter N
	fi
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
