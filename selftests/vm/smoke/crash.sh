#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# crash.sh [panic]: the machine crashes and boots again, knows it, and finds on its disk what it has written. After
# that a panic is the end, as ever.
. "$VM_LIB"

case $VM_BOOT in
1)	echo written | dd of=/dev/vda bs=512 conv=sync,fsync && vm_crash ;;
2)	read -r found < /dev/vda && [ "$found" = written ] || exit
	[ "${1:-}" != panic ] || { sleep 1; echo c > /proc/sysrq-trigger; sleep 100; } ;;
*)	exit 1 ;;
esac
