/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For headers of tracepoints: pol_assign_str(field, text) in TP_fast_assign() stands for
 * __assign_str(), which lost its second argument in 6.10.
 */
#ifndef POL_COMPAT_TRACE_H
#define POL_COMPAT_TRACE_H

#include "compat/compat_config.h"

#ifdef POL_HAVE_ASSIGN_STR_ONE_ARG
#define pol_assign_str(field, text) __assign_str(field)
#else
#define pol_assign_str(field, text) __assign_str(field, text)
#endif

#endif
