#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Discovery and asynchronous events of our target under the kernel's own initiator.
#
# vm-timeout: 180
#
# vm-unsettled: not run on both kernels yet
. "$VM_LIB"
. "${VM_LIB%/*}/target-admin-lib.sh"

other=nqn.2026-11.org.example:other

discover()
{
	nvme discover -t rdma -a $VM_ADDR1 -s 4420 -q $adm_hostnqn -I $adm_hostid "$@"
}

discovery()
{
	discover > /tmp/log || return
	grep -q "subnqn: *$adm_nqn" /tmp/log && grep -q "traddr: *$VM_ADDR1" /tmp/log &&
	grep -q 'trsvcid: *4420' /tmp/log && grep -q "subnqn: *$adm_disc" /tmp/log &&
	grep -q 'Number of Records 2' /tmp/log || { cat /tmp/log; return 1; }
}

# A second port, and a subsystem that only another host may use.
discovery_filters()
{
	pollard port add 2 traddr $VM_ADDR2 trsvcid 4421 && pollard subsystem add $other &&
	pollard port add-subsystem 2 $other && pollard port add-subsystem 2 $adm_nqn &&
	discover > /tmp/log || return
	[ "$(grep -c "subnqn: *$adm_nqn" /tmp/log)" = 2 ] && ! grep -q "$other" /tmp/log ||
		{ cat /tmp/log; return 1; }
	pollard host add $other $adm_hostnqn && discover > /tmp/log &&
	grep -q "subnqn: *$other" /tmp/log && grep -q 'trsvcid: *4421' /tmp/log || { cat /tmp/log; return 1; }
	nvme discover -t rdma -a $VM_ADDR2 -s 4421 -q $adm_hostnqn -I $adm_hostid | grep -q "$other"
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

events=/sys/kernel/tracing/events/nvme/nvme_async_event
trace=/sys/kernel/tracing/trace

events_on()
{
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing || return
	echo > $trace && echo 1 > $events/enable
}

# events_seen NAME: how many events of this name have come
events_seen()
{
	grep -c "NVME_AER_NOTICE_$1" $trace
}

seen_is()
{
	[ "$(events_seen "$1")" = "$2" ]
}

persistent()
{
	local ctrl

	discover -p > /dev/null || return
	ctrl=/dev/$(host_controllers $adm_disc | head -n 1)
	[ -c "$ctrl" ] || { echo "no persistent discovery controller"; return 1; }
	nvme id-ctrl "$ctrl" > /tmp/id || return
	adm_field "$(cat /tmp/id)" cntrltype 2 && adm_field "$(cat /tmp/id)" oaes 0x80000000 &&
	adm_field "$(cat /tmp/id)" nn 0 && adm_field "$(cat /tmp/id)" subnqn $adm_disc &&
	adm_field "$(cat /tmp/id)" sqes 0 || { cat /tmp/id; return 1; }
	discovery_events "$ctrl" && discovery_pieces "$ctrl" && discovery_refusals "$ctrl" || return
	nvme disconnect -n $adm_disc && wait_for host_gone $adm_disc
}

generation()
{
	nvme get-log "$1" -i 0x70 -l 16 "${@:2}" -b > /tmp/head && adm_hex /tmp/head 0 8
}

# One event until the log has been read, however much changes.
discovery_events()
{
	local ctrl=$1 first second

	events_on || return
	first=$(generation "$ctrl") || return
	pollard host del $other $adm_hostnqn && wait_for seen_is DISC_CHANGED 1 || { cat $trace; return 1; }
	pollard host add $other $adm_hostnqn && sleep 0.3 && seen_is DISC_CHANGED 1 || return
	# Reading with RAE leaves it so, reading without arms it again.
	second=$(generation "$ctrl" --rae) && [ "$first" != "$second" ] || return
	pollard host del $other $adm_hostnqn && sleep 0.3 && seen_is DISC_CHANGED 1 || return
	generation "$ctrl" >/dev/null && pollard host add $other $adm_hostnqn &&
	wait_for seen_is DISC_CHANGED 2 || { cat $trace; return 1; }
	generation "$ctrl" >/dev/null
}

disc_log()
{
	nvme admin-passthru "$1" -o 2 -l "$2" -r -b --cdw10=$((0x70 | ($2 / 4 - 1) << 16)) --cdw12="$3"
}

discovery_pieces()
{
	disc_log "$1" 8192 0 > /tmp/whole && disc_log "$1" 1024 1536 > /tmp/part || return
	[ "$(adm_hex /tmp/part)" = "$(adm_hex /tmp/whole 1536 1024)" ] || return
	disc_log "$1" 4 1020 > /tmp/part && disc_log "$1" 4096 1048576 > /tmp/part && adm_zero /tmp/part ||
		{ echo "past the end"; return 1; }
}

discovery_refusals()
{
	adm_refused 02 nvme id-ns "$1" -n 1 && adm_refused 02 nvme list-ns "$1" &&
	adm_refused 109 nvme smart-log "$1" && adm_refused 01 nvme admin-passthru "$1" -o 8 &&
	nvme get-feature "$1" -f 0xb && adm_refused 02 nvme get-feature "$1" -f 7
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

	adm_connect && wait_for host_disk $adm_nqn && events_on || return
	for n in 1 2 3; do
		pollard namespace add $adm_nqn nsid 2 ram 8M >/dev/null && wait_for -t 10 namespace_size 8388608 ||
			{ cat $trace; return 1; }
		pollard namespace del $adm_nqn 2 && wait_for -t 10 no_namespace || { cat $trace; return 1; }
	done
	pollard namespace set $adm_nqn 1 read-only on
	wait_for -t 10 is_read_only
	pollard namespace set $adm_nqn 1 read-only off
	adm_disconnect
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

tap_run "set up" adm_setup || { tap_end; exit 1; }
tap_run "discovery" discovery
tap_run "discovery shows what the host may use, on all ports" discovery_filters
tap_run "a long discovery log" discovery_long
tap_run "connect-all" connect_all
tap_run "persistent discovery controller and its events" persistent
tap_run "namespaces come and go at the host" namespace_events
tap_run "many changes at once" namespace_burst
tap_run "modules unload" tear_down
tap_end
