/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long a poll group looks for work before it sleeps: one number, and the modes that users know
 * it by.
 */
#ifndef POL_CORE_MODE_H
#define POL_CORE_MODE_H

#include <linux/limits.h>
#include <linux/types.h>
#include <uapi/linux/pollard.h>

/* Longest time a group may spin without work before it sleeps: spin_us of the modes. */
#define POL_GROUP_SPIN_EVENT		0U
#define POL_GROUP_SPIN_ADAPTIVE		50U		/* microseconds, the default */
#define POL_GROUP_SPIN_MAX		1000000U
#define POL_GROUP_SPIN_BUSY		U32_MAX		/* never sleeps */

/* Return: the enum pollard_mode that goes with a group's spin_us. */
static inline u32 pol_mode_number(u32 spin_us)
{
	switch (spin_us) {
	case POL_GROUP_SPIN_EVENT:
		return POLLARD_MODE_EVENT;
	case POL_GROUP_SPIN_BUSY:
		return POLLARD_MODE_BUSY;
	default:
		return POLLARD_MODE_ADAPTIVE;
	}
}

#endif
