#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A target that lies, under our initiator, which meanwhile does verified I/O with an honest one.
# Arguments: which script, and which of wrong expectations.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 600
# vm-args: target-admin
# vm-args: target-io wrong-target
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

hostile_queue_mb=128 hostile_wrong=$2 hostile_test pollard "$1"
