# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of configuration share. Source after guest-lib.sh.

# config_clear: delete whatever is configured
config_clear()
{
	pollard port show | sed -n 's/^port \([0-9]*\) .*/port del \1/p'
	pollard subsystem show | sed -n 's/^subsystem \([^ ]*\) .*/subsystem del \1/p'
} > /tmp/clear

config_is_clear()
{
	[ -z "$(pollard subsystem show)$(pollard namespace show)$(pollard port show)" ]
}

# config_run NAME COMMAND...: tap_run; what a failed test leaves behind does not harm the next
config_run()
{
	tap_run "$@" && return
	config_clear
	pollard -b /tmp/clear
	return 1
}

# shows PATTERN COMMAND...: it succeeds and prints PATTERN (grep's)
shows()
{
	local pattern=$1 out
	shift

	out=$("$@" 2>&1) && grep -q -- "$pattern" <<< "$out" ||
		{ echo "'$pattern' is not in what $* says: $out"; return 1; }
}

# refused TEXT COMMAND...: it fails with status 1 and says TEXT
refused()
{
	local text=$1 out status=0
	shift

	out=$("$@" 2>&1) || status=$?
	[ $status -eq 1 ] && grep -qF -- "$text" <<< "$out" ||
		{ echo "$* is not refused with '$text' but (status $status): $out"; return 1; }
}

# nl_open NAME [nlraw's options]: a socket that stays open; nl NAME REQUEST... sends and prints the answer
nl_open()
{
	local name=$1
	shift

	mkfifo "/tmp/nl.$name.in" "/tmp/nl.$name.out" || return
	nlraw "$@" pollard-target < "/tmp/nl.$name.in" > "/tmp/nl.$name.out" &
	eval "nl_pid_$name=\$!"
	eval "exec {nl_in_$name}> /tmp/nl.$name.in {nl_out_$name}< /tmp/nl.$name.out"
	rm "/tmp/nl.$name.in" "/tmp/nl.$name.out"
}

nl()
{
	local in=nl_in_$1 out=nl_out_$1 answer
	shift

	echo "$*" >&"${!in}" && read -r -t 30 answer <&"${!out}" && echo "$answer"
}

nl_kill()
{
	local pid=nl_pid_$1

	kill -9 "${!pid}"
}

nl_close()
{
	local in=nl_in_$1 out=nl_out_$1 pid=nl_pid_$1

	eval "exec $((${!in}))>&- $((${!out}))<&-"
	wait "${!pid}"
}

# answers PATTERN REQUEST...: a request on a socket of its own is answered so (bash's pattern)
answers()
{
	local pattern=$1 out
	shift

	out=$(nlraw "${nl_options[@]}" "${nl_family:-pollard-target}" <<< "$*")
	# shellcheck disable=SC2053
	[[ $out == $pattern ]] || { echo "$* is not answered with $pattern but $out"; return 1; }
}
