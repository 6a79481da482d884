/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading attributes, and the policies that keep them to their type, length and range. shim_parse()
 * does what generic netlink does before an operation sees its attributes, strictly: see
 * Documentation/userspace-api/netlink of the kernel.
 */
#ifndef SHIM_NET_NETLINK_H
#define SHIM_NET_NETLINK_H

#include <errno.h>
#include <string.h>
#include <linux/netlink.h>
#include <linux/types.h>

enum {
	NLA_UNSPEC,
	NLA_U8,
	NLA_U16,
	NLA_U32,
	NLA_U64,
	NLA_NUL_STRING,
	NLA_BINARY,	/* of exactly that length here */
};

struct netlink_range_validation {
	u64 min;
	u64 max;
};

/* Limits are here as numbers, whichever way they are written. */
struct nla_policy {
	u8 type;
	u16 len;
	u64 min;
	u64 max;
	struct netlink_range_validation *range;
};

#define NLA_POLICY_RANGE(tp, lo, hi)	{ .type = (tp), .min = (lo), .max = (hi) }
#define NLA_POLICY_MIN(tp, lo)		NLA_POLICY_RANGE(tp, lo, ~0ULL)
#define NLA_POLICY_MAX(tp, hi)		NLA_POLICY_RANGE(tp, 0, hi)
#define NLA_POLICY_FULL_RANGE(tp, r)	{ .type = (tp), .range = (r) }
#define NLA_POLICY_EXACT_LEN(n)		{ .type = NLA_BINARY, .len = (n) }

static inline void *nla_data(const struct nlattr *nla)
{
	return (char *)nla + NLA_HDRLEN;
}

static inline int nla_len(const struct nlattr *nla)
{
	return nla->nla_len - NLA_HDRLEN;
}

#define SHIM_NLA_GET(type)						\
static inline type nla_get_##type(const struct nlattr *nla)		\
{									\
	type value;							\
									\
	memcpy(&value, nla_data(nla), sizeof(value));			\
	return value;							\
}

SHIM_NLA_GET(u8)
SHIM_NLA_GET(u16)
SHIM_NLA_GET(u32)
SHIM_NLA_GET(u64)

static inline int nla_memcpy(void *to, const struct nlattr *from, int size)
{
	int len = nla_len(from) < size ? nla_len(from) : size;

	memcpy(to, nla_data(from), len);
	memset((char *)to + len, 0, size - len);
	return len;
}

/* The text up to its NUL, cut to what fits; the rest becomes zeroes. */
static inline ssize_t nla_strscpy(char *to, const struct nlattr *from, size_t size)
{
	size_t len = strnlen(nla_data(from), nla_len(from));
	size_t copied = len < size ? len : size - 1;

	memcpy(to, nla_data(from), copied);
	memset(to + copied, 0, size - copied);
	return copied == len ? (ssize_t)len : -E2BIG;
}

#define NL_REQ_ATTR_CHECK(extack, nest, tb, type)		\
	((tb)[type] ? 0 : ((extack)->miss_type = (type), 1))

static inline int shim_number(const struct nlattr *nla, const struct nla_policy *policy)
{
	static const int width[] = { [NLA_U8] = 1, [NLA_U16] = 2, [NLA_U32] = 4, [NLA_U64] = 8 };
	u64 min = policy->range ? policy->range->min : policy->min;
	u64 max = policy->range ? policy->range->max : policy->max;
	u64 value = 0;

	if (nla_len(nla) != width[policy->type])
		return -EINVAL;
	if (!min && !max)
		return 0;
	memcpy(&value, nla_data(nla), nla_len(nla));	/* little-endian machines only */
	return value < min || value > max ? -ERANGE : 0;
}

static inline int shim_validate(const struct nlattr *nla, const struct nla_policy *policy)
{
	const char *text = nla_data(nla);
	int len = nla_len(nla);

	switch (policy->type) {
	case NLA_NUL_STRING:
		if (!memchr(text, 0, len < policy->len + 1 ? len : policy->len + 1))
			return -EINVAL;
		return len - !text[len - 1] > policy->len ? -ERANGE : 0;
	case NLA_BINARY:
		return len != policy->len ? -ERANGE : 0;
	case NLA_UNSPEC:
		return -EINVAL;
	default:
		return shim_number(nla, policy);
	}
}

/* Return: 0, with the last attribute of each number in attrs[0..maxattr]. */
static inline int shim_parse(struct nlattr **attrs, int maxattr, const struct nla_policy *policy,
			     const void *data, size_t size)
{
	struct nlattr *nla;
	size_t step;
	int type;

	memset(attrs, 0, (maxattr + 1) * sizeof(*attrs));
	for (; size >= NLA_HDRLEN; data = (const char *)data + step, size -= step) {
		nla = (struct nlattr *)data;
		type = nla->nla_type & NLA_TYPE_MASK;
		if (nla->nla_len < NLA_HDRLEN || nla->nla_len > size)
			break;
		step = NLA_ALIGN(nla->nla_len);
		step = step < size ? step : size;
		if (!type || type > maxattr || nla->nla_type & NLA_F_NESTED)
			return -EINVAL;
		if (shim_validate(nla, &policy[type]))
			return -EINVAL;
		attrs[type] = nla;
	}
	return size ? -EINVAL : 0;
}

#endif
