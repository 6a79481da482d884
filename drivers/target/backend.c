// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which kind of storage a namespace is made of. See backend.h for the seam.
 */
#include <linux/netlink.h>

#include "target/backend.h"

/**
 * polt_backend_open - open what a namespace is made of
 * @params: what the administrator asked for
 * @extack: gets the reason of a refusal; may be NULL
 *
 * Process context, may sleep; not under the configuration mutex.
 *
 * Return: the back end or ERR_PTR.
 */
struct polt_backend *polt_backend_open(const struct polt_backend_params *params,
				       struct netlink_ext_ack *extack)
{
	const struct polt_backend_ops *ops = params->device ? &polt_bdev_ops : &polt_ram_ops;
	struct polt_backend *backend = ops->open(params, extack);

	if (!IS_ERR(backend))
		backend->ops = ops;
	return backend;
}

/**
 * polt_backend_close - close it
 * @backend: no command is in it any more. Process context, may sleep
 */
void polt_backend_close(struct polt_backend *backend)
{
	backend->ops->close(backend);
}
