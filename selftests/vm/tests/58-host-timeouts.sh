#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 58-host-timeouts.sh [ROUNDS]: a target that answers everything but one command, under our initiator, which
# meanwhile does verified I/O with an honest one; and requests for connections that are taken for stale.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 450
# vm-long: 20
# vm-long-timeout: 7200
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

hostile_rounds=${1:-1} hostile_test pollard target-timeout
