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

modprobe brd rd_nr=2 rd_size=65536 && rxe_up && our_target_add $nqn-ours /dev/ram0 $VM_ADDR2 4420 &&
	intree_target_add $nqn-in-tree /dev/ram1 $VM_ADDR2 4421 && vm_signal ready || exit 1
while true; do
	wait_for -t 200 test -e /run/signals/silence -o -e /run/signals/done || exit 1
	[ ! -e /run/signals/done ] || break
	vm_wait silence
	before=$(words)
	vm_signal silent
	# Nobody has this address. (A link that was down leaves soft-RoCE deaf for new connections.)
	ip neigh replace $VM_ADDR1 lladdr 52:54:00:77:00:ff dev "$VM_NETDEV" nud permanent
	# One that does not say it shall come to its end, too.
	wait_for -t 40 heard
	ip neigh del $VM_ADDR1 dev "$VM_NETDEV"
	vm_signal back
done
pollard subsystem del $nqn-ours && pollard port del 1 && wait_for modprobe -r pollard-target &&
	intree_target_del $nqn-in-tree
