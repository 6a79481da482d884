#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Who gets a controller of our target and how it ends: names, allowed hosts, queue sizes, reset,
# keep-alive, changes by the administrator.
#
# vm-timeout: 240
#
# vm-unsettled: not run on both kernels yet
. "$VM_LIB"
. "${VM_LIB%/*}/target-admin-lib.sh"

try_connect()
{
	nvme connect -t rdma -a $VM_ADDR1 -s 4420 -q $adm_hostnqn -I $adm_hostid -i 1 "$@"
}

no_controllers()
{
	[ -z "$(ls /sys/class/nvme)" ]
}

names()
{
	local long
	long=nqn.2026-11.org.example:$(printf 'x%.0s' $(seq 200))

	! try_connect -n nqn.2026-11.org.example:nobody && ! try_connect -n "$long" &&
	! try_connect -n ${adm_nqn}x && ! try_connect -n "${adm_nqn%n}" &&
	! try_connect -n ${adm_nqn^^} && no_controllers || return
	dmesg | grep -q 'pollard_target: connect of queue 0 .* status 0x4182, result 0x10100' ||
		{ dmesg | tail -n 20; return 1; }
}

allowed_hosts()
{
	pollard subsystem set $adm_nqn allow-any-host off && ! try_connect -n $adm_nqn &&
	no_controllers && dmesg | grep -q 'status 0x4184' || return
	pollard host add $adm_nqn $adm_hostnqn && adm_connect || return
	# another host's name on the same machine
	! nvme connect -t rdma -a $VM_ADDR1 -n $adm_nqn -q ${adm_hostnqn}f -I ${adm_hostid%1}2 &&
	adm_disconnect
}

controller_gone()
{
	[ -z "$(pollard controller show subsystem $adm_nqn 2>/dev/null | grep -v nvme)" ]
}

host_taken_away()
{
	adm_connect --ctrl-loss-tmo=2 && pollard host del $adm_nqn $adm_hostnqn &&
	wait_for host_gone $adm_nqn || return
	pollard subsystem set $adm_nqn allow-any-host on && adm_connect || return
	# A host that is on nobody's list leaves when not everybody may come any more.
	pollard subsystem set $adm_nqn allow-any-host off && sleep 0.2 &&
	! is_live && pollard subsystem set $adm_nqn allow-any-host on && wait_for is_live &&
	adm_disconnect
}

is_live()
{
	[ "$(cat /sys/class/nvme/"${adm_ctrl#/dev/}"/state 2>/dev/null)" = live ]
}

not_offered()
{
	pollard port del-subsystem 1 $adm_nqn && ! try_connect -n $adm_nqn || return
	pollard port add-subsystem 1 $adm_nqn && adm_connect && pollard port del-subsystem 1 $adm_nqn &&
	sleep 0.2 && ! is_live && pollard port add-subsystem 1 $adm_nqn && wait_for is_live &&
	adm_disconnect
}

queue_size()
{
	local n

	for n in 16 128 1024; do
		adm_connect -Q $n && fio_verify "$(host_disk $adm_nqn)" 4k 32 --size=2m && adm_disconnect ||
			{ echo "queue size $n"; return 1; }
	done
	# The port's limit is CAP.MQES: a stock initiator keeps to it.
	pollard port set 1 max-queue-depth 32 && adm_connect -Q 128 &&
	[ "$(cat /sys/class/nvme/"${adm_ctrl#/dev/}"/sqsize)" = 31 ] &&
	nvme show-regs "$adm_ctrl" 2>/dev/null | grep -qi '^cap *: *201e01001f' &&
	adm_disconnect && pollard port set 1 max-queue-depth 128
}

many_queues()
{
	nvme connect -t rdma -a $VM_ADDR1 -n $adm_nqn -q $adm_hostnqn -I $adm_hostid -i 2 -W 2 -P 2 -k 1 ||
		return
	wait_for host_disk $adm_nqn && sleep 3 && [ -n "$(host_controllers $adm_nqn)" ] &&
	adm_disconnect
}

live_again()
{
	is_live && [ "$(cat /sys/class/nvme/"${adm_ctrl#/dev/}"/cntlid)" -ge 1 ] && host_disk $adm_nqn
}

resets()
{
	local n

	adm_connect || return
	for n in 1 2 3 4 5; do
		nvme reset "$adm_ctrl" && wait_for live_again || return
	done
	fio_verify "$(host_disk $adm_nqn)" 4k 8 --size=1m && adm_disconnect
}

# A controller whose CC says 0: the initiator's commands are refused until it has reset it.
disabled_by_hand()
{
	adm_connect && nvme set-property "$adm_ctrl" -o 0x14 -v 0 || return
	nvme id-ctrl "$adm_ctrl" > /dev/null 2>&1 && { echo "Identify of a disabled controller"; return 1; }
	nvme reset "$adm_ctrl" && wait_for live_again && nvme id-ctrl "$adm_ctrl" >/dev/null &&
	adm_disconnect
}

silent()
{
	dmesg | grep -q "$adm_nqn: controller .* was silent"
}

# The initiator sends a command every few seconds; the target is told to expect one each second.
keep_alive_expires()
{
	adm_connect -k 15 && nvme set-feature "$adm_ctrl" -f 0xf -v 1000 || return
	wait_for silent || { dmesg | tail -n 5; return 1; }
	wait_for live_again && adm_disconnect
}

duplicates()
{
	adm_connect && nvme connect -t rdma -a $VM_ADDR1 -n $adm_nqn -q $adm_hostnqn -I $adm_hostid -i 1 -D ||
		return
	[ "$(host_controllers $adm_nqn | wc -l)" = 2 ] || { host_controllers $adm_nqn; return 1; }
	[ "$(nvme list-ctrl "$adm_ctrl" | sed -n 's/.*present: *//p')" = 2 ] && adm_disconnect
}

subsystem_taken_away()
{
	adm_connect --ctrl-loss-tmo=2 && pollard subsystem del $adm_nqn && wait_for host_gone $adm_nqn || return
	pollard subsystem add $adm_nqn allow-any-host on && pollard namespace add $adm_nqn ram 16M &&
	pollard port add-subsystem 1 $adm_nqn
}

churn()
{
	local n

	for n in $(seq 20); do
		adm_connect && adm_disconnect || { echo "round $n"; return 1; }
	done
}

tap_run "set up" adm_setup || { tap_end; exit 1; }
tap_run "first round" eval 'adm_connect && adm_disconnect' || { tap_end; exit 1; }
before=$(rdma_snapshot)
tap_run "names that are not there" names
tap_run "only allowed hosts" allowed_hosts
tap_run "a host loses its permission" host_taken_away
tap_run "a subsystem that the port does not offer" not_offered
tap_run "queue sizes" queue_size
tap_run "many queues and a short keep-alive" many_queues
tap_run "reset" resets
tap_run "disabled controller" disabled_by_hand
tap_run "keep-alive timeout" keep_alive_expires
tap_run "two controllers of one host" duplicates
tap_run "the subsystem is deleted" subsystem_taken_away
tap_run "connect and disconnect" churn
tap_run "nothing is left" adm_settled "$before"
tap_run "modules unload" adm_teardown
tap_end
