/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Controllers: what a host's Fabrics Connect on an admin queue creates, and the admin commands.
 *
 * A controller lives while a queue of it lives, its queues hold references. It is found by CNTLID in
 * its subsystem. A dying controller stays in the subsystem's list until its last command has left
 * the disk: the same host's next controller reports CSTS.RDY only when no such controller is left
 * (a write of the old association may not land after a reconnect).
 *
 * Everything here runs in workers (may sleep) unless it says "thread".
 */
#ifndef POLT_CTRL_H
#define POLT_CTRL_H

#include "target/config.h"

struct polt_command;
struct polt_queue;
struct polt_ctrl;

/* ctrl.c */
void polt_ctrl_get(struct polt_ctrl *ctrl);
void polt_ctrl_put(struct polt_ctrl *ctrl);
/* queue.c, worker: the queue has ended (no QP any more), forget it; held AERs complete first */
void polt_ctrl_queue_gone(struct polt_ctrl *ctrl, struct polt_queue *queue);
/* any context: a command arrived, the host lives (traffic-based keep-alive) */
void polt_ctrl_alive(struct polt_ctrl *ctrl);
/* any context: the subsystem it belongs to; as long as the controller */
struct polt_subsystem *polt_ctrl_subsystem(const struct polt_ctrl *ctrl);
/* thread: is the controller enabled and ready for I/O? */
bool polt_ctrl_ready(const struct polt_ctrl *ctrl);
/* process context: fail every queue of every controller that matches; NULLs match all. They only
 * mark, whoever calls holds polt_config_lock; ctrl_lock is theirs to take */
void polt_ctrl_fail_subsystem(struct polt_subsystem *subsystem);
void polt_ctrl_fail_host(struct polt_subsystem *subsystem, const char *hostnqn);
void polt_ctrl_fail_port(struct polt_port *port, struct polt_subsystem *subsystem);
/*
 * process context: is there a controller that matches (NULLs match all) with a queue whose RDMA half
 * is not gone? When the last queue of a controller goes, ctrl.c calls polt_config_reap().
 */
bool polt_ctrl_any(struct polt_subsystem *subsystem, const char *hostnqn, struct polt_port *port);
/* aen.c, under polt_config_lock: namespace nsid was added, removed or resized; discovery log changed. May sleep */
void polt_aen_namespace_changed(struct polt_subsystem *subsystem, u32 nsid);
void polt_aen_discovery_changed(void);

/* fabrics.c, admin.c - worker; they end the command with polt_command_executed() */
void polt_fabrics_execute(struct polt_command *command);
void polt_admin_execute(struct polt_command *command);

/*
 * admin.c - thread, only computes: bytes of data an admin or Fabrics command (on any queue) must
 * carry, from the SQE alone. What comes back not 0 is the response.
 */
u16 polt_admin_data_len(const struct polt_queue *queue, const struct nvme_command *sqe, u32 *len);

int polt_ctrls_init(void);
void polt_ctrls_exit(void);

#endif
