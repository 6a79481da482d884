/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of the family pollard-host: what may be in them, and which controller they are about.
 * Looks at nothing but the request and only computes: compiled as it is by the unit tests and
 * fuzzers.
 */
#ifndef POLH_NETLINK_PARSE_H
#define POLH_NETLINK_PARSE_H

#include <linux/netlink.h>
#include <net/netlink.h>
#include <uapi/linux/pollard_host.h>

#define POLH_NAME_SIZE	32	/* of a controller: nvme and a number */

/* Policies: an attribute that is not listed is refused. */
extern const struct nla_policy polh_ctrl_policy[POLLARD_HOST_A_CONTROLLER_NAME + 1];
extern const struct nla_policy polh_queue_policy[POLLARD_HOST_A_QUEUE_CONTROLLER + 1];

int polh_parse_ctrl_key(struct nlattr **attrs, char *name, struct netlink_ext_ack *extack);
int polh_parse_queue_key(struct nlattr **attrs, char *name, struct netlink_ext_ack *extack);

#endif
