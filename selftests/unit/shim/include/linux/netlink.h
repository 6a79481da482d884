/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes of netlink come from the uapi header; here is why a request was refused. */
#ifndef SHIM_LINUX_NETLINK_H
#define SHIM_LINUX_NETLINK_H

#include <linux/types.h>
#include_next <linux/netlink.h>

struct netlink_ext_ack {
	const char *_msg;
	const struct nlattr *bad_attr;
	u32 miss_type;
};

#define NL_SET_ERR_MSG(extack, msg)	((extack)->_msg = (msg))

#define NL_SET_ERR_MSG_ATTR(extack, attr, msg) do {	\
	(extack)->_msg = (msg);				\
	(extack)->bad_attr = (attr);			\
} while (0)

#endif
