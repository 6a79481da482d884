#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The other guest's machine crashes twice, with packets on their way in both directions, and each time it boots again
# and is heard and hears; run with --peer crash-target.sh.
. "$VM_LIB"
. "${0%/*}/noise.sh"

noise $VM_ADDR2 & pid=$!
crash_it() { vm_signal crash && vm_wait up-2; }
tap_run "the other guest is there" vm_wait up-1
tap_run "it crashes and boots again" crash_it
tap_run "it does so once more" crash_it
tap_run "it hears us" vm_signal over
kill $pid
tap_end
