/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_BUILD_BUG_H
#define SHIM_LINUX_BUILD_BUG_H

#define static_assert(cond)	_Static_assert(cond, #cond)
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), "BUILD_BUG_ON: " #cond)

#endif
