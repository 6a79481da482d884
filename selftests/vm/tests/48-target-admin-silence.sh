#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The host falls silent: nothing says that it has gone, but no packet comes from it any more. Its
# controller ends when its keep-alive timeout is over and leaves nothing behind, and the host may come back.
#
# vm-kernels: 6.12 6.1
# vm-peer: 48-target-admin-silence-host
# vm-timeout: 180
. "$VM_LIB"

nqn=nqn.2026-11.org.example:silent
. "${VM_LIB%/*}/silence-lib.sh"

silent()
{
	dmesg | grep -q "pollard_target: $nqn: controller 1: host .* was silent for 2000 ms"
}

ended()
{
	wait_for silent && wait_for controllers_are 0 && wait_for rdma_settled "$before" ||
		{ dmesg | tail -n 5; pollard controller show; echo "$before"; rdma_snapshot; return 1; }
}

# The host hears us all the time. One echo request is the sign to go on; it cannot answer that.
returns()
{
	ping -c 1 -W 1 $VM_ADDR2
	vm_wait verified 120
}

tap_run "set up" setup || { tap_end; exit 1; }
tap_run "connect and disconnect" first_connection || { tap_end; exit 1; }
before=$(rdma_snapshot)
tap_run "connect" connected
tap_run "the controller of a silent host ends" ended
tap_run "the host comes back" returns
tap_run "nothing is left" eval 'wait_for controllers_are 0 && wait_for rdma_settled "$before"'
tap_end
