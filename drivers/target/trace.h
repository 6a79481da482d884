/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the target: connections, the life of controllers and queues, slow commands.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pollard_target

#if !defined(POLT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define POLT_TRACE_H

#include <linux/tracepoint.h>

#include "compat/trace.h"
#include "target/command.h"
#include "target/ctrl.h"

TRACE_DEFINE_ENUM(POLT_QUEUE_CONNECTING);
TRACE_DEFINE_ENUM(POLT_QUEUE_LIVE);
TRACE_DEFINE_ENUM(POLT_QUEUE_FAILED);
TRACE_DEFINE_ENUM(POLT_QUEUE_DRAINING);
TRACE_DEFINE_ENUM(POLT_QUEUE_DEAD);

#define polt_trace_queue_state(state)					\
	__print_symbolic(state,						\
			 { POLT_QUEUE_CONNECTING, "connecting" },	\
			 { POLT_QUEUE_LIVE, "live" },			\
			 { POLT_QUEUE_FAILED, "failed" },		\
			 { POLT_QUEUE_DRAINING, "draining" },		\
			 { POLT_QUEUE_DEAD, "dead" })

TRACE_DEFINE_ENUM(POLT_CTRL_DISABLED);
TRACE_DEFINE_ENUM(POLT_CTRL_ENABLING);
TRACE_DEFINE_ENUM(POLT_CTRL_READY);
TRACE_DEFINE_ENUM(POLT_CTRL_SHUTDOWN);
TRACE_DEFINE_ENUM(POLT_CTRL_FAILED);
TRACE_DEFINE_ENUM(POLT_CTRL_DELETING);

#define polt_trace_ctrl_state(state)					\
	__print_symbolic(state,						\
			 { POLT_CTRL_DISABLED, "disabled" },		\
			 { POLT_CTRL_ENABLING, "enabling" },		\
			 { POLT_CTRL_READY, "ready" },			\
			 { POLT_CTRL_SHUTDOWN, "shutdown" },		\
			 { POLT_CTRL_FAILED, "failed" },		\
			 { POLT_CTRL_DELETING, "deleting" })

TRACE_EVENT(polt_ctrl_state,
	TP_PROTO(const struct polt_ctrl *ctrl, int from, int to),
	TP_ARGS(ctrl, from, to),
	TP_STRUCT__entry(
		__string(nqn, ctrl->subsystem->nqn)
		__field(u16, cntlid)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		pol_assign_str(nqn, ctrl->subsystem->nqn);
		__entry->cntlid = ctrl->cntlid;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("%s: controller %u: %s -> %s", __get_str(nqn), __entry->cntlid,
		  polt_trace_ctrl_state(__entry->from), polt_trace_ctrl_state(__entry->to))
);

TRACE_EVENT(polt_connect,
	TP_PROTO(u16 port, u16 qid, u16 depth, int status),
	TP_ARGS(port, qid, depth, status),
	TP_STRUCT__entry(
		__field(u16, port)
		__field(u16, qid)
		__field(u16, depth)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->port = port;
		__entry->qid = qid;
		__entry->depth = depth;
		__entry->status = status;
	),
	TP_printk("port %u: queue %u depth %u status %d", __entry->port, __entry->qid,
		  __entry->depth, __entry->status)
);

TRACE_EVENT(polt_queue_state,
	TP_PROTO(const struct polt_queue *queue, int from, int to),
	TP_ARGS(queue, from, to),
	TP_STRUCT__entry(
		__field(u32, qp_num)
		__field(u16, qid)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->qp_num = queue->qp_num;
		__entry->qid = queue->qid;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("queue %u (queue pair %u): %s -> %s", __entry->qid, __entry->qp_num,
		  polt_trace_queue_state(__entry->from), polt_trace_queue_state(__entry->to))
);

TRACE_EVENT(polt_queue_end,
	TP_PROTO(const struct polt_queue *queue, const char *why),
	TP_ARGS(queue, why),
	TP_STRUCT__entry(
		__field(u32, qp_num)
		__field(u16, qid)
		__string(why, why)
	),
	TP_fast_assign(
		__entry->qp_num = queue->qp_num;
		__entry->qid = queue->qid;
		pol_assign_str(why, why);
	),
	TP_printk("queue %u (queue pair %u): %s", __entry->qid, __entry->qp_num, __get_str(why))
);

TRACE_EVENT(polt_command_slow,
	TP_PROTO(const struct polt_command *command, u64 ns),
	TP_ARGS(command, ns),
	TP_STRUCT__entry(
		__field(u32, qp_num)
		__field(u16, qid)
		__field(u16, command_id)
		__field(u8, opcode)
		__field(u16, status)
		__field(u32, len)
		__field(u64, ns)
	),
	TP_fast_assign(
		__entry->qp_num = command->queue->qp_num;
		__entry->qid = command->queue->qid;
		__entry->command_id = command->sqe.common.command_id;
		__entry->opcode = command->sqe.common.opcode;
		__entry->status = command->status;
		__entry->len = command->data_len;
		__entry->ns = ns;
	),
	TP_printk("queue %u (queue pair %u): command %u opcode %#x status %#x %u bytes: %llu ns",
		  __entry->qid, __entry->qp_num, __entry->command_id, __entry->opcode,
		  __entry->status, __entry->len, __entry->ns)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH target
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
