// SPDX-License-Identifier: GPL-2.0-only
/* Preprocessed, not compiled: scripts/btf-header reads the result. */
#include "public_headers.h"
