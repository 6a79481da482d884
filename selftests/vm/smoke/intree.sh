#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's own target and initiator in one guest: shows that the test bed works before anything
# of ours is blamed.
. "$VM_LIB"

nqn=nqn.2026-11.org.example:smoke

connected_io()
{
	host_connect rdma $nqn -i 2 && fio_verify "$(host_disk $nqn)" 4k 8 && host_disconnect $nqn
}

leaves_nothing()
{
	wait_for rdma_settled "$before" || { echo "before: $before"; echo "after: $(rdma_snapshot)"; false; }
}

tap_run "soft-RoCE comes up" rxe_up || tap_end
modprobe brd rd_nr=1 rd_size=65536
tap_run "target exports a disk" intree_target_add $nqn /dev/ram0
tap_run "connect, verified I/O, disconnect" connected_io
# The device's shared completion queues stay once they are made, so look after the first round.
before=$(rdma_snapshot)
tap_run "the same again" connected_io
tap_run "the second round leaves nothing" leaves_nothing
tap_run "target is removed" intree_target_del $nqn
tap_run "modules unload" modprobe -r nvme-rdma nvmet-rdma
rxe_down
tap_end
