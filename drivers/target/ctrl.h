/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Controllers: what a host's Fabrics Connect on an admin queue creates, and the admin commands.
 *
 * A controller lives while a queue of it lives, its queues hold references. It is found by CNTLID
 * in its subsystem. A dying controller stays in the subsystem's list until its last command has
 * left the disk: the same host's next controller reports CSTS.RDY only when no such controller is
 * left (a write of the old association may not land after a reconnect).
 *
 * Everything here runs in workers (may sleep) unless it says otherwise.
 */
#ifndef POLT_CTRL_H
#define POLT_CTRL_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/inet.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "target/config.h"
#include "target/connect.h"
#include "target/features.h"
#include "target/identify.h"
#include "target/log.h"

struct polt_command;
struct polt_queue;

#define POLT_FIRMWARE		"0.1.0"	/* firmware revision that Identify reports: our version */
#define POLT_DISCOVERY_KATO_MS	120000U	/* of a discovery controller that was given none */
#define POLT_CAP_TO		30U	/* CAP.TO: the longest wait for CSTS.RDY */
#define POLT_CAP_TO_UNIT_MS	500U

/**
 * enum polt_ctrl_state - where a controller is in its life
 * @POLT_CTRL_DISABLED: connected; CC.EN is 0
 * @POLT_CTRL_ENABLING: CC.EN is 1; waits for commands of the host's dead controllers
 * @POLT_CTRL_READY: CSTS.RDY is 1
 * @POLT_CTRL_SHUTDOWN: CSTS.SHST says complete
 * @POLT_CTRL_FAILED: CSTS.CFS is 1; the host may still reset it
 * @POLT_CTRL_DELETING: the association has ended, its queues are ending
 *
 * Numbered as enum pollard_target_controller_state.
 */
enum polt_ctrl_state {
	POLT_CTRL_DISABLED,
	POLT_CTRL_ENABLING,
	POLT_CTRL_READY,
	POLT_CTRL_SHUTDOWN,
	POLT_CTRL_FAILED,
	POLT_CTRL_DELETING,
};

/**
 * enum polt_ctrl_event - events there can be, a bit each in struct polt_ctrl_events
 * @POLT_EVENT_NAMESPACES: Namespace Attribute Changed
 * @POLT_EVENT_DISCOVERY: Discovery Log Page Change
 * @POLT_EVENTS: how many there are
 */
enum polt_ctrl_event {
	POLT_EVENT_NAMESPACES,
	POLT_EVENT_DISCOVERY,
	POLT_EVENTS,
};

/**
 * struct polt_ctrl_events - asynchronous events of a controller
 * @nr: Asynchronous Event Requests held
 * @requests: the commands, oldest first
 * @pending: events that wait for a request
 * @masked: events reported and not read yet: they are not reported again until the host has read
 *	the log page they are about
 * @changed: namespaces changed since the host has read the Changed Namespace List
 */
struct polt_ctrl_events {
	unsigned int nr;
	struct polt_command *requests[POLT_EVENTS_MAX];
	u32 pending;
	u32 masked;
	u32 changed[POLT_LOG_CHANGED_WORDS];
};

/**
 * struct polt_ctrl - a controller
 * @subsystem: whose it is; reference
 * @port: that the host came through; reference
 * @cntlid: its controller ID
 * @depth: entries of an I/O queue, CAP.MQES + 1
 * @inline_size: in-capsule data promised, bytes
 * @created: 64-bit jiffies
 * @hostnqn: the host, NUL-terminated
 * @peer: the host's address
 * @ref: held by queues until their storage half is gone
 * @entry: link in polt_subsystem.ctrls; ctrl_lock
 * @lock: guards what follows, down to @ready_deadline
 * @state: where it is; READ_ONCE without the lock
 * @cc: CC as the host has written it
 * @nr_queues: entries of @queues in use
 * @queues: by QID; queues whose RDMA half is not gone
 * @features: what the host has set
 * @events: asynchronous events
 * @ready_deadline: jiffies: when it fails if it still has to wait to be ready
 * @errors_lock: guards @errors; any context
 * @errors: the error log
 * @aborts: Abort commands that are executing
 * @queue_gone: an entry of @queues was cleared
 * @ready_work: looks again whether it can be ready
 * @alive_work: looks at @alive, once per keep-alive period
 * @release_work: frees it
 * @alive: a command has arrived; groups write it once per keep-alive period, and read it for every
 *	command
 */
struct polt_ctrl {
	/* fixed once made */
	struct polt_subsystem *subsystem;
	struct polt_port *port;
	u16 cntlid;
	u16 depth;
	u32 inline_size;
	u64 created;
	char hostnqn[POLT_NQN_SIZE];
	char peer[INET6_ADDRSTRLEN + 8];

	struct kref ref;
	struct list_head entry;

