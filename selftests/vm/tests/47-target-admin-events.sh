#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Discovery and asynchronous events of our target under the kernel's own initiator.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 240
. "$VM_LIB"
. "${VM_LIB%/*}/target-admin-lib.sh"

other=nqn.2026-11.org.example:other

discover()
{
	nvme discover -t rdma -a $VM_ADDR1 -s 4420 -q $adm_hostnqn -I $adm_hostid "$@"
}

# A second port, and a subsystem that only another host may use.
export_more()
{
	adm_export && pollard port add 2 traddr $VM_ADDR2 trsvcid 4421 && pollard subsystem add $other &&
	pollard port add-subsystem 2 $other && pollard port add-subsystem 2 $adm_nqn
}

set_up()
{
	# shellcheck disable=SC2034 # target-admin-lib.sh reads it
	adm_export=export_more
	rxe_up && modprobe -a pollard-target nvme-rdma && export_more
}

# allowed COMMAND...: while the other subsystem may be used
allowed()
{
	pollard host add $other $adm_hostnqn && "$@" && pollard host del $other $adm_hostnqn
}

discovery()
{
	discover > /tmp/log || return
	[ "$(grep -c "subnqn: *$adm_nqn" /tmp/log)" = 2 ] && [ "$(grep -c "subnqn: *$adm_disc" /tmp/log)" = 1 ] &&
	grep -q "traddr: *$VM_ADDR1" /tmp/log && grep -q 'trsvcid: *4420' /tmp/log &&
	grep -q "traddr: *$VM_ADDR2" /tmp/log && grep -q 'trsvcid: *4421' /tmp/log &&
	grep -q 'Number of Records 3' /tmp/log && ! grep -q "$other" /tmp/log || { cat /tmp/log; return 1; }
}

discovery_allowed()
{
	discover > /tmp/log || return
	grep -q "subnqn: *$other" /tmp/log && grep -q 'Number of Records 4' /tmp/log || { cat /tmp/log; return 1; }
	nvme discover -t rdma -a $VM_ADDR2 -s 4421 -q $adm_hostnqn -I $adm_hostid > /tmp/log &&
	grep -q "subnqn: *$other" /tmp/log || { cat /tmp/log; return 1; }
}

# More records than one command of nvme-cli brings.
discovery_long()
{
	local n

	for n in $(seq 40); do
		echo "subsystem add nqn.2026-11.org.example:many$n allow-any-host on"
		echo "port add-subsystem 1 nqn.2026-11.org.example:many$n"
	done | pollard -b - && discover > /tmp/log || return
	[ "$(grep -c 'subnqn: *nqn.2026-11.org.example:many' /tmp/log)" = 40 ] ||
		{ cat /tmp/log; return 1; }
	for n in $(seq 40); do
		echo "subsystem del nqn.2026-11.org.example:many$n"
	done | pollard -b -
}

connect_all()
{
	nvme connect-all -t rdma -a $VM_ADDR1 -s 4420 -q $adm_hostnqn -I $adm_hostid -i 1 || return
	wait_for host_disk $adm_nqn &&
	[ "$(host_controllers $adm_nqn | wc -l)" = 2 ] && [ "$(host_controllers $other | wc -l)" = 1 ] ||
		{ nvme list-subsys; return 1; }
	nvme disconnect-all && wait_for host_gone $adm_nqn && wait_for host_gone $other &&
	wait_for host_gone $adm_disc
}

# CDW0 of the events: log page, information and type, as the initiator traces it
disc_changed=NVME_AEN=0x70f002
ns_changed=NVME_AEN=0x040002

# seen_still NUMBER: no event more has come. What the target had to say before it answers a command has
# arrived when the answer has.
seen_still()
{
	nvme get-feature "$adm_ctrl" -f 0xb >/dev/null && adm_traced_is "$1" $disc_changed ||
		{ echo "not $1 events:"; cat $adm_tracing/trace; return 1; }
}

seen_now()
{
	wait_for adm_traced_is "$1" $disc_changed ||
		{ echo "not $1 events:"; cat $adm_tracing/trace; return 1; }
}

persistent()
{
	discover -p > /dev/null || return
	adm_ctrl=/dev/$(host_controllers $adm_disc | head -n 1)
	[ -c "$adm_ctrl" ] || { echo "no persistent discovery controller"; return 1; }
	nvme id-ctrl "$adm_ctrl" > /tmp/id || return
	adm_field "$(cat /tmp/id)" cntrltype 2 && adm_field "$(cat /tmp/id)" oaes 0x80000000 &&
	adm_field "$(cat /tmp/id)" nn 0 && adm_field "$(cat /tmp/id)" subnqn $adm_disc &&
	adm_field "$(cat /tmp/id)" sqes 0 || { cat /tmp/id; return 1; }
	discovery_events && discovery_pieces && discovery_refusals || return
	host_disconnect $adm_disc
}

