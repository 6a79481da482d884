#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The targets of 52-host-silence.sh, ours and the kernel's own: fall silent for a while each time they are asked to.
. "$VM_LIB"

nqn=nqn.2026-11.org.example:silent

# The host is still heard. Its word that it has seen enough is a datagram for a port that nobody has.
words()
{
	awk '$1 == "Udp:" { if (col) print $col; for (i = 2; i <= NF; i++) if ($i == "NoPorts") col = i }' /proc/net/snmp
}
heard() { [ "$(words)" -gt "$before" ]; }

# Nobody has this address.
silent()
{
	vm_wait silence
	before=$(words)
	vm_signal silent
	ip neigh replace $VM_ADDR1 lladdr 52:54:00:77:00:ff dev "$VM_NETDEV" nud permanent
	# One that does not say it shall come to its end, too.
	wait_for -t 40 heard
	ip neigh del $VM_ADDR1 dev "$VM_NETDEV"
}

# Nobody is heard, so for some time. Afterwards soft-RoCE hears of no connection until it is made anew: see
# 51-host-recovery.sh. Our port comes back with it, the other one has to be made anew, too.
unplugged()
{
	vm_wait unplug
	vm_signal unplugged
	ip link set "$VM_NETDEV" down && sleep 10 && ip link set "$VM_NETDEV" up && rdma link delete rxe0 && rxe_up || return
	rm $nvmet/ports/2/subsystems/$nqn-in-tree && rmdir $nvmet/ports/2 && intree_export $nqn-in-tree $VM_ADDR2 4421 &&
		wait_for port_listens
}
port_listens() { pollard port show 1 | grep -q 'state listening'; }

asked() { [ -e /run/signals/silence ] || [ -e /run/signals/unplug ] || [ -e /run/signals/done ]; }

modprobe brd rd_nr=2 rd_size=65536 && rxe_up && our_target_add $nqn-ours /dev/ram0 $VM_ADDR2 4420 &&
	intree_target_add $nqn-in-tree /dev/ram1 $VM_ADDR2 4421 && vm_signal ready || exit 1
while true; do
	wait_for -t 200 asked || exit 1
	[ ! -e /run/signals/done ] || break
	if [ -e /run/signals/silence ]; then
		silent
	else
		unplugged || { echo "not back after the link was down"; dmesg | tail -n 20; exit 1; }
	fi
	vm_signal back
done
pollard subsystem del $nqn-ours && pollard port del 1 && wait_for modprobe -r pollard-target &&
	intree_target_del $nqn-in-tree
