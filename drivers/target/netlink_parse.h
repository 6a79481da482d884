/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests of the family pollard-target that change something: what may be in them, and from
 * attributes to what is asked for. Looks at nothing but the request and only computes: compiled as
 * it is by the unit tests and fuzzers.
 */
#ifndef POLT_NETLINK_PARSE_H
#define POLT_NETLINK_PARSE_H

#include <linux/netlink.h>
#include <linux/types.h>
#include <linux/uuid.h>
#include <net/netlink.h>
#include <uapi/linux/pollard_target.h>

#include "target/backend.h"
#include "target/limits.h"

#define POLT_TRADDR_SIZE	64	/* the longest address that is taken, and its NUL */

/**
 * struct polt_request - what a request asks for
 * @given: bit N is set when it has attribute N; what it lacks is a default, or 0
 * @nqn: subsystem: the object or its parent
 * @hostnqn: host
 * @allow_any_host: of a subsystem
 * @serial: of a subsystem
 * @model: of a subsystem
 * @cntlid_min: of a subsystem
 * @cntlid_max: of a subsystem
 * @nsid: namespace; 0: the lowest free one
 * @ram_bytes: size of a namespace in memory, a multiple of @block_size; 0: it has a device
 * @block_size: of a namespace in memory, a power of two
 * @uuid: of a namespace
 * @nguid: of a namespace
 * @enabled: of a namespace
 * @shared: of a namespace
 * @read_only: of a namespace
 * @submit: of a namespace
 * @port: number of the port
 * @adrfam: address family that @traddr has to be of, 0: any
 * @trsvcid: of a port
 * @traddr: of a port, not judged
 * @inline_data_size: of a port
 * @max_queue_depth: of a port
 *
 * A device's path stays in the request, where it is known to be whole and absolute.
 */
struct polt_request {
	unsigned long given;

	char nqn[POLT_NQN_SIZE];
	char hostnqn[POLT_NQN_SIZE];

	bool allow_any_host;
	char serial[POLT_SERIAL_SIZE + 1];
	char model[POLT_MODEL_SIZE + 1];
	u16 cntlid_min;
	u16 cntlid_max;

	u32 nsid;
	u64 ram_bytes;
	u32 block_size;
	uuid_t uuid;
	u8 nguid[POLLARD_TARGET_NS_ID_LEN];
	bool enabled;
	bool shared;
	bool read_only;
	enum polt_submit_mode submit;

	u16 port;
	u32 adrfam;
	u16 trsvcid;
	char traddr[POLT_TRADDR_SIZE];
	u32 inline_data_size;
	u16 max_queue_depth;
};

/* Does the request have attribute @attr? */
static inline bool polt_request_has(const struct polt_request *request, unsigned int attr)
{
	return request->given & 1UL << attr;
}

/* Of an attribute that is an NQN; polt_parse_nqn() looks at the rest. */
#define POLT_NQN_POLICY		{ .type = NLA_NUL_STRING, .len = POLT_NQN_MAX }

/* Policies: an attribute that is not listed is refused. */
extern const struct nla_policy polt_subsystem_key_policy[POLLARD_TARGET_A_SUBSYSTEM_NQN + 1];
extern const struct nla_policy polt_subsystem_policy[POLLARD_TARGET_A_SUBSYSTEM_CNTLID_MAX + 1];
extern const struct nla_policy polt_namespace_key_policy[POLLARD_TARGET_A_NAMESPACE_NSID + 1];
extern const struct nla_policy polt_namespace_new_policy[POLLARD_TARGET_A_NAMESPACE_SUBMIT + 1];
extern const struct nla_policy polt_namespace_set_policy[POLLARD_TARGET_A_NAMESPACE_SUBMIT + 1];
extern const struct nla_policy polt_host_policy[POLLARD_TARGET_A_HOST_NQN + 1];
extern const struct nla_policy polt_port_key_policy[POLLARD_TARGET_A_PORT_ID + 1];
extern const struct nla_policy polt_port_new_policy[POLLARD_TARGET_A_PORT_MAX_QUEUE_DEPTH + 1];
extern const struct nla_policy polt_port_set_policy[POLLARD_TARGET_A_PORT_MAX_QUEUE_DEPTH + 1];
extern const struct nla_policy polt_link_policy[POLLARD_TARGET_A_PORT_SUBSYSTEM_SUBSYSTEM + 1];

int polt_parse_nqn(const struct nlattr *attr, char *nqn, struct netlink_ext_ack *extack);
int polt_parse_request(u8 command, struct nlattr **attrs, struct polt_request *request,
		       struct netlink_ext_ack *extack);

#endif
