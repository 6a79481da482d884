// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of requests that their policy cannot judge. See attrs.h. */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/netlink.h>
#include <linux/string.h>
#include <net/netlink.h>

#include "core/attrs.h"

/**
 * pol_attrs_required - a request has an attribute
 * @attrs: its attributes
 * @attr: number of the one it has to have
 * @extack: why not
 *
 * Any context. Return: 0 or -EINVAL.
 */
int pol_attrs_required(struct nlattr **attrs, int attr, struct netlink_ext_ack *extack)
{
	if (!NL_REQ_ATTR_CHECK(extack, NULL, attrs, attr))
		return 0;
	NL_SET_ERR_MSG(extack, "an attribute is missing");
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(pol_attrs_required);

/**
 * pol_attrs_none - a dump of everything takes no attribute
 * @attrs: the request's attributes
 * @maxattr: the highest number there can be
 * @extack: why not
 *
 * Any context. Return: 0 or -EINVAL.
 */
int pol_attrs_none(struct nlattr **attrs, int maxattr, struct netlink_ext_ack *extack)
{
	int attr;

	for (attr = 1; attr <= maxattr; attr++) {
		if (!attrs[attr])
			continue;
		NL_SET_ERR_MSG_ATTR(extack, attrs[attr], "a dump takes no attribute");
		return -EINVAL;
	}
	return 0;
}
EXPORT_SYMBOL_GPL(pol_attrs_none);

/**
 * pol_attrs_whole - nothing hides behind the NUL of a string
 * @attr: a string of which the policy has found that it fits
 * @extack: why not
 *
 * Any context. Return: 0 or -EINVAL.
 */
int pol_attrs_whole(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (strlen(nla_data(attr)) + 1 == nla_len(attr))
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "the text goes on after its end");
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(pol_attrs_whole);

/**
 * pol_attrs_text - copy such a string
 * @attr: a string of which the policy has found that it fits
 * @text: where to
 * @size: room at @text, the most that the policy allows and a NUL
 * @extack: why not
 *
 * Any context. Return: 0 or -EINVAL.
 */
int pol_attrs_text(const struct nlattr *attr, char *text, size_t size,
		   struct netlink_ext_ack *extack)
{
	nla_strscpy(text, attr, size);
	return pol_attrs_whole(attr, extack);
}
EXPORT_SYMBOL_GPL(pol_attrs_text);
