// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous events: a host leaves a few Asynchronous Event Requests with the controller, and one
 * of them completes when something happened that the host wants to know of.
 *
 * An event is reported once; it is masked then until the host has read the log page the event is
 * about (unless it asks to retain it), so that a busy administrator does not flood a host. What
 * happens meanwhile is in the log page anyway. An event that finds no request waits for one.
 *
 * Everything is under the controller's lock. A held request is a command that is executing.
 */
#include "target/command.h"
#include "target/ctrl.h"
#include "target/queue.h"

/* What an event looks like in CDW0 of the completion, and what switches it on. */
static const struct polt_aen {
	u8 type;
	u8 info;
	u8 lid;
	u32 config;
} polt_aens[POLT_EVENTS] = {
	[POLT_EVENT_NAMESPACES] = {
		NVME_AER_NOTICE, NVME_AER_NOTICE_NS_CHANGED, NVME_LOG_CHANGED_NS,
		NVME_AEN_CFG_NS_ATTR,
	},
	[POLT_EVENT_DISCOVERY] = {
		NVME_AER_NOTICE, NVME_AER_NOTICE_DISC_CHANGED, NVME_LOG_DISC,
		NVME_AEN_CFG_DISC_CHANGE,
	},
};

static struct polt_command *polt_aen_take(struct polt_ctrl_events *events, unsigned int index)
{
	struct polt_command *command = events->requests[index];

	events->nr--;
	memmove(&events->requests[index], &events->requests[index + 1],
		(events->nr - index) * sizeof(command));
	return command;
}

/* Report what is pending, as far as there are requests. */
static void polt_aen_deliver(struct polt_ctrl *ctrl)
{
	struct polt_ctrl_events *events = &ctrl->events;
	enum polt_ctrl_event event;

	lockdep_assert_held(&ctrl->lock);
	for (event = 0; event < POLT_EVENTS && events->nr; event++) {
		const struct polt_aen *aen = &polt_aens[event];
		struct polt_command *command;

		if (!(events->pending & BIT(event)))
			continue;
		events->pending &= ~BIT(event);
		events->masked |= BIT(event);
		command = polt_aen_take(events, 0);
		command->cqe->result.u32 = cpu_to_le32(aen->type | aen->info << 8 |
						       aen->lid << 16);
		polt_command_executed(command, NVME_SC_SUCCESS);
	}
}

static void polt_aen_raise(struct polt_ctrl *ctrl, enum polt_ctrl_event event)
{
	lockdep_assert_held(&ctrl->lock);
	/* While it is masked, the host will find in the log page what happened. */
	if ((ctrl->events.masked & BIT(event)) ||
	    !(ctrl->features.async_events & polt_aens[event].config))
		return;
	ctrl->events.pending |= BIT(event);
	polt_aen_deliver(ctrl);
}

/**
 * polt_aen_namespace_changed - a namespace was added, removed or resized
 * @subsystem: its subsystem
 * @nsid: namespace identifier, 1 to POLT_NSID_MAX
 *
 * Process context, under polt_config_lock; sleeps.
 */
void polt_aen_namespace_changed(struct polt_subsystem *subsystem, u32 nsid)
{
	struct polt_ctrl *ctrl;

	mutex_lock(&subsystem->ctrl_lock);
	list_for_each_entry(ctrl, &subsystem->ctrls, entry) {
		mutex_lock(&ctrl->lock);
		ctrl->events.changed[(nsid - 1) / 32] |= BIT((nsid - 1) % 32);
		polt_aen_raise(ctrl, POLT_EVENT_NAMESPACES);
		mutex_unlock(&ctrl->lock);
	}
	mutex_unlock(&subsystem->ctrl_lock);
}

/**
 * polt_aen_discovery_changed - what the discovery log page shows has changed
 *
 * Process context, under polt_config_lock; sleeps.
 */
void polt_aen_discovery_changed(void)
{
	struct polt_ctrl *ctrl;

	mutex_lock(&polt_discovery_subsystem->ctrl_lock);
	list_for_each_entry(ctrl, &polt_discovery_subsystem->ctrls, entry) {
		mutex_lock(&ctrl->lock);
		polt_aen_raise(ctrl, POLT_EVENT_DISCOVERY);
		mutex_unlock(&ctrl->lock);
	}
	mutex_unlock(&polt_discovery_subsystem->ctrl_lock);
}

/**
 * polt_aen_hold - execute Asynchronous Event Request
 * @ctrl: controller of the command
 * @command: the command; kept until there is an event on success
 *
 * Return: NVMe status: the command completes later on success, and is the caller's to end
 * otherwise.
 */
u16 polt_aen_hold(struct polt_ctrl *ctrl, struct polt_command *command)
{
	struct polt_ctrl_events *events = &ctrl->events;
	u16 status = NVME_SC_SUCCESS;

	mutex_lock(&ctrl->lock);
	if (!ctrl->queues[0]) {
		status = NVME_SC_ABORT_QUEUE;
	} else if (!polt_ctrl_ready(ctrl)) {
		status = NVME_SC_CMD_SEQ_ERROR | NVME_STATUS_DNR;
	} else if (events->nr == POLT_EVENTS_MAX) {
		status = NVME_SC_ASYNC_LIMIT | NVME_STATUS_DNR;
	} else {
		events->requests[events->nr++] = command;
		polt_aen_deliver(ctrl);
	}
	mutex_unlock(&ctrl->lock);
	return status;
}

/**
 * polt_aen_abort - abort a held Asynchronous Event Request
 * @ctrl: controller of the command
 * @command_id: as in the command
 *
 * Return: true when there was one; it has completed as aborted.
 */
bool polt_aen_abort(struct polt_ctrl *ctrl, u16 command_id)
{
	struct polt_ctrl_events *events = &ctrl->events;
	struct polt_command *command = NULL;
	unsigned int i;

	mutex_lock(&ctrl->lock);
	for (i = 0; i < events->nr; i++)
		if (events->requests[i]->sqe.common.command_id == command_id) {
			command = polt_aen_take(events, i);
			break;
		}
	mutex_unlock(&ctrl->lock);
	if (command)
		polt_command_executed(command, NVME_SC_ABORT_REQ);
	return command;
}

/**
 * polt_aen_end - complete the requests held, as aborted, and forget events not reported or not read
 * @ctrl: a controller whose admin queue has ended, or which the host has disabled
 *
 * What says in the log page which namespaces have changed stays. Process context, with the
 * controller's lock.
 */
void polt_aen_end(struct polt_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->lock);
	ctrl->events.pending = 0;
	ctrl->events.masked = 0;
	while (ctrl->events.nr)
		polt_command_executed(polt_aen_take(&ctrl->events, 0), NVME_SC_ABORT_QUEUE);
}

/**
 * polt_aen_read - the host reads the log page an event is about
 * @ctrl: its controller
 * @event: the event
 * @retain: the host wants to read it again before it hears of the next event
 * @changed: copy of the changed namespaces, POLT_LOG_CHANGED_WORDS words; NULL for other events
 */
void polt_aen_read(struct polt_ctrl *ctrl, enum polt_ctrl_event event, bool retain, u32 *changed)
{
	struct polt_ctrl_events *events = &ctrl->events;

	mutex_lock(&ctrl->lock);
	if (changed)
		memcpy(changed, events->changed, sizeof(events->changed));
	if (!retain) {
		if (changed)
			memset(events->changed, 0, sizeof(events->changed));
		events->pending &= ~BIT(event);
		events->masked &= ~BIT(event);
	}
	mutex_unlock(&ctrl->lock);
}
