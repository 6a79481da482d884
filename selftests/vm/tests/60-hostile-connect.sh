#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Connection requests no decent host would send, and connects that stop half way, while an honest host
# goes on. Arguments: rounds of half-way connects (seven each), how many stay open at a time.
#
# vm-kernels: 6.12
# vm-long: 400 200
# vm-timeout: 240
# vm-long-timeout: 3600
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

hostile_srq=1 hostile_test rdma connect rounds="${1:-20}" crowd="${2:-60}"
