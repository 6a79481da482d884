/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink family pollard-target: configuration by user space, events to it. The contract is
 * Documentation/netlink/specs/pollard-target.yaml.
 */
#ifndef POLT_NETLINK_H
#define POLT_NETLINK_H

#include <net/genetlink.h>

#include "target/config.h"
#include "target/netlink_parse.h"

struct polt_ctrl_info;

/* Events; process context, may sleep. Those of objects under polt_config_lock. */
void polt_netlink_changed(struct polt_object *object);
void polt_netlink_gone(struct polt_object *object);
void polt_netlink_ctrl_changed(const struct polt_ctrl_info *info);
void polt_netlink_ctrl_gone(const struct polt_subsystem *subsystem, u16 cntlid);

int polt_netlink_init(void);
void polt_netlink_exit(void);

/* Between the netlink files. */
extern struct genl_family polt_family;

/* netlink.c */
bool polt_netlink_wanted(void);
void polt_netlink_multicast(struct sk_buff *skb);
void polt_netlink_lost(void);

/* netlink_show.c */
int polt_netlink_get(struct sk_buff *skb, struct genl_info *info);
int polt_netlink_dump_start(struct netlink_callback *cb);
int polt_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* netlink_ctrl.c */
int polt_netlink_ctrl_start(struct netlink_callback *cb);
int polt_netlink_ctrl_dump(struct sk_buff *skb, struct netlink_callback *cb);
int polt_netlink_queue_start(struct netlink_callback *cb);
int polt_netlink_queue_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif
