// SPDX-License-Identifier: GPL-2.0-only
/*
 * A namespace in memory: all of it is allocated when it is opened, commands are copies in the
 * group's thread. Two commands on the same blocks at the same time mix, as they may on a disk.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "target/command.h"

#define POLT_RAM_BLOCK	512U

struct polt_ram {
	struct polt_backend backend;
	void *data;
};

static struct polt_backend *polt_ram_open(const struct polt_backend_params *params,
					  struct netlink_ext_ack *extack)
{
	u32 block = params->block_size ?: POLT_RAM_BLOCK;
	u64 bytes = params->ram_bytes;
	struct polt_ram *ram;

	if (!is_power_of_2(block) || block < SECTOR_SIZE || block > SZ_64K) {
		NL_SET_ERR_MSG_MOD(extack, "block size is not a power of two from 512 to 65536");
		return ERR_PTR(-EINVAL);
	}
	if (!bytes || bytes & (block - 1)) {
		NL_SET_ERR_MSG_MOD(extack, "size is not a multiple of the block size");
		return ERR_PTR(-EINVAL);
	}
	if (bytes >> PAGE_SHIFT > totalram_pages() / 2) {
		NL_SET_ERR_MSG_MOD(extack, "RAM disk is larger than half of the memory");
		return ERR_PTR(-EINVAL);
	}
	ram = kzalloc(sizeof(*ram), GFP_KERNEL);
	if (!ram)
		return ERR_PTR(-ENOMEM);
	ram->data = __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!ram->data) {
		NL_SET_ERR_MSG_MOD(extack, "not enough memory for the RAM disk");
		kfree(ram);
		return ERR_PTR(-ENOMEM);
	}
	ram->backend.block_shift = ilog2(block);
	ram->backend.blocks = bytes >> ram->backend.block_shift;
	ram->backend.read_only = params->read_only;
	ram->backend.alignment = 1;
	ram->backend.inline_possible = true;
	ram->backend.submit = polt_backend_submit(&ram->backend, params->submit);
	return &ram->backend;
}

static void polt_ram_close(struct polt_backend *backend)
{
	struct polt_ram *ram = container_of(backend, struct polt_ram, backend);

	vfree(ram->data);
	kfree(ram);
}

static void polt_ram_copy(struct polt_ram *ram, struct polt_command *command)
{
	void *at = ram->data + (command->lba << ram->backend.block_shift);
	unsigned int i, pieces = polt_command_pieces(command);

	for (i = 0; i < pieces; i++) {
		u32 len;
		void *data = polt_command_piece(command, i, &len);

		if (command->to_host)
			memcpy(data, at, len);
		else
			memcpy(at, data, len);
		at += len;
	}
}

static void polt_ram_work(struct work_struct *work)
{
	struct polt_command *command = container_of(work, struct polt_command, work);

	polt_ram_copy(container_of(command->namespace->backend, struct polt_ram, backend), command);
	polt_command_executed(command, NVME_SC_SUCCESS);
}

static void polt_ram_execute(struct polt_backend *backend, struct polt_command *command)
{
	if (READ_ONCE(backend->submit) == POLT_SUBMIT_WORKER) {
		polt_namespace_count(command->namespace, worker_submits, 1);
		INIT_WORK(&command->work, polt_ram_work);
		queue_work(polt_admin_wq, &command->work);
		return;
	}
	polt_ram_copy(container_of(backend, struct polt_ram, backend), command);
	polt_command_finish(command, NVME_SC_SUCCESS);
}

const struct polt_backend_ops polt_ram_ops = {
	.name = "ram",
	.open = polt_ram_open,
	.close = polt_ram_close,
	.execute = polt_ram_execute,
};
