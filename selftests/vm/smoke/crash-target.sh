#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The guest of crash-host.sh that crashes.
. "$VM_LIB"
. "${0%/*}/noise.sh"

noise $VM_ADDR1 & pid=$!
vm_signal "up-$VM_BOOT" && wait_for -t 100 test -e /run/signals/crash -o -e /run/signals/over || exit
[ -e /run/signals/over ] || vm_crash
kill $pid
