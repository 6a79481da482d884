/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nvme-core as the newest kernel has it, on every supported kernel. What the kernel at hand offers
 * is known from its BTF: BTF_F_<function>, BTF_NARGS_<function> and BTF_M_<struct>__<member> come
 * from the generated header. Included by the initiator's files only.
 */
#ifndef POLH_NVME_COMPAT_H
#define POLH_NVME_COMPAT_H

#include "compat/blk_mq.h"
#include "host/private/nvme_private.h"

/**
 * polh_compat_add_ctrl - make a controller visible
 * @ctrl: controller that nvme_init_ctrl() has initialised
 *
 * When nvme_init_ctrl() fails, the controller is the caller's to free. When this fails, or later
 * anything else, polh_nvme_put() frees it, after nvme_uninit_ctrl() if this had succeeded.
 * nvme_init_ctrl() did both before 6.11.
 */
static inline int polh_compat_add_ctrl(struct nvme_ctrl *ctrl)
{
#ifdef BTF_F_nvme_add_ctrl
	return nvme_add_ctrl(ctrl);
#else
	return 0;
#endif
}

/* Identify, set features, ... of a controller whose admin queue works. */
static inline int polh_compat_init_ctrl_finish(struct nvme_ctrl *ctrl)
{
#if BTF_NARGS_nvme_init_ctrl_finish == 2
	return nvme_init_ctrl_finish(ctrl, false);
#else
	return nvme_init_ctrl_finish(ctrl);
#endif
}

/* nvme-core quiesces I/O while a firmware is being activated. Has no effect otherwise. */
static inline void polh_compat_unquiesce_io(struct nvme_ctrl *ctrl)
{
#ifdef BTF_F_nvme_unquiesce_io_queues
	nvme_unquiesce_io_queues(ctrl);
#else
	nvme_start_queues(ctrl);
#endif
}

/* Stop the admin queue: no ->queue_rq is running or will run. May sleep, may be called twice. */
static inline void polh_compat_quiesce_admin(struct nvme_ctrl *ctrl)
{
#ifdef BTF_F_nvme_quiesce_admin_queue
	nvme_quiesce_admin_queue(ctrl);
#else
	nvme_stop_admin_queue(ctrl);
#endif
}

/* The opposite; may be called without it. */
static inline void polh_compat_unquiesce_admin(struct nvme_ctrl *ctrl)
{
#ifdef BTF_F_nvme_unquiesce_admin_queue
	nvme_unquiesce_admin_queue(ctrl);
#else
	nvme_start_admin_queue(ctrl);
#endif
}

/**
 * polh_compat_disable_ctrl - tell the controller to stop, and wait until it has
 * @ctrl: controller whose admin queue works
 * @shutdown: normal shutdown, else CC.EN = 0 only
 */
static inline int polh_compat_disable_ctrl(struct nvme_ctrl *ctrl, bool shutdown)
{
#if BTF_NARGS_nvme_disable_ctrl == 2
	return nvme_disable_ctrl(ctrl, shutdown);
#else
	return shutdown ? nvme_shutdown_ctrl(ctrl) : nvme_disable_ctrl(ctrl);
#endif
}

#if BTF_NARGS_nvme_wait_freeze_timeout == 2
extern unsigned int nvme_io_timeout;	/* seconds; of each controller from 7.2 on */
#endif

/**
 * polh_compat_wait_freeze - wait until the I/O queues are empty
 * @ctrl: controller with nvme_start_freeze() behind it
 *
 * Return: whether they are, after a command's time-out at most.
 */
static inline bool polh_compat_wait_freeze(struct nvme_ctrl *ctrl)
{
#if BTF_NARGS_nvme_wait_freeze_timeout == 1
	return nvme_wait_freeze_timeout(ctrl) > 0;
#else
	return nvme_wait_freeze_timeout(ctrl, nvme_io_timeout * HZ) > 0;
#endif
}

/**
 * polh_compat_should_reconnect - whether to try again after a failed connect
 * @ctrl: controller
 * @status: what the attempt returned: -errno, or an NVMe status, which may forbid another attempt
 */
static inline bool polh_compat_should_reconnect(struct nvme_ctrl *ctrl, int status)
{
#if BTF_NARGS_nvmf_should_reconnect == 2
	return nvmf_should_reconnect(ctrl, status);
#else
	/* Old kernels leave the status to the transport. */
	return !(status > 0 && (status & POLH_NVME_STATUS_DNR)) && nvmf_should_reconnect(ctrl);
#endif
}

/* A connect has succeeded: forget the failures before it. */
static inline void polh_compat_reconnected(struct nvme_ctrl *ctrl)
{
#ifdef BTF_M_nvme_ctrl__acc_reconnects
	atomic_long_add(ctrl->nr_reconnects, &ctrl->acc_reconnects);
#endif
	ctrl->nr_reconnects = 0;
}

