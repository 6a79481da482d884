#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A target that lies, under our initiator, which meanwhile does verified I/O with an honest one.
# Argument: which script.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 400
# vm-args: target-admin
# vm-args: target-io
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

hostile_test pollard "$1"
