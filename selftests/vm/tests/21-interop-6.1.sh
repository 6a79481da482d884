#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every cell of the matrix with ours in it once more, shorter, on the oldest kernel.
#
# vm-kernels: 6.1
# vm-args: ours ours quick
# vm-args: ours in-tree quick
# vm-args: in-tree ours quick
# vm-timeout: 300
exec "${0%/*}/20-interop.sh" "$@"
