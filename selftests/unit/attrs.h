/* SPDX-License-Identifier: GPL-2.0-only */
/* A request being written attribute by attribute, and its policy's verdict. */
#ifndef ATTRS_H
#define ATTRS_H

#include <linux/kernel.h>
#include <linux/netlink.h>
#include <net/netlink.h>

static struct {
	u8 bytes[8192];
	size_t len;
	struct nlattr *attrs[32];
	struct netlink_ext_ack extack;
} req;

static void put(u16 type, const void *value, size_t len)
{
	u8 *at = req.bytes + req.len;
	u16 whole = 4 + len;

	memcpy(at, &whole, 2);
	memcpy(at + 2, &type, 2);
	memcpy(at + 4, value, len);
	req.len += (whole + 3) / 4 * 4;
}

static inline void put_text(u16 type, const char *text)
{
	put(type, text, strlen(text) + 1);
}

static inline void put_number(u16 type, u64 value, size_t width)
{
	put(type, &value, width);
}

/* Let the policy judge what was written; the next request begins anew. */
static inline int parse(const struct nla_policy *policy, int maxattr)
{
	int err;

	memset(&req.extack, 0, sizeof(req.extack));
	err = shim_parse(req.attrs, maxattr, policy, req.bytes, req.len);
	memset(req.bytes + req.len, 0xa5, sizeof(req.bytes) - req.len);
	req.len = 0;
	return err;
}

#define PARSE(policy)	parse(policy, ARRAY_SIZE(policy) - 1)

static inline bool blames(u16 type)
{
	return req.extack.bad_attr && req.extack.bad_attr == req.attrs[type];
}

#endif
