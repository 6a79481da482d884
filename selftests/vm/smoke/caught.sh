# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Faults on purpose, on the debug kernel, each in a guest of its own: the run has to fail with the very report that
# is meant for it, and to be well without a fault. For the checks beside it, which source it in selftests/vm with
# the names of the faults that are wanted (without any: all), and name in $run what runs a fault but for its name.

kernel=6.12-debug
caught_dir=$(mktemp -d) && out=$caught_dir/out || exit
trap 'rm -rf "$caught_dir"' EXIT
caught_only=" $* " caught_nr=0 caught_failed=0
run=()

# caught_module SOURCES [VARIABLE=VALUE...]: build a module that does something wrong; it is in $caught_dir then
caught_module()
{
	local sources=$1 kdir
	shift

	kdir=$(./fetch $kernel kdir) && cp "$sources"/* "$caught_dir" || exit
	make -s -C "$kdir" M="$caught_dir" "$@" modules > "$out" 2>&1 || { cat "$out"; exit 1; }
}

# caught FAULT STATUS REPORT: running it ends with STATUS, and says REPORT
caught()
{
	local fault=$1 want=$2 report=$3 got=0

	[[ $caught_only == '  ' || $caught_only == *" $fault "* ]] || return 0
	"${run[@]}" "$fault" > "$out" 2>&1 || got=$?
	caught_nr=$((caught_nr + 1))
	if [ "$got" = "$want" ] && { [ -z "$report" ] || grep -qE -- "$report" "$out"; }; then
		echo "ok $caught_nr - $fault"
	else
		sed 's/^/# /' "$out"
		echo "# status $got, expected $want and '$report'"
		echo "not ok $caught_nr - $fault"
		caught_failed=1
	fi
}

# caught_end: the plan, and the exit status
caught_end()
{
	echo "1..$caught_nr"
	exit $caught_failed
}
