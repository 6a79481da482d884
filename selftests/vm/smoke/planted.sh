#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# planted.sh FAULT: load the module that does it. The script itself has nothing to complain about.
. "$VM_LIB"

[ "$1" != none ] || exit 0
if [ "$1" = missed-wakeup ]; then
	echo 5 > /proc/sys/kernel/hung_task_timeout_secs
	insmod /pollard/files/planted.ko fault="$1" || exit 2
	wait_for -t 30 eval 'dmesg | grep -q "blocked for more than"' || exit 2
	exit 0
fi
insmod /pollard/files/planted.ko fault="$1" 2>&1 | grep -q 'Resource temporarily unavailable' || exit 2
