#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Who gets a controller of our target and how it ends: names, allowed hosts, queue sizes, reset,
# keep-alive, changes by the administrator.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 240
. "$VM_LIB"
. "${VM_LIB%/*}/target-admin-lib.sh"

try_connect()
{
	nvme connect -t rdma -a $VM_ADDR1 -s 4420 -q $adm_hostnqn -I $adm_hostid -i 1 "$@"
}

names()
{
	local long
	long=nqn.2026-11.org.example:$(printf 'x%.0s' $(seq 200))

	! try_connect -n nqn.2026-11.org.example:nobody && ! try_connect -n "$long" &&
	! try_connect -n ${adm_nqn}x && ! try_connect -n "${adm_nqn%n}" &&
	! try_connect -n ${adm_nqn^^} && adm_no_controllers || return
	dmesg | grep -q 'pollard_target: connect of queue 0 .* status 0x4182, result 0x10100' ||
		{ dmesg | tail -n 20; return 1; }
}

allowed_hosts()
{
	pollard subsystem set $adm_nqn allow-any-host off && ! try_connect -n $adm_nqn &&
	adm_no_controllers && dmesg | grep -q 'status 0x4184' || return
	pollard host add $adm_nqn $adm_hostnqn && adm_connect || return
	# another host's name on the same machine
	! nvme connect -t rdma -a $VM_ADDR1 -n $adm_nqn -q ${adm_hostnqn}f -I ${adm_hostid%1}2 &&
	adm_disconnect
}

# What the initiator had is gone, and comes back when it may; it tries only after a while, because newer
# ones give up at the first refusal.
adm_returns()
{
	wait_for adm_is connecting || { echo "the initiator did not notice"; return 1; }
	"$@" && wait_for adm_is live || { echo "it did not come back"; return 1; }
}

host_taken_away()
{
	adm_connect --ctrl-loss-tmo=2 && pollard host del $adm_nqn $adm_hostnqn &&
	wait_for host_gone $adm_nqn || return
	pollard subsystem set $adm_nqn allow-any-host on || return
	# A host that is on nobody's list leaves when not everybody may come any more.
	adm_connect --reconnect-delay=5 && pollard subsystem set $adm_nqn allow-any-host off &&
	adm_returns pollard subsystem set $adm_nqn allow-any-host on && adm_disconnect
}

not_offered()
{
	pollard port del-subsystem 1 $adm_nqn && ! try_connect -n $adm_nqn || return
	pollard port add-subsystem 1 $adm_nqn && adm_connect --reconnect-delay=5 &&
	pollard port del-subsystem 1 $adm_nqn &&
	adm_returns pollard port add-subsystem 1 $adm_nqn && adm_disconnect
}

queue_size()
{
	local n

	for n in 16 128 1024; do
		adm_connect -Q $n && wait_for host_disk $adm_nqn &&
		fio_verify "$(host_disk $adm_nqn)" 4k 32 --size=2m && adm_disconnect ||
			{ echo "queue size $n"; return 1; }
	done
	# The port's limit is CAP.MQES: a stock initiator keeps to it.
	pollard port set 1 max-queue-depth 32 && adm_connect -Q 128 || return
	n=$(cat /sys/class/nvme/"${adm_ctrl#/dev/}"/sqsize)
	[ "$n" = 31 ] || { echo "sqsize is $n"; return 1; }
	adm_property 0 201e01001f && adm_disconnect && pollard port set 1 max-queue-depth 128
}

# The initiator's Keep Alive commands count: it is not taken for dead in many times its timeout.
# A host that asks to do without flow control is served, with flow control.
no_flow_control()
{
	adm_connect --disable-sqflow && wait_for host_disk $adm_nqn &&
		fio_verify "$(host_disk $adm_nqn)" 4k 32 --size=1m && adm_disconnect
}

many_queues()
{
	adm_trace nvme_setup_cmd || return
	nvme connect -t rdma -a $VM_ADDR1 -n $adm_nqn -q $adm_hostnqn -I $adm_hostid -i 2 -W 2 -P 2 -k 1 ||
		return
	adm_ctrl=/dev/$(host_controllers $adm_nqn)
	pollard controller show subsystem $adm_nqn > /tmp/controllers &&
	grep -q 'kato-ms 1000 .*queues 7' /tmp/controllers || { cat /tmp/controllers; return 1; }
	wait_for adm_traced_least 12 nvme_admin_keep_alive || { echo "no Keep Alive"; return 1; }
	adm_is live && ! dmesg | grep -q 'was silent' || { dmesg | tail -n 5; return 1; }
	adm_trace && adm_disconnect
}