/**
 * polh_compat_check_ready - whether a request may be sent now
 * @ctrl: controller
 * @rq: request
 * @queue_live: its queue is connected
 *
 * If not, ->queue_rq returns what nvme_fail_nonready_command() says.
 */
static inline bool polh_compat_check_ready(struct nvme_ctrl *ctrl, struct request *rq,
					   bool queue_live)
{
	enum nvme_ctrl_state state = polh_nvme_state(ctrl);

	if (likely(state == NVME_CTRL_LIVE))
		return true;
	if (state == NVME_CTRL_DELETING)	/* of fabrics: what is left to do is still sent */
		return queue_live;
#if BTF_NARGS___nvme_check_ready == 4
	return __nvme_check_ready(ctrl, rq, queue_live, state);
#else
	return __nvme_check_ready(ctrl, rq, queue_live);
#endif
}

/* Start a request in ->queue_rq: its time-out runs; multipath counts it. */
static inline void polh_compat_start_request(struct request *rq)
{
#ifdef BTF_F_nvme_mpath_start_request
	if (rq->cmd_flags & REQ_DRV)	/* nvme-core marks requests of a multipath disk so */
		nvme_mpath_start_request(rq);
#endif
	blk_mq_start_request(rq);
}

/* No authentication goes on any more, and what waited for one has returned. */
static inline void polh_compat_stop_auth(struct nvme_ctrl *ctrl)
{
#ifdef BTF_F_nvme_auth_stop
	nvme_auth_stop(ctrl);
#endif
}

/**
 * polh_compat_stop_leftovers - nothing of nvme-core's goes on any more, for good
 * @ctrl: controller that is not live and never will be again, without a connected queue
 *
 * nvme_stop_ctrl() stops most of this, but an attempt to connect that it waits for begins some of
 * it anew, and so does who had found the controller live a moment before; and when the first
 * connect fails nobody calls it. What is still to come would find a controller that has been freed.
 *
 * Context: process context, none of these works. Waits for those that run.
 */
static inline void polh_compat_stop_leftovers(struct nvme_ctrl *ctrl)
{
#ifdef BTF_M_nvme_ctrl__anatt_timer
	/* Runs while an ANA group changes, from when its state was read while connecting. */
	timer_delete_sync(&ctrl->anatt_timer);
	cancel_work_sync(&ctrl->ana_work);
#endif
	/* Each of these only after those that may queue it. */
	cancel_work_sync(&ctrl->fw_act_work);
	cancel_work_sync(&ctrl->scan_work);
	cancel_work_sync(&ctrl->reset_work);
	cancel_work_sync(&ctrl->async_event_work);
	cancel_delayed_work_sync(&ctrl->failfast_work);
}

/**
 * polh_compat_takes_secrets - whether the options ask for nothing that this kernel cannot do
 * @opts: options of nvme connect
 *
 * A kernel without authentication takes the secrets and would connect without using them.
 */
static inline bool polh_compat_takes_secrets(const struct nvmf_ctrl_options *opts)
{
#ifdef BTF_F_nvme_auth_stop
	return true;
#else
	return !(opts->mask & (NVMF_OPT_DHCHAP_SECRET | NVMF_OPT_DHCHAP_CTRL_SECRET));
#endif
}

/*
 * Members of nvme_ctrl_ops that only some kernels have. From 7.2 on a transport has to say which
 * boundary the elements of its scatter lists must not straddle; before, it was this one for all.
 */
#ifdef BTF_M_nvme_ctrl_ops__get_virt_boundary
/* ->get_virt_boundary: a mask. */
static inline unsigned long polh_compat_virt_boundary(struct nvme_ctrl *ctrl, bool is_admin)
{
	return POLH_NVME_PAGE_SIZE - 1;
}
#define POLH_COMPAT_OPS_VIRT_BOUNDARY .get_virt_boundary = polh_compat_virt_boundary,
#else
#define POLH_COMPAT_OPS_VIRT_BOUNDARY
#endif

#ifdef BTF_M_nvme_ctrl_ops__subsystem_reset
#define POLH_COMPAT_OPS_SUBSYSTEM_RESET .subsystem_reset = nvmf_subsystem_reset,
#else
#define POLH_COMPAT_OPS_SUBSYSTEM_RESET
#endif

/* To be written into the initialiser of the transport's nvme_ctrl_ops. */
#define POLH_COMPAT_CTRL_OPS POLH_COMPAT_OPS_VIRT_BOUNDARY POLH_COMPAT_OPS_SUBSYSTEM_RESET

#endif
