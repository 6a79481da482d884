// SPDX-License-Identifier: GPL-2.0-only
/* The one place where the initiator's tracepoints are defined. */
#define CREATE_TRACE_POINTS
#include "host/trace.h"
