#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The target's side of peer-host.sh.
. "$VM_LIB"

nqn=nqn.2026-11.org.example:smoke
rxe_up && modprobe brd rd_nr=1 rd_size=65536 && intree_target_add $nqn /dev/ram0 $VM_ADDR2 || exit
vm_signal exported
vm_wait done && intree_target_del $nqn && rxe_down
