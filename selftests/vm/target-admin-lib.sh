# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of the target's admin side share: our target under the kernel's own initiator, asked
# with nvme-cli. Source after guest-lib.sh.

adm_nqn=nqn.2026-11.org.example:admin
adm_uuid=11111111-2222-4333-8444-555555555555
adm_nguid=0102030405060708090a0b0c0d0e0f10
adm_hostnqn=nqn.2014-08.org.nvmexpress:uuid:aaaaaaaa-0000-4000-8000-000000000001
adm_hostid=aaaaaaaa-0000-4000-8000-000000000001
adm_disc=nqn.2014-08.org.nvmexpress.discovery

adm_setup()
{
	rxe_up && modprobe -a pollard-target nvme-rdma && adm_export
}

# adm_export: one subsystem with a RAM namespace of 16 MiB, offered on port 1
adm_export()
{
	pollard subsystem add $adm_nqn allow-any-host on serial ADMIN0001 model "Admin Test" || return
	pollard namespace add $adm_nqn nsid 1 ram 16M uuid $adm_uuid nguid $adm_nguid || return
	pollard port add 1 traddr $VM_ADDR1 trsvcid 4420 || return
	pollard port add-subsystem 1 $adm_nqn
}

# adm_connect [OPTION...]: connect and set $adm_ctrl (/dev/nvmeN)
adm_connect()
{
	nvme connect -t rdma -a $VM_ADDR1 -s 4420 -n $adm_nqn -q $adm_hostnqn -I $adm_hostid \
		-i 2 --reconnect-delay=1 --ctrl-loss-tmo=30 "$@" || return
	adm_ctrl=/dev/$(host_controllers $adm_nqn | head -n 1)
	[ -c "$adm_ctrl" ] || { echo "no controller"; return 1; }
}

adm_disconnect()
{
	host_disconnect $adm_nqn
}

adm_no_controllers()
{
	[ -z "$(ls /sys/class/nvme)" ]
}

# adm_run NAME COMMAND...: tap_run. What a failed test leaves behind does not harm the next: nothing is
# connected, and configured is what $adm_export configures.
adm_export=adm_export
adm_run()
{
	tap_run "$@" && return
	{
		nvme disconnect-all && wait_for adm_no_controllers
		pollard port show | sed -n 's/^port \([0-9]*\) .*/port del \1/p' > /tmp/clear
		pollard subsystem show | sed -n 's/^subsystem \([^ ]*\) .*/subsystem del \1/p' >> /tmp/clear
		pollard -b /tmp/clear
		$adm_export
	} > /tmp/recover 2>&1 || diag "not recovered: $(cat /tmp/recover)"
	return 1
}

# adm_refused STATUS COMMAND...: COMMAND fails and nvme-cli names NVMe status STATUS (hex, no DNR)
adm_refused()
{
	local want=$1 out
	shift

	if out=$("$@" 2>&1); then
		echo "not refused: $*: $out"
		return 1
	fi
	grep -qiE "\((0x)?(0x4|0x|4)?0*$want\)" <<< "$out" || { echo "$*: $out"; return 1; }
}

# adm_field OUTPUT FIELD WANTED: a line "field : value" of nvme-cli
adm_field()
{
	local have

	have=$(awk -F: -v f="$2" '{ k = $1; gsub(/ /, "", k) }
		k == f { v = $2; for (i = 3; i <= NF; i++) v = v ":" $i; gsub(/^ +| +$/, "", v); print v; exit }' <<< "$1")
	[ "$have" = "$3" ] || { echo "$2 is '$have', not '$3'"; return 1; }
}

# adm_property OFFSET VALUE: a property's value in hex
adm_property()
{
	local out

	out=$(nvme get-property "$adm_ctrl" -o "$1" 2>&1) && [[ $out =~ value:\ $2$ ]] ||
		{ echo "property $1 is not $2: $out"; return 1; }
}

adm_is()
{
	[ "$(cat /sys/class/nvme/"${adm_ctrl#/dev/}"/state 2>/dev/null)" = "$1" ]
}

# adm_trace EVENT...: note those of the initiator's trace events from now on, and no other
adm_tracing=/sys/kernel/tracing
adm_trace()
{
	local e

	echo 0 > $adm_tracing/events/nvme/enable && echo > $adm_tracing/trace || return
	for e; do
		echo 1 > "$adm_tracing/events/nvme/$e/enable" || return
	done
}

# adm_traced PATTERN: how many lines of the trace have it
adm_traced()
{
	grep -c -- "$1" $adm_tracing/trace
}

# adm_traced_least NUMBER PATTERN, adm_traced_is NUMBER PATTERN
adm_traced_least()
{
	[ "$(adm_traced "$2")" -ge "$1" ]
}

adm_traced_is()
{
	[ "$(adm_traced "$2")" = "$1" ]
}

# adm_hex FILE [OFFSET [LENGTH]]: bytes as one string of hex digits
adm_hex()
{
	od -An -v -tx1 -j "${2:-0}" ${3:+-N "$3"} "$1" | tr -d ' \n'
}

# adm_zero FILE [OFFSET [LENGTH]]: nothing but zeroes
adm_zero()
{
	[ -z "$(adm_hex "$@" | tr -d 0)" ]
}

# adm_settled SNAPSHOT: RDMA objects are again what they were
adm_settled()
{
	wait_for -t 10 rdma_settled "$1" || { echo "$1"; echo "now:"; rdma_snapshot; return 1; }
}

adm_teardown()
{
	modprobe -r nvme-rdma && pollard subsystem del $adm_nqn && pollard port del 1 &&
		modprobe -r pollard-target
}
