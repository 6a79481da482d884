// SPDX-License-Identifier: GPL-2.0-only
/*
 * The discovery log page: what a host may connect to. An entry for each subsystem that the host is
 * allowed to use and each port that it is offered on, and one for the discovery subsystem itself.
 *
 * The page is made anew for each read, straight into the part of it that was asked for, however
 * large the whole is. A host reads in several commands and compares GENCTR, which changes with
 * every change of what the page shows.
 */
#include <linux/slab.h>
#include <net/ipv6.h>

#include "target/command.h"
#include "target/ctrl.h"
#include "target/queue.h"

/* One read of the page. */
struct polt_discovery_read {
	struct polt_command *command;
	const struct polt_log_request *request;
	const struct polt_ctrl *ctrl;
	u64 records;				/* met so far */
	u16 status;
	union {
		struct nvmf_disc_rsp_page_hdr header;
		struct nvmf_disc_rsp_page_entry entry;
	};
};

/* Put a structure of the page where the host wants it, if it does. */
static void polt_discovery_put(struct polt_discovery_read *read, u64 start, const void *from,
			       u32 len)
{
	struct polt_log_piece piece = polt_log_clip(read->request, start, len);

	if (piece.len && !read->status)
		read->status = polt_command_copy_to(read->command, piece.at, from + piece.skip,
						    piece.len);
}

/*
 * Where to connect to: the port's address, or, where the port listens on all addresses, the one
 * that this host has found already.
 */
static const char *polt_discovery_traddr(const struct polt_discovery_read *read,
					 const struct polt_port *port)
{
	const struct sockaddr_in6 *in6 = (const void *)&port->addr;
	const struct sockaddr_in *in4 = (const void *)&port->addr;
	bool any;

	if (port->addr.ss_family == AF_INET6)
		any = ipv6_addr_any(&in6->sin6_addr);
	else
		any = in4->sin_addr.s_addr == htonl(INADDR_ANY);
	if (any && port->adrfam == read->ctrl->port->adrfam)
		return read->command->queue->local;
	return port->traddr;
}

static void polt_discovery_add(struct polt_discovery_read *read, const struct polt_port *port,
			       const struct polt_subsystem *subsystem)
{
	u64 start = sizeof(read->header) + read->records * sizeof(read->entry);
	struct polt_log_record record = {
		.subtype = subsystem->discovery ? NVME_NQN_CURR : NVME_NQN_NVME,
		.adrfam = port->adrfam,
		.port_id = port->id,
		.admin_depth = POLT_ADMIN_DEPTH_MAX,
		.trsvcid = port->trsvcid,
		.traddr = polt_discovery_traddr(read, port),
		.subnqn = subsystem->nqn,
	};

	read->records++;
	if (!polt_log_clip(read->request, start, sizeof(read->entry)).len)
		return;
	polt_log_discovery_entry(&read->entry, &record);
	polt_discovery_put(read, start, &read->entry, sizeof(read->entry));
}

static void polt_discovery_add_port(struct polt_discovery_read *read, struct polt_port *port)
{
	struct polt_port_link *link;

	lockdep_assert_held(&polt_config_lock);
	if (port->state != POLT_PORT_LISTENING)
		return;
	list_for_each_entry(link, &port->links, port_entry)
		if (polt_subsystem_allows(link->subsystem, read->ctrl->hostnqn))
			polt_discovery_add(read, port, link->subsystem);
}

/**
 * polt_discovery_log - Get Log Page of the discovery log
 * @command: the command, its data all zeroes
 * @request: what it asks for
 *
 * Process context, sleeps; takes polt_config_lock.
 *
 * Return: NVMe status.
 */
u16 polt_discovery_log(struct polt_command *command, const struct polt_log_request *request)
{
	struct polt_ctrl *ctrl = command->queue->ctrl;
	struct polt_discovery_read *read = kzalloc(sizeof(*read), GFP_KERNEL);
	struct polt_port *port;
	u64 generation;
	u16 status;

	if (!read)
		return NVME_SC_INTERNAL;
	read->command = command;
	read->request = request;
	read->ctrl = ctrl;

	mutex_lock(&polt_config_lock);
	/* Changes wait for the lock, so the event is on again before the next one comes. */
	polt_aen_read(ctrl, POLT_EVENT_DISCOVERY, request->retain, NULL);
	generation = polt_config_generation();
	polt_discovery_add(read, ctrl->port, ctrl->subsystem);
	list_for_each_entry(port, &polt_ports, entry)
		polt_discovery_add_port(read, port);
	mutex_unlock(&polt_config_lock);

	polt_log_discovery_header(&read->header, generation, read->records);
	polt_discovery_put(read, 0, &read->header, sizeof(read->header));
	status = read->status;
	kfree(read);
	return status;
}
