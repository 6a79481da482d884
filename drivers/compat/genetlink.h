/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink, for kernels whose dumps have no struct genl_info (before 6.6). */
#ifndef POL_COMPAT_GENETLINK_H
#define POL_COMPAT_GENETLINK_H

#include <net/genetlink.h>
#include "compat/compat_config.h"

/**
 * pol_compat_dump_attrs - attributes of the request that started a dump
 * @cb: the dump; its family must have parsed them (policy and ->start or ->dumpit in its ops)
 *
 * Return: array indexed by attribute, as info->attrs of a single command.
 */
static inline struct nlattr **pol_compat_dump_attrs(struct netlink_callback *cb)
{
#ifdef POL_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif
