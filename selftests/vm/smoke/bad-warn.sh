#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A report in the log of a script that is content: the harness has to call it a failure.
echo "WARNING: CPU: 0 PID: 1 at nowhere" > /dev/kmsg
