#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile hosts of all kinds at the same time as an honest one, and what they cost: after the first
# half and after the second, memory is the same. Argument: seconds.
#
# vm-kernels: 6.12
# vm-long: 1800
# vm-timeout: 240
# vm-long-timeout: 2400
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

ms=$((${1:-30} * 500))

# What a host that was killed leaves behind goes when its silence is noticed.
only_honest()
{
	[ "$(pollard controller show | grep -c '^controller target')" = 1 ]
}

tap_run "set up" hostile_setup || tap_end
before=$(rdma_snapshot)
tap_run "an honest host begins" honest_start pollard || tap_end
hostile_peer mixed ms=$ms seed=1
tap_run "only the honest host is left" wait_for -t 40 only_honest || pollard controller show
memory=$(memory_now)
hostile_peer mixed ms=$ms seed=1000
tap_run "the honest host has noticed nothing" honest_end
diag "$(cat /tmp/honest.out)"
tap_run "nobody is left" wait_for -t 40 nobody_left || pollard queue show
tap_run "it took no memory" wait_for -t 20 memory_bounded "$memory" 16384
host_unload pollard
tap_run "RDMA objects are gone" wait_for -t 20 rdma_settled "$before" || rdma_snapshot
tap_run "tear down" hostile_teardown
tap_end
