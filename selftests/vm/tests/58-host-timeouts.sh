#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A target that answers everything but one command, under our initiator, which meanwhile does verified
# I/O with an honest one; and requests for connections that are taken for stale.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 450
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

hostile_test pollard target-timeout
