#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The kernel's own pair in two guests; run with --peer peer-target.sh.
. "$VM_LIB"

nqn=nqn.2026-11.org.example:smoke

tap_run "soft-RoCE comes up" rxe_up
tap_run "the other guest exports a disk" vm_wait exported
tap_run "connect" host_connect rdma $nqn -a $VM_ADDR2 -i 1
tap_run "verified I/O" fio_verify "$(host_disk $nqn)" 64k 4
tap_run "disconnect" host_disconnect $nqn
vm_signal done
tap_end
