#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Floods, reused identifiers, silence, and every way to leave.
# An honest host goes on meanwhile.
#
# vm-kernels: 6.12
# vm-timeout: 240
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

hostile_queue_mb=128 hostile_test rdma queue