	/* under lock */
	struct mutex lock;
	enum polt_ctrl_state state;
	u32 cc;
	unsigned int nr_queues;
	struct polt_queue *queues[POLT_IO_QUEUES_MAX + 1];
	struct polt_features features;
	struct polt_ctrl_events events;
	unsigned long ready_deadline;

	spinlock_t errors_lock;
	struct polt_log_errors errors;

	atomic_t aborts;
	wait_queue_head_t queue_gone;
	struct delayed_work ready_work;
	struct delayed_work alive_work;
	struct work_struct release_work;

	bool alive ____cacheline_aligned_in_smp;
};

/**
 * struct polt_ctrl_info - what may be shown of a controller
 * @subsystem: NQN it belongs to is @subsystem->nqn
 * @cntlid: controller identifier
 * @discovery: a discovery controller
 * @state: where it is in its life
 * @hostnqn: NUL-terminated
 * @hostid: first byte first
 * @host_traddr: the host's address as text
 * @port_id: port the host came through
 * @kato_ms: keep-alive timeout, 0 is none
 * @queues: queues whose RDMA half is there, the admin queue too
 * @age_ms: time since Connect
 */
struct polt_ctrl_info {
	const struct polt_subsystem *subsystem;
	u16 cntlid;
	bool discovery;
	enum polt_ctrl_state state;
	const char *hostnqn;
	uuid_t hostid;
	const char *host_traddr;
	u16 port_id;
	u32 kato_ms;
	unsigned int queues;
	u64 age_ms;
};

/* ctrl.c, for queue.c */
void polt_ctrl_put(struct polt_ctrl *ctrl);
void polt_ctrl_queue_ends(struct polt_ctrl *ctrl, struct polt_queue *queue);
void polt_ctrl_queue_gone(struct polt_ctrl *ctrl, struct polt_queue *queue);

/* Any context: a command arrived, the host lives (traffic-based keep-alive). */
static inline void polt_ctrl_alive(struct polt_ctrl *ctrl)
{
	if (!READ_ONCE(ctrl->alive))
		WRITE_ONCE(ctrl->alive, true);
}

/* Any context: the subsystem the controller belongs to; stays as long as the controller. */
static inline struct polt_subsystem *polt_ctrl_subsystem(const struct polt_ctrl *ctrl)
{
	return ctrl->subsystem;
}

/* Thread: is the controller enabled and ready for I/O? */
static inline bool polt_ctrl_ready(const struct polt_ctrl *ctrl)
{
	return READ_ONCE(ctrl->state) == POLT_CTRL_READY;
}

/* for command.c; any context */
void polt_ctrl_log_error(struct polt_ctrl *ctrl, u16 qid, const struct nvme_command *sqe,
			 u16 status);

/* For what is configured. Process context; they take ctrl_lock. */
void polt_ctrl_fail_subsystem(struct polt_subsystem *subsystem);
void polt_ctrl_fail_host(struct polt_subsystem *subsystem, const char *hostnqn);
void polt_ctrl_fail_port(struct polt_port *port, struct polt_subsystem *subsystem);
bool polt_ctrl_any(struct polt_subsystem *subsystem, const char *hostnqn, struct polt_port *port);
int polt_ctrl_for_each(struct polt_subsystem *subsystem,
		       int (*visit)(const struct polt_ctrl_info *info, void *arg), void *arg);

/* For fabrics.c and admin.c, worker. Statuses as in NVMe; @result is CDW0 of the response. */
u16 polt_ctrl_create(struct polt_queue *queue, const struct polt_connect_request *request,
		     u32 *result);
u16 polt_ctrl_join(struct polt_queue *queue, const struct polt_connect_request *request,
		   u32 *result);
u64 polt_ctrl_cap(const struct polt_ctrl *ctrl);
u32 polt_ctrl_csts(const struct polt_ctrl *ctrl);
void polt_ctrl_write_cc(struct polt_ctrl *ctrl, u32 cc);
void polt_ctrl_restart_alive(struct polt_ctrl *ctrl);

/* aen.c. Process context; the first two under polt_config_lock */
void polt_aen_namespace_changed(struct polt_subsystem *subsystem, u32 nsid);
void polt_aen_discovery_changed(void);
u16 polt_aen_hold(struct polt_ctrl *ctrl, struct polt_command *command);
bool polt_aen_abort(struct polt_ctrl *ctrl, u16 command_id);
void polt_aen_end(struct polt_ctrl *ctrl);
void polt_aen_read(struct polt_ctrl *ctrl, enum polt_ctrl_event event, bool retain, u32 *changed);

/* discovery.c */
u16 polt_discovery_log(struct polt_command *command, const struct polt_log_request *request);

/* fabrics.c, admin.c - worker; they end the command with polt_command_executed() */
void polt_fabrics_execute(struct polt_command *command);
void polt_admin_execute(struct polt_command *command);

int polt_ctrls_init(void);
void polt_ctrls_exit(void);

#endif
