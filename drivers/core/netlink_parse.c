// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of the family pollard: their policies, and what their attributes say. A policy keeps
 * attributes to their type, length and range; what goes together is looked at here, without any
 * group or device.
 *
 * Nothing is owned here, the functions only compute.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <rdma/ib_user_verbs.h>

#include "core/attrs.h"
#include "core/mode.h"
#include "core/netlink_parse.h"

#define A_GROUP(name)	POLLARD_A_GROUP_##name
#define A_DEVICE(name)	POLLARD_A_DEVICE_##name
#define A_LATENCY(name)	POLLARD_A_LATENCY_##name

/* Ranges that do not fit into a policy (s16); not const, for kernels whose policies want that. */
static struct netlink_range_validation pol_id_range = {
	.max = POL_GROUP_ID_MAX,
};

static struct netlink_range_validation pol_spin_range = {
	.min = 1,
	.max = POL_GROUP_SPIN_MAX,
};

#define POL_ID_POLICY	NLA_POLICY_FULL_RANGE(NLA_U32, &pol_id_range)
#define POL_SPIN_POLICY	NLA_POLICY_FULL_RANGE(NLA_U32, &pol_spin_range)
#define POL_MODE_POLICY	NLA_POLICY_MAX(NLA_U32, POLLARD_MODE_BUSY)

const struct nla_policy pol_group_key_policy[] = {
	[A_GROUP(ID)] = POL_ID_POLICY,
};

const struct nla_policy pol_group_new_policy[] = {
	[A_GROUP(ID)] = POL_ID_POLICY,
	[A_GROUP(CPU)] = { .type = NLA_U32 },
	[A_GROUP(MODE)] = POL_MODE_POLICY,
	[A_GROUP(SPIN_US)] = POL_SPIN_POLICY,
};

const struct nla_policy pol_group_set_policy[] = {
	[A_GROUP(ID)] = POL_ID_POLICY,
	[A_GROUP(MODE)] = POL_MODE_POLICY,
	[A_GROUP(SPIN_US)] = POL_SPIN_POLICY,
};

const struct nla_policy pol_device_policy[] = {
	[A_DEVICE(NAME)] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
};

const struct nla_policy pol_latency_policy[] = {
	[A_LATENCY(GROUP)] = { .type = NLA_U32 },
};

/**
 * pol_parse_group_key - which group a request is about
 * @attrs: its attributes, which have passed its policy
 * @id: on success the group's number
 * @extack: why not
 *
 * Any context. Return: 0 or -EINVAL.
 */
int pol_parse_group_key(struct nlattr **attrs, u32 *id, struct netlink_ext_ack *extack)
{
	int error = pol_attrs_required(attrs, A_GROUP(ID), extack);

	if (!error)
		*id = nla_get_u32(attrs[A_GROUP(ID)]);
	return error;
}

/**
 * pol_parse_spin - read mode and spin-us of a request
 * @attrs: its attributes, which have passed its policy
 * @spin_us: what the group has now, or the default of a new one; on success what is wanted
 * @extack: why not
 *
 * Any context. Return: 0 or -EINVAL.
 */
int pol_parse_spin(struct nlattr **attrs, u32 *spin_us, struct netlink_ext_ack *extack)
{
	const struct nlattr *mode = attrs[A_GROUP(MODE)];
	const struct nlattr *spin = attrs[A_GROUP(SPIN_US)];
	u32 number = mode ? nla_get_u32(mode) : pol_mode_number(*spin_us);

	if (spin && number != POLLARD_MODE_ADAPTIVE) {
		NL_SET_ERR_MSG_ATTR(extack, spin, "spin-us goes with mode adaptive only");
		return -EINVAL;
	}
	if (spin)
		*spin_us = nla_get_u32(spin);
	else if (!mode)
		return 0;
	else if (number == POLLARD_MODE_EVENT)
		*spin_us = POL_GROUP_SPIN_EVENT;
	else if (number == POLLARD_MODE_BUSY)
		*spin_us = POL_GROUP_SPIN_BUSY;
	else
		*spin_us = POL_GROUP_SPIN_ADAPTIVE;
	return 0;
}

/**
 * pol_parse_group_new - read a request for a new group
 * @attrs: its attributes, which have passed its policy
 * @id: on success the group's number
 * @cpu: on success its CPU, which need not exist; fits an int
 * @spin_us: on success how it shall wait
 * @extack: why not
 *
 * Any context. Return: 0 or -EINVAL.
 */
int pol_parse_group_new(struct nlattr **attrs, u32 *id, u32 *cpu, u32 *spin_us,
			struct netlink_ext_ack *extack)
{
	int error = pol_parse_group_key(attrs, id, extack);

	if (!error)
		error = pol_attrs_required(attrs, A_GROUP(CPU), extack);
	if (error)
		return error;
	*cpu = nla_get_u32(attrs[A_GROUP(CPU)]);
	if (*cpu > S32_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[A_GROUP(CPU)], "no CPU has such a number");
		return -EINVAL;
	}
	*spin_us = POL_GROUP_SPIN_ADAPTIVE;
	return pol_parse_spin(attrs, spin_us, extack);
}

/**
 * pol_parse_device_key - which device a request is about
 * @attrs: its attributes, which have passed its policy
 * @name: on success the device's name, IB_DEVICE_NAME_MAX bytes
 * @extack: why not
 *
 * Any context. Return: 0 or -EINVAL.
 */
int pol_parse_device_key(struct nlattr **attrs, char *name, struct netlink_ext_ack *extack)
{
	int error = pol_attrs_required(attrs, A_DEVICE(NAME), extack);

	return error ?: pol_attrs_text(attrs[A_DEVICE(NAME)], name, IB_DEVICE_NAME_MAX, extack);
}
