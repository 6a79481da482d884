#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The host of 48-target-admin-silence.sh: connects, falls silent, and goes on when it is told to. It sends
# to an address that nobody has: soft-RoCE's connection manager does not outlive a link that is down.
. "$VM_LIB"

nqn=nqn.2026-11.org.example:silent

state_is()
{
	[ "$(cat "/sys/class/nvme/$ctrl/state")" = "$1" ]
}

echoes()
{
	awk '$1 == "Icmp:" && col { print $col } $1 == "Icmp:" { for (i = 2; i <= NF; i++)
		if ($i == "InEchos") col = i }' /proc/net/snmp
}

echo_came()
{
	[ "$(echoes)" -gt "$before" ]
}

rxe_up && modprobe nvme-rdma && vm_wait once && host_connect rdma $nqn -i 2 && host_disconnect $nqn &&
	vm_signal over && vm_wait ready || exit 1
host_connect rdma $nqn -i 2 -k 2 --reconnect-delay=1 --ctrl-loss-tmo=100 && vm_signal connected || exit 1
ctrl=$(host_controllers $nqn)
before=$(echoes)
ip neigh replace $VM_ADDR1 lladdr 52:54:00:77:00:ff dev "$VM_NETDEV" nud permanent || exit 1
wait_for -t 60 echo_came || { echo "no sign from the target"; exit 1; }
wait_for state_is connecting || { echo "the controller is $(cat "/sys/class/nvme/$ctrl/state")"; exit 1; }
ip neigh del $VM_ADDR1 dev "$VM_NETDEV" && wait_for -t 60 state_is live || { dmesg | tail -n 5; exit 1; }
fio_verify "$(host_disk $nqn)" 4k 8 --size=4m && host_disconnect $nqn && vm_signal verified
