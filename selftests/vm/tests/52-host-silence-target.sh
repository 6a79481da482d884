#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The target of 52-host-silence.sh [ROUNDS [TARGET]]: goes silent for a while each time it is asked to.
. "$VM_LIB"

case $(target_of "$2") in
ours)	add=our_target_add ;;
*)	add=intree_target_add ;;
esac
modprobe brd rd_nr=1 rd_size=131072 && rxe_up && $add nqn.2026-11.org.example:silent /dev/ram0 $VM_ADDR2 || exit 1

# The host is still heard. Its word that it has seen enough is a datagram for a port that nobody has.
words()
{
	awk '$1 == "Udp:" { if (col) print $col; for (i = 2; i <= NF; i++) if ($i == "NoPorts") col = i }' /proc/net/snmp
}
heard() { [ "$(words)" -gt "$before" ]; }

vm_signal ready || exit 1
while true; do
	wait_for -t 200 test -e /run/signals/silence -o -e /run/signals/done || exit 1
	[ ! -e /run/signals/done ] || exit 0
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
