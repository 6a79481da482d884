#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A panic: the harness has to call it a failure.
echo c > /proc/sysrq-trigger; sleep 100
