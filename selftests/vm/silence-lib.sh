# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests with a host that is not heard of share: our target in this guest for the host in the other
# one. Set nqn first; source after guest-lib.sh.

controllers_are()
{
	[ "$(pollard controller show subsystem "$nqn" | grep -c '^controller')" = "$1" ]
}

setup()
{
	rxe_up && modprobe pollard-target && pollard subsystem add "$nqn" allow-any-host on &&
	pollard namespace add "$nqn" nsid 1 ram 16M && pollard port add 1 traddr $VM_ADDR1 trsvcid 4420 &&
	pollard port add-subsystem 1 "$nqn"
}

# What the first connection of all leaves in pools is not what is looked for.
first_connection()
{
	vm_signal once && vm_wait over && wait_for controllers_are 0
}

connected()
{
	vm_signal ready && vm_wait connected && controllers_are 1
}
