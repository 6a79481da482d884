#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine goes without goodbye, with I/O on its way: the host is paused, the target is paused, the
# host dies. The target frees what the host had when its keep-alive timeout is over, and not before; who
# comes back goes on.
#
# vm-kernels: 6.12 6.1
# vm-peer: 49-peer-gone-host
# vm-timeout: 240
. "$VM_LIB"

nqn=nqn.2026-11.org.example:gone
. "${VM_LIB%/*}/silence-lib.sh"

silences()
{
	dmesg | grep -cE "pollard_target: $nqn: controller [0-9]+: host .* was silent for 2000 ms"
}

silences_are()
{
	[ "$(silences)" = "$1" ]
}

host_paused()
{
	wait_for silences_are 1 && vm_wait resumed 100 && controllers_are 1
}

# When it goes on, the host's silence is longer than allowed, though it was here that nothing was heard.
target_paused()
{
	vm_pause 12 && vm_signal target-resumed && vm_wait back 120 && controllers_are 1
}

host_died()
{
	local before
	before=$(silences)
	vm_signal die && wait_for silences_are $((before + 1)) && wait_for controllers_are 0
}

nothing_left()
{
	[ -z "$(pollard queue show)" ] && wait_for rdma_settled "$before" || { echo "$before"; rdma_snapshot; return 1; }
}

tap_run "set up" setup || { tap_end; exit 1; }
tap_run "connect and disconnect" first_connection || { tap_end; exit 1; }
before=$(rdma_snapshot)
tap_run "connect" connected
tap_run "a host that was paused goes on" host_paused
tap_run "a host goes on when the target was paused" target_paused
tap_run "a host that died is forgotten" host_died
tap_run "nothing is left" nothing_left
tap_run "tear down" eval 'pollard subsystem del $nqn && pollard port del 1 && wait_for modprobe -r pollard-target'
tap_end
