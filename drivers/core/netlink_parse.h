/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of the family pollard: what may be in them, and from attributes to what is asked for.
 * Looks at nothing but the request and only computes: compiled as it is by the unit tests and
 * fuzzers.
 */
#ifndef POL_CORE_NETLINK_PARSE_H
#define POL_CORE_NETLINK_PARSE_H

#include <linux/netlink.h>
#include <linux/types.h>
#include <net/netlink.h>
#include <uapi/linux/pollard.h>

#define POL_GROUP_ID_MAX	65535U	/* a group's highest number */

/* Policies: an attribute that is not listed is refused. */
extern const struct nla_policy pol_group_key_policy[POLLARD_A_GROUP_ID + 1];
extern const struct nla_policy pol_group_new_policy[POLLARD_A_GROUP_SPIN_US + 1];
extern const struct nla_policy pol_group_set_policy[POLLARD_A_GROUP_SPIN_US + 1];
extern const struct nla_policy pol_device_policy[POLLARD_A_DEVICE_NAME + 1];
extern const struct nla_policy pol_latency_policy[POLLARD_A_LATENCY_GROUP + 1];

int pol_parse_group_key(struct nlattr **attrs, u32 *id, struct netlink_ext_ack *extack);
int pol_parse_group_new(struct nlattr **attrs, u32 *id, u32 *cpu, u32 *spin_us,
			struct netlink_ext_ack *extack);
int pol_parse_spin(struct nlattr **attrs, u32 *spin_us, struct netlink_ext_ack *extack);
int pol_parse_device_key(struct nlattr **attrs, char *name, struct netlink_ext_ack *extack);

#endif
