/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the initiator: the life of controllers and of their queues' connections.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pollard_host

#if !defined(POLH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define POLH_TRACE_H

#include <linux/tracepoint.h>

#include "compat/trace.h"
#include "host/host.h"

TRACE_DEFINE_ENUM(NVME_CTRL_NEW);
TRACE_DEFINE_ENUM(NVME_CTRL_LIVE);
TRACE_DEFINE_ENUM(NVME_CTRL_RESETTING);
TRACE_DEFINE_ENUM(NVME_CTRL_CONNECTING);
TRACE_DEFINE_ENUM(NVME_CTRL_DELETING);
TRACE_DEFINE_ENUM(NVME_CTRL_DELETING_NOIO);
TRACE_DEFINE_ENUM(NVME_CTRL_DEAD);

#define polh_trace_ctrl_state(state)					\
	__print_symbolic(state,						\
			 { NVME_CTRL_NEW, "new" },			\
			 { NVME_CTRL_LIVE, "live" },			\
			 { NVME_CTRL_RESETTING, "resetting" },		\
			 { NVME_CTRL_CONNECTING, "connecting" },	\
			 { NVME_CTRL_DELETING, "deleting" },		\
			 { NVME_CTRL_DELETING_NOIO, "deleting" },	\
			 { NVME_CTRL_DEAD, "dead" })

TRACE_DEFINE_ENUM(POLH_CM_IDLE);
TRACE_DEFINE_ENUM(POLH_CM_ADDRESS);
TRACE_DEFINE_ENUM(POLH_CM_ROUTE);
TRACE_DEFINE_ENUM(POLH_CM_ESTABLISHED);

#define polh_trace_cm_phase(phase)					\
	__print_symbolic(phase,						\
			 { POLH_CM_IDLE, "idle" },			\
			 { POLH_CM_ADDRESS, "address resolved" },	\
			 { POLH_CM_ROUTE, "route resolved" },		\
			 { POLH_CM_ESTABLISHED, "established" })

TRACE_EVENT(polh_ctrl_state,
	TP_PROTO(struct polh_ctrl *ctrl),
	TP_ARGS(ctrl),
	TP_STRUCT__entry(
		__field(int, instance)
		__field(int, state)
	),
	TP_fast_assign(
		__entry->instance = ctrl->nvme.instance;
		__entry->state = polh_nvme_state(&ctrl->nvme);
	),
	TP_printk("nvme%d: %s", __entry->instance, polh_trace_ctrl_state(__entry->state))
);

TRACE_EVENT(polh_ctrl_reconnect,
	TP_PROTO(const struct polh_ctrl *ctrl, int status),
	TP_ARGS(ctrl, status),
	TP_STRUCT__entry(
		__field(int, instance)
		__field(int, attempt)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->instance = ctrl->nvme.instance;
		__entry->attempt = ctrl->nvme.nr_reconnects;
		__entry->status = status;
	),
	TP_printk("nvme%d: failures %d status %d", __entry->instance, __entry->attempt,
		  __entry->status)
);

TRACE_EVENT(polh_queue_cm,
	TP_PROTO(const struct polh_queue *queue, int phase, int error),
	TP_ARGS(queue, phase, error),
	TP_STRUCT__entry(
		__field(int, instance)
		__field(u16, qid)
		__field(int, from)
		__field(int, to)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->instance = queue->ctrl->nvme.instance;
		__entry->qid = queue->qid;
		__entry->from = queue->cm_phase;
		__entry->to = error ? queue->cm_phase : phase;
		__entry->error = error;
	),
	TP_printk("nvme%d queue %u: %s -> %s error %d", __entry->instance, __entry->qid,
		  polh_trace_cm_phase(__entry->from), polh_trace_cm_phase(__entry->to),
		  __entry->error)
);

TRACE_EVENT(polh_queue_connect,
	TP_PROTO(const struct polh_queue *queue, int status),
	TP_ARGS(queue, status),
	TP_STRUCT__entry(
		__field(int, instance)
		__field(u16, qid)
		__field(u32, depth)
		__field(u32, granted)
		__field(u32, copy_max)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->instance = queue->ctrl->nvme.instance;
		__entry->qid = queue->qid;
		__entry->depth = queue->nr_tags;
		__entry->granted = queue->granted;
		__entry->copy_max = queue->copy_max;
		__entry->status = status;
	),
	TP_printk("nvme%d queue %u: depth %u granted %u copy_max %u status %d", __entry->instance,
		  __entry->qid, __entry->depth, __entry->granted, __entry->copy_max,
		  __entry->status)
);

TRACE_EVENT(polh_queue_rejected,
	TP_PROTO(const struct polh_queue *queue, int reason, int status),
	TP_ARGS(queue, reason, status),
	TP_STRUCT__entry(
		__field(int, instance)
		__field(u16, qid)
		__field(int, reason)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->instance = queue->ctrl->nvme.instance;
		__entry->qid = queue->qid;
		__entry->reason = reason;
		__entry->status = status;
	),
	TP_printk("nvme%d queue %u: reason %d status %d", __entry->instance, __entry->qid,
		  __entry->reason, __entry->status)
);

TRACE_EVENT(polh_queue_fail,
	TP_PROTO(const struct polh_queue *queue, const char *why, int detail),
	TP_ARGS(queue, why, detail),
	TP_STRUCT__entry(
		__field(int, instance)
		__field(u16, qid)
		__string(why, why)
		__field(int, detail)
	),
	TP_fast_assign(
		__entry->instance = queue->ctrl->nvme.instance;
		__entry->qid = queue->qid;
		pol_assign_str(why, why);
		__entry->detail = detail;
	),
	TP_printk("nvme%d queue %u: %s (%d)", __entry->instance, __entry->qid, __get_str(why),
		  __entry->detail)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
