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
vm_signal ready || exit 1
while true; do
	wait_for -t 200 test -e /run/signals/silence -o -e /run/signals/done || exit 1
	[ ! -e /run/signals/done ] || exit 0
	vm_wait silence
	vm_signal silent
	# Nobody has this address. (A link that was down leaves soft-RoCE deaf for new connections.)
	ip neigh replace $VM_ADDR1 lladdr 52:54:00:77:00:ff dev "$VM_NETDEV" nud permanent
	sleep 25
	ip neigh del $VM_ADDR1 dev "$VM_NETDEV"
	vm_signal back
done
