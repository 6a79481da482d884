#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whose bytes go where: keys that do not fit or are revoked, data that was not sent, memory that is
# not shown to whom it does not belong.
# An honest host goes on meanwhile. Argument: receives are each queue's "own" or "shared".
#
# vm-kernels: 6.12 6.1
# vm-timeout: 240
# vm-args: own
# vm-args: shared
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

hostile_queue_mb=128 hostile_srq=${1#own} hostile_test rdma data
