#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A script that does not end: the harness has to call it a failure.
echo before; sleep 1000
