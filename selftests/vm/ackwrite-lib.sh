# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What tests with a load share whose acknowledged writes are remembered (tools/ackwrite.c): it begins on a disk, it
# goes on or is told that its disk has failed, and what was acknowledged is there. One journal for all loads
# of a test, which have to be on the same disk. Source after guest-lib.sh.

ack_journal=/tmp/journal
ack_pid=''

# ack_writes DISK: sets $ack_nr to the writes that have ended, counted at the disk or at the paths to it: those of
# nvme0n2 are nvme0c0n2 and so on
ack_writes()
{
	local name=${1##*/} f s

	ack_nr=0
	for f in /sys/block/"${name%n*}"*n"${name##*n}"/stat; do
		read -ra s < "$f" && ack_nr=$((ack_nr + s[4]))
	done
}
ack_writes_reach() { ack_writes "$1"; [ "$ack_nr" -ge "$2" ]; }

# ack_going DISK: it writes now
ack_going()
{
	ack_writes "$1"
	wait_for ack_writes_reach "$1" $((ack_nr + 20)) || { ack_goes_on && diag "ackwrite waits"; return 1; }
}

# ack_begin DISK
ack_begin()
{
	[ -z "$ack_pid" ] || ack_over || { diag "an ackwrite of before is still there"; return 1; }
	nice -n 19 ackwrite run "$1" $ack_journal > /tmp/ackwrite 2>&1 & ack_pid=$!
	ack_going "$1"
}

ack_runs() { kill -0 "$ack_pid" 2>/dev/null; }
ack_over() { ! ack_runs; }
ack_goes_on() { ack_runs || { diag "ackwrite has ended:"; cat /tmp/ackwrite; return 1; }; }

# ack_status EXPECTED: it ends with that, soon
ack_status()
{
	local pid=$ack_pid status=0

	wait_for ack_over || { diag "ackwrite hangs:"; cat "/proc/$pid/task"/*/stack; return 1; }
	ack_pid=''
	wait "$pid" || status=$?
	[ $status = "$1" ] || { diag "ackwrite: $status, not $1:"; cat /tmp/ackwrite; return 1; }
}

# ack_end: it is stopped, and has seen no error
ack_end() { ack_goes_on && kill "$ack_pid" && ack_status 0; }

# ack_failed: its disk has failed, and nothing else has happened to it
ack_failed() { ack_status 5; }

# ack_check DISK: all is there, if there was a load
ack_check()
{
	[ ! -e $ack_journal ] || ackwrite check "$1" $ack_journal
}
