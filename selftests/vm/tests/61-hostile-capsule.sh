#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Command capsules that say something wrong: every field at its limits and beyond.
# An honest host goes on meanwhile.
#
# vm-kernels: 6.12
# vm-timeout: 240
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

hostile_queue_mb=128 hostile_wrong=wrong hostile_srq=1 hostile_test rdma capsule
