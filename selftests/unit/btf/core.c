// SPDX-License-Identifier: GPL-2.0-only
/* Stands for nvme-core. */
#include "private.h"

const char modinfo[] __attribute__((section(".modinfo"), used)) = "license=GPL\0vermagic=1.2.3 SMP";

struct nvme_request request;
int option = NVME_OPT_B + NVME_LEFT_OUT;

int nvme_init(struct nvme_ctrl *ctrl, const struct nvme_ops *ops, unsigned long quirks)
{
	ctrl->ops = ops;
	return quirks != request.status;
}

struct request *nvme_next(struct nvme_ctrl *ctrl, volatile union nvme_either *either)
{
	return either->word ? 0 : (void *)ctrl;
}

void nvme_stop(void)
{
	option++;
}

int nvme_not_exported(struct nvme_secret *secret)
{
	return secret->value;
}
