// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of the family pollard-host: their policies, and what their attributes say. Nothing is
 * owned here, the functions only compute.
 */
#include "core/attrs.h"
#include "host/netlink_parse.h"

#define A_CTRL(name)	POLLARD_HOST_A_CONTROLLER_##name
#define A_QUEUE(name)	POLLARD_HOST_A_QUEUE_##name

const struct nla_policy polh_ctrl_policy[] = {
	[A_CTRL(NAME)] = { .type = NLA_NUL_STRING, .len = POLH_NAME_SIZE - 1 },
};

const struct nla_policy polh_queue_policy[] = {
	[A_QUEUE(CONTROLLER)] = { .type = NLA_NUL_STRING, .len = POLH_NAME_SIZE - 1 },
};

/**
 * polh_parse_ctrl_key() - which controller a request is about
 * @attrs: its attributes, which have passed its policy
 * @name: on success the controller's name, POLH_NAME_SIZE bytes
 * @extack: why not
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int polh_parse_ctrl_key(struct nlattr **attrs, char *name, struct netlink_ext_ack *extack)
{
	int err = pol_attrs_required(attrs, A_CTRL(NAME), extack);

	return err ?: pol_attrs_text(attrs[A_CTRL(NAME)], name, POLH_NAME_SIZE, extack);
}

/**
 * polh_parse_queue_key() - whose queues a dump shall show
 * @attrs: the request's attributes, which have passed its policy
 * @name: POLH_NAME_SIZE bytes, on success the controller's name, if one is given
 * @extack: why not
 *
 * Context: any.
 * Return: 0 when there is no name, 1 when there is, or -EINVAL.
 */
int polh_parse_queue_key(struct nlattr **attrs, char *name, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = attrs[A_QUEUE(CONTROLLER)];

	return attr ? pol_attrs_text(attr, name, POLH_NAME_SIZE, extack) ?: 1 : 0;
}