generation()
{
	nvme get-log "$adm_ctrl" -i 0x70 -l 16 "$@" -b > /tmp/head && adm_hex /tmp/head 0 8
}

# One event until the log has been read, however much changes.
discovery_events()
{
	local first second

	first=$(generation) && adm_trace nvme_async_event || return
	pollard host add $other $adm_hostnqn && seen_now 1 &&
	pollard host del $other $adm_hostnqn && seen_still 1 || return
	# Reading with RAE leaves it so, reading without arms it again.
	second=$(generation --rae) && [ "$first" != "$second" ] || { echo "generation $second"; return 1; }
	pollard host add $other $adm_hostnqn && seen_still 1 || return
	generation >/dev/null && pollard host del $other $adm_hostnqn && seen_now 2 &&
	generation >/dev/null
}

disc_log()
{
	nvme admin-passthru "$adm_ctrl" -o 2 -l "$1" -r -b --cdw10=$((0x70 | ($1 / 4 - 1) << 16)) --cdw12="$2"
}

discovery_pieces()
{
	disc_log 8192 0 > /tmp/whole && disc_log 1024 1536 > /tmp/part || return
	[ "$(adm_hex /tmp/part)" = "$(adm_hex /tmp/whole 1536 1024)" ] || return
	disc_log 4 1020 > /tmp/part && disc_log 4096 1048576 > /tmp/part && adm_zero /tmp/part ||
		{ echo "past the end"; return 1; }
}

discovery_refusals()
{
	adm_refused 02 nvme id-ns "$adm_ctrl" -n 1 && adm_refused 02 nvme list-ns "$adm_ctrl" &&
	adm_refused 109 nvme smart-log "$adm_ctrl" && adm_refused 01 nvme admin-passthru "$adm_ctrl" -o 8 &&
	nvme get-feature "$adm_ctrl" -f 0xb && adm_refused 02 nvme get-feature "$adm_ctrl" -f 7
}

namespace_size()
{
	[ "$(blockdev --getsize64 "$(host_disk $adm_nqn 2)")" = "$1" ]
}

no_namespace()
{
	! host_disk $adm_nqn 2
}

# A namespace comes and goes at the host without anybody rescanning.
namespace_events()
{
	local n

	adm_connect && wait_for host_disk $adm_nqn && adm_trace nvme_async_event || return
	for n in 1 2 3; do
		pollard namespace add $adm_nqn nsid 2 ram 8M >/dev/null && wait_for -t 10 namespace_size 8388608 ||
			{ cat $adm_tracing/trace; return 1; }
		pollard namespace del $adm_nqn 2 && wait_for -t 10 no_namespace || { cat $adm_tracing/trace; return 1; }
	done
	adm_traced_least 6 $ns_changed || { cat $adm_tracing/trace; return 1; }
	pollard namespace set $adm_nqn 1 read-only on && wait_for -t 10 is_read_only ||
		{ echo "not read-only"; return 1; }
	pollard namespace set $adm_nqn 1 read-only off && adm_disconnect
}

is_read_only()
{
	[ "$(blockdev --getro "$(host_disk $adm_nqn 1)")" = 1 ]
}

# Many changes in a moment: the host ends up with what is there.
namespace_burst()
{
	local n

	adm_connect && wait_for host_disk $adm_nqn || return
	for n in $(seq 10 30); do
		pollard namespace add $adm_nqn nsid $n ram 1M >/dev/null || return
	done
	for n in $(seq 10 2 30); do
		pollard namespace del $adm_nqn $n || return
	done
	wait_for -t 20 namespaces_are 11 || { nvme list; return 1; }
	for n in $(seq 11 2 30); do
		pollard namespace del $adm_nqn $n || return
	done
	wait_for -t 20 namespaces_are 1 && adm_disconnect
}

namespaces_are()
{
	local b n=0

	for b in /sys/block/nvme*n*; do
		[ "$(cat "$b/hidden" 2>/dev/null)" = 1 ] || [ ! -e "$b" ] || n=$((n + 1))
	done
	[ $n = "$1" ]
}

tear_down()
{
	pollard subsystem del $other && pollard port del 2 && adm_teardown
}

tap_run "set up" set_up || { tap_end; exit 1; }
adm_run "discovery shows what the host may use, on all ports" discovery
adm_run "what is allowed to the host appears" allowed discovery_allowed
adm_run "a long discovery log" discovery_long
adm_run "connect-all" allowed connect_all
adm_run "persistent discovery controller and its events" persistent
adm_run "namespaces come and go at the host" namespace_events
adm_run "many changes at once" namespace_burst
tap_run "modules unload" tear_down
tap_end
