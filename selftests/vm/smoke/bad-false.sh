#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A script that fails: the harness has to call it a failure.
exit 3
