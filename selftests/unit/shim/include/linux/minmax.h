/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_MINMAX_H
#define SHIM_LINUX_MINMAX_H

/* Comparing the pointers warns, as in the kernel, when the types differ. */
#define shim_pick(a, op, b) __extension__ ({				\
	__typeof__(a) shim_a = (a);					\
	__typeof__(b) shim_b = (b);					\
	(void)(&shim_a == &shim_b);					\
	shim_a op shim_b ? shim_a : shim_b; })

#define min(a, b)		shim_pick(a, <, b)
#define max(a, b)		shim_pick(a, >, b)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp(v, lo, hi) __extension__ ({				\
	__typeof__(v) shim_lo = (lo), shim_hi = (hi), shim_v = (v);	\
	shim_v < shim_lo ? shim_lo : shim_v > shim_hi ? shim_hi : shim_v; })
#define clamp_t(type, v, lo, hi) clamp((type)(v), (type)(lo), (type)(hi))

#endif