live_again()
{
	adm_is live && [ "$(cat /sys/class/nvme/"${adm_ctrl#/dev/}"/cntlid)" -ge 1 ] && host_disk $adm_nqn
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

# Clearing CC.EN ends the I/O queues, and the initiator begins anew.
disabled_by_hand()
{
	adm_connect --reconnect-delay=5 && nvme set-property "$adm_ctrl" -o 0x14 -v 0 || return
	adm_returns true && wait_for live_again && nvme id-ctrl "$adm_ctrl" >/dev/null && adm_disconnect
}

# held NUMBER: so many commands of hosts are with the target
held()
{
	[ "$(grep -o ' in-use [0-9]*' /sys/kernel/debug/pollard-target/queues)" = " in-use $1" ]
}

# A discovery controller has no I/O queues, so it stays as it is: until the initiator has reset it,
# everything but Fabrics commands is refused. The Asynchronous Event Request it held comes back.
discovery_disabled()
{
	nvme discover -p -t rdma -a $VM_ADDR1 -s 4420 -q $adm_hostnqn -I $adm_hostid >/dev/null || return
	adm_ctrl=/dev/$(host_controllers $adm_disc)
	adm_property 0x1c 1 && wait_for held 1 && nvme set-property "$adm_ctrl" -o 0x14 -v 0 &&
	adm_property 0x1c 0 && wait_for held 0 || { cat /sys/kernel/debug/pollard-target/queues; return 1; }
	adm_refused 0c nvme id-ctrl "$adm_ctrl" && adm_refused 0c nvme get-feature "$adm_ctrl" -f 0xb &&
	nvme reset "$adm_ctrl" && wait_for adm_is live && adm_property 0x1c 1 &&
	nvme id-ctrl "$adm_ctrl" >/dev/null && host_disconnect $adm_disc
}

# Two associations of one host. nvme-cli does not ask the kernel for a second one, whatever one tells it.
duplicates()
{
	local n

	adm_connect || return
	echo "transport=rdma,traddr=$VM_ADDR1,trsvcid=4420,nqn=$adm_nqn,hostnqn=$adm_hostnqn,\
hostid=$adm_hostid,nr_io_queues=1,duplicate_connect" > /dev/nvme-fabrics || return
	n=$(host_controllers $adm_nqn | wc -l)
	[ "$n" = 2 ] || { echo "the initiator has $n"; return 1; }
	n=$(nvme list-ctrl "$adm_ctrl")
	grep -q 'present: 2' <<< "$n" && grep -q '0\]:0x1$' <<< "$n" && grep -q '1\]:0x2$' <<< "$n" ||
		{ echo "$n"; return 1; }
	adm_disconnect
}

subsystem_taken_away()
{
	adm_connect --ctrl-loss-tmo=2 && pollard subsystem del $adm_nqn && wait_for host_gone $adm_nqn || return
	pollard subsystem add $adm_nqn allow-any-host on && pollard namespace add $adm_nqn ram 16M &&
	pollard port add-subsystem 1 $adm_nqn
}

# A discovery controller that stays connected has no subsystem that could be taken away.
port_taken_away()
{
	nvme discover -p -t rdma -a $VM_ADDR1 -s 4420 -q $adm_hostnqn -I $adm_hostid >/dev/null &&
	within 15 pollard port del 1 && host_disconnect $adm_disc &&
	pollard port add 1 traddr $VM_ADDR1 trsvcid 4420 && pollard port add-subsystem 1 $adm_nqn
}

# An admin queue takes less than 1 MiB, with an I/O queue it is more.
memory_of_queues()
{
	local limit=/sys/module/pollard_target/parameters/queue_memory_max_mb

	echo 1 > $limit
	! try_connect -n $adm_nqn && adm_no_controllers || { echo 0 > $limit; return 1; }
	dmesg | grep -q 'port 1: connection from .* rejected: out of RDMA resources' ||
		{ echo 0 > $limit; dmesg | tail -n 5; return 1; }
	echo 4 > $limit
	adm_connect -i 1 && adm_disconnect
	local status=$?
	echo 0 > $limit
	return $status
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
adm_run "names that are not there" names
adm_run "only allowed hosts" allowed_hosts
adm_run "a host loses its permission" host_taken_away
adm_run "a subsystem that the port does not offer" not_offered
adm_run "queue sizes" queue_size
adm_run "a host that wants no flow control" no_flow_control
adm_run "many queues and a short keep-alive" many_queues
adm_run "reset" resets
adm_run "disabled controller" disabled_by_hand
adm_run "disabled discovery controller" discovery_disabled
adm_run "two controllers of one host" duplicates
adm_run "the subsystem is deleted" subsystem_taken_away
adm_run "the port is deleted" port_taken_away
adm_run "no more memory for queues than allowed" memory_of_queues
adm_run "connect and disconnect" churn
tap_run "nothing is left" adm_settled "$before"
tap_run "modules unload" adm_teardown
tap_end
