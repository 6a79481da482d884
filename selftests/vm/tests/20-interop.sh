#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# 20-interop.sh TARGET HOST [quick]: one cell of the matrix; each is "ours" or "in-tree".
#
# vm-args: ours ours
# vm-args: ours in-tree
# vm-args: in-tree ours
# vm-args: in-tree in-tree
# vm-sample: ours ours quick
# vm-debug-args: ours ours quick
# vm-debug-args: ours in-tree quick
# vm-debug-args: in-tree ours quick
# vm-timeout: 400
. "$VM_LIB"
. "${VM_LIB%/*}/bench-lib.sh"
. "${VM_LIB%/*}/interop-lib.sh"

target=$1 host=$2 quick=${3:-}
cell="$target target, $host host"
ours=
[ "$target" = ours ] || [ "$host" = ours ] && ours=1

tap_run "$cell: set up" cell_setup || { tap_end; exit 1; }
tap_run "$cell: discovery" cell_discover
tap_run "$cell: wrong input is refused" cell_wrong_input
[ "$target" != ours ] || tap_run "$cell: a host that is not allowed is refused" cell_host_not_allowed
tap_run "$cell: connect" cell_connect
tap_run "$cell: verified I/O, 512 B to 1 MiB, depth 1 to 128" cell_verify
tap_run "$cell: verified I/O of odd sizes" cell_verify_odd
if [ -n "$ours" ]; then
	tap_run "$cell: each mode" cell_modes
	[ -n "$quick" ] || tap_run "$cell: modes change under load" cell_modes_under_load
fi
if [ "$target" = ours ] && [ -z "$quick" ]; then
	tap_run "$cell: port removed under load" cell_survives cell_port_del cell_port_add
	tap_run "$cell: target's module removed under load" cell_survives cell_target_del cell_target_add
	tap_run "$cell: subsystem removed under load" cell_subsystem_removed
	tap_run "$cell: namespace removed under load" cell_namespace_removed
fi
if [ "$target$host" = oursours ] && [ -z "$quick" ]; then
	tap_run "$cell: RDMA device removed under load" cell_survives cell_rxe_del cell_rxe_add
fi
tap_run "$cell: disconnect" cell_disconnect
[ -n "$quick" ] && rounds=10 || rounds=50
tap_run "$cell: connect and disconnect $rounds times" cell_churn $rounds
tap_run "$cell: everything goes, nothing stays" cell_teardown
tap_end
