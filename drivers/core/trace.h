/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of the core: life of poll groups, and posts that devices refused.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pollard

#if !defined(POL_CORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define POL_CORE_TRACE_H

#include <linux/tracepoint.h>

#include "core/group.h"

TRACE_DEFINE_ENUM(POL_GROUP_NEW);
TRACE_DEFINE_ENUM(POL_GROUP_RUNNING);
TRACE_DEFINE_ENUM(POL_GROUP_STOPPING);
TRACE_DEFINE_ENUM(POL_GROUP_GONE);

#define pol_trace_group_state(state)			\
	__print_symbolic(state,				\
			 { POL_GROUP_NEW, "new" },	\
			 { POL_GROUP_RUNNING, "running" },	\
			 { POL_GROUP_STOPPING, "stopping" },	\
			 { POL_GROUP_GONE, "gone" })

TRACE_EVENT(pol_group_state,
	TP_PROTO(unsigned int id, int from, int to),
	TP_ARGS(id, from, to),
	TP_STRUCT__entry(
		__field(unsigned int, id)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->from = from;
		__entry->to = to;
	),
	TP_printk("group %u: %s -> %s", __entry->id, pol_trace_group_state(__entry->from),
		  pol_trace_group_state(__entry->to))
);

TRACE_EVENT(pol_sendq_failed,
	TP_PROTO(unsigned int id, u32 qp_num, int error),
	TP_ARGS(id, qp_num, error),
	TP_STRUCT__entry(
		__field(unsigned int, id)
		__field(u32, qp_num)
		__field(int, error)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->qp_num = qp_num;
		__entry->error = error;
	),
	TP_printk("group %u: queue pair %u: post refused: %d", __entry->id, __entry->qp_num,
		  __entry->error)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
