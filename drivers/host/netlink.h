/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generic netlink family pollard-host: controllers and queues to look at
 * (Documentation/netlink/specs/pollard-host.yaml). Events may be reported at any time in process
 * context; nobody hears them while the family is not there.
 */
#ifndef POLH_NETLINK_H
#define POLH_NETLINK_H

struct polh_ctrl;

void polh_netlink_changed(struct polh_ctrl *ctrl);
void polh_netlink_gone(const struct polh_ctrl *ctrl);

int polh_netlink_init(void);
void polh_netlink_exit(void);

#endif
