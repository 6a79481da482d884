#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A host comes back while a write that it gave before is still in the target's disk. It would repeat
# that write, and write something newer after it: the old one must not come last.
#
# vm-kernels: 6.12 6.1
# vm-timeout: 120
. "$VM_LIB"
. "${VM_LIB%/*}/hostile-lib.sh"

setup()
{
	rxe_up && null_disk slow poll_queues=0 irqmode=2 completion_nsec=2000000000 && our_target_add $hostile_nqn /dev/slow
}

tap_run "set up" setup || { tap_end; exit 1; }
peer slow
tap_run "nobody is left" wait_for -t 40 nobody_left || pollard queue show
tap_run "unload" modprobe -r pollard-target
tap_end
