/* SPDX-License-Identifier: GPL-2.0-only */
/* A request to the kernel, as generic netlink hands it on to a family. */
#ifndef FUZZ_ATTRS_H
#define FUZZ_ATTRS_H

#include <stdbool.h>
#include <linux/kernel.h>
#include <net/netlink.h>

#include "fuzz.h"

#define FUZZ_ATTRS_MAX	32

struct fuzz_request {
	char *message;		/* on the heap in its length, aligned as messages are */
	struct nlattr *attrs[FUZZ_ATTRS_MAX];
	struct netlink_ext_ack extack;
};

/* Return: whether the policy lets the attributes through; then free the message. */
static inline bool fuzz_parse(struct fuzz_request *request, const struct nla_policy *policy,
			      int maxattr, const uint8_t *data, size_t size)
{
	memset(&request->extack, 0, sizeof(request->extack));
	request->message = malloc(size ? size : 1);
	memcpy(request->message, data, size);
	if (!shim_parse(request->attrs, maxattr, policy, request->message, size))
		return true;
	free(request->message);
	return false;
}

#define FUZZ_PARSE(request, policy, data, size)	\
	fuzz_parse(request, policy, ARRAY_SIZE(policy) - 1, data, size)

/* A refusal says why, and blames an attribute of the request if any. */
static inline void fuzz_check_refusal(const struct fuzz_request *request, int maxattr)
{
	int attr;

	MUST(request->extack._msg);
	if (!request->extack.bad_attr) {
		attr = request->extack.miss_type;
		MUST(attr >= 1 && attr <= maxattr && !request->attrs[attr]);
		return;
	}
	for (attr = 1; attr <= maxattr; attr++)
		if (request->attrs[attr] == request->extack.bad_attr)
			return;
	MUST(!"the attribute to blame is in the request");
}

/* What was read as text is the attribute, all of it. */
static inline void fuzz_check_text(const struct nlattr *attr, const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	MUST(len < size && nla_len(attr) == (int)len + 1 && !memcmp(nla_data(attr), text, len + 1));
}

#endif
