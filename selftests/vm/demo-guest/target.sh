#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The demo's first machine: exports /dev/vda until the other one has done its work.
. "$VM_LIB"

nqn=nqn.2026-11.org.example:disk1
show() { echo "target# $*"; "$@"; }

set -e
rxe_up
modprobe pollard-target
show pollard subsystem add $nqn allow-any-host on
show pollard namespace add $nqn device /dev/vda
show pollard port add 1 traddr $VM_ADDR1 trsvcid 4420
show pollard port add-subsystem 1 $nqn
vm_signal exported
vm_wait done 240
show pollard controller show
show pollard latency show
show pollard subsystem del $nqn
show pollard port del 1
modprobe -r pollard-target
