/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_MATH_H
#define SHIM_LINUX_MATH_H

/* To a multiple of a power of two. */
#define round_up(x, y)	((((x) - 1) | (__typeof__(x))((y) - 1)) + 1)

#endif
