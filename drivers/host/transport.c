// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name under which nvme-fabrics knows this transport, and the options it takes.
 *
 * The name is pollard, or rdma for tools that know the standard's names only: these take it from
 * the entries of a discovery log. nvme-fabrics does not look whether a name is taken, the first one
 * registered gets the connections; and for each connection it asks modprobe for nvme-NAME. So with
 * the name rdma nvme-rdma has to be kept out: it is refused to share the name, and said how.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/string.h>

#include "host/host.h"

#define POLH_NAME_OWN		"pollard"
#define POLH_NAME_STANDARD	"rdma"
#define POLH_RIVAL		"nvme_rdma"

static char *transport = POLH_NAME_OWN;
module_param(transport, charp, 0444);
MODULE_PARM_DESC(transport, "transport type to register: pollard (default), or rdma to take the place of nvme-rdma");

static struct nvmf_transport_ops polh_transport_ops = {
	.module		= THIS_MODULE,
	.required_opts	= NVMF_OPT_TRADDR,
	.allowed_opts	= NVMF_OPT_TRSVCID | NVMF_OPT_RECONNECT_DELAY | NVMF_OPT_HOST_TRADDR |
			  NVMF_OPT_CTRL_LOSS_TMO | NVMF_OPT_NR_WRITE_QUEUES |
			  NVMF_OPT_NR_POLL_QUEUES | NVMF_OPT_TOS,
	.create_ctrl	= polh_ctrl_create,
};

/* Every module that is loaded has an object beside ours, whatever it registered. */
static bool polh_transport_rival_is_there(void)
{
	struct kobject *rival = kset_find_obj(THIS_MODULE->mkobj.kobj.kset, POLH_RIVAL);

	kobject_put(rival);
	return rival;
}

static int polh_transport_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *module = data;

	if (event == MODULE_STATE_COMING && !strcmp(module->name, POLH_RIVAL))
		pr_warn("nvme-rdma is being loaded; connections with transport=rdma stay with %s, which was first\n",
			KBUILD_MODNAME);
	return NOTIFY_DONE;
}

static struct notifier_block polh_transport_notifier = {
	.notifier_call = polh_transport_module_event,
};

/* Watches for the rival from before it is looked for. */
static int __init polh_transport_take_standard_name(void)
{
	int err;

	err = register_module_notifier(&polh_transport_notifier);
	if (err)
		return err;
	if (polh_transport_rival_is_there()) {
		pr_err("transport=rdma: nvme-rdma is loaded and has this name. Unload it, and keep it out with the rules of pollard-rdma.conf\n");
		unregister_module_notifier(&polh_transport_notifier);
		return -EBUSY;
	}
	return 0;
}

static bool polh_transport_is_standard(void)
{
	return !strcmp(transport, POLH_NAME_STANDARD);
}

/**
 * polh_transport_init() - offer the transport to nvme-fabrics
 *
 * From here on nvme connect makes controllers: everything else is set up.
 *
 * Context: module init.
 * Return: 0; -EINVAL for a parameter transport= that is no name of ours; -EBUSY where nvme-rdma has
 * the name; -errno.
 */
int __init polh_transport_init(void)
{
	int err = 0;

	if (strcmp(transport, POLH_NAME_OWN) && !polh_transport_is_standard()) {
		pr_err("transport=%s: it is either pollard or rdma\n", transport);
		return -EINVAL;
	}
	if (polh_transport_is_standard())
		err = polh_transport_take_standard_name();
	if (err)
		return err;
	polh_ctrls_init(transport);
	polh_transport_ops.name = transport;
	err = nvmf_register_transport(&polh_transport_ops);
	if (err) {
		if (polh_transport_is_standard())
			unregister_module_notifier(&polh_transport_notifier);
		return err;
	}
	pr_info("ready for nvme connect --transport=%s%s\n", transport,
		polh_transport_is_standard() ? ", in the place of nvme-rdma" : "");
	return 0;
}

/**
 * polh_transport_exit() - withdraw it: no controller is made any more when this returns
 *
 * Controllers that are there live on.
 *
 * Context: process context, module exit.
 */
void polh_transport_exit(void)
{
	nvmf_unregister_transport(&polh_transport_ops);
	if (polh_transport_is_standard())
		unregister_module_notifier(&polh_transport_notifier);
}
