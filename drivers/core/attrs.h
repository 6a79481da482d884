/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all families of generic netlink ask of a request's attributes beyond their policies. Each
 * function says why not: extended acknowledgement, with the attribute to blame.
 *
 * Only computes: compiled as it is by the unit tests and fuzzers.
 */
#ifndef POL_CORE_ATTRS_H
#define POL_CORE_ATTRS_H

#include <linux/types.h>

struct netlink_ext_ack;
struct nlattr;

int pol_attrs_required(struct nlattr **attrs, int attr, struct netlink_ext_ack *extack);
int pol_attrs_none(struct nlattr **attrs, int maxattr, struct netlink_ext_ack *extack);
int pol_attrs_text(const struct nlattr *attr, char *text, size_t size,
		   struct netlink_ext_ack *extack);
int pol_attrs_whole(const struct nlattr *attr, struct netlink_ext_ack *extack);

#endif
