// SPDX-License-Identifier: GPL-2.0-only
/* 6.6: a dump has a struct genl_info, as a single command has. */
#include <net/genetlink.h>

const struct genl_info *probe(struct netlink_callback *cb)
{
	return genl_info_dump(cb);
}
