/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generic netlink family pollard: poll groups, RDMA devices and latency
 * (Documentation/netlink/specs/pollard.yaml).
 *
 * Events may be reported at any time in process context, also before the family is there and after
 * it has gone; nobody hears them then. They allocate and may sleep.
 */
#ifndef POL_CORE_NETLINK_H
#define POL_CORE_NETLINK_H

#include <linux/types.h>

#include "core/latency.h"

struct pol_device;
struct pol_group;
struct sk_buff;

void pol_netlink_group_changed(unsigned int id);
void pol_netlink_group_gone(const struct pol_group *group);
void pol_netlink_device_changed(struct pol_device *device);
void pol_netlink_device_gone(const struct pol_device *device);

/* fill.c */
int pol_fill_group(struct sk_buff *skb, struct pol_group *group);
size_t pol_fill_device_size(void);
int pol_fill_device(struct sk_buff *skb, struct pol_device *device);
int pol_fill_latency(struct sk_buff *skb, const struct pol_group *group,
		     enum pol_latency_class class, enum pol_latency_stage stage);

int pol_netlink_init(void);
void pol_netlink_exit(void);

#endif
