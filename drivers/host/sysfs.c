// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/nvme/nvmeN/pollard/: one value a file, described in Documentation/ABI/.
 */
#include <linux/kstrtox.h>
#include <linux/sysfs.h>

#include "host/host.h"

static struct polh_ctrl *polh_sysfs_ctrl(struct device *dev)
{
	return polh_ctrl_of(dev_get_drvdata(dev));
}

static ssize_t copy_max_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(polh_sysfs_ctrl(dev)->copy_max));
}

static ssize_t copy_max_store(struct device *dev, struct device_attribute *attr, const char *buf,
			      size_t count)
{
	struct polh_ctrl *ctrl = polh_sysfs_ctrl(dev);
	unsigned int value;
	int err;

	err = kstrtouint(buf, 0, &value);
	if (err)
		return err;
	if (value > POLH_COPY_MAX_LIMIT)
		return -EINVAL;
	WRITE_ONCE(ctrl->copy_max, value);
	return count;
}
static DEVICE_ATTR_RW(copy_max);

static ssize_t copy_now_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(polh_sysfs_ctrl(dev)->copy_now));
}
static DEVICE_ATTR_RO(copy_now);

static ssize_t slot_mem_max_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(polh_sysfs_ctrl(dev)->slot_mem_max));
}

static ssize_t slot_mem_max_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t count)
{
	u64 value;
	int err;

	err = kstrtou64(buf, 0, &value);
	if (err)
		return err;
	WRITE_ONCE(polh_sysfs_ctrl(dev)->slot_mem_max, value);
	return count;
}
static DEVICE_ATTR_RW(slot_mem_max);

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	u32 mode = READ_ONCE(polh_sysfs_ctrl(dev)->mode);

	return sysfs_emit(buf, "%s\n",
			  mode == POLH_MODE_DEFAULT ? "default" : pol_group_mode(mode));
}

static ssize_t mode_store(struct device *dev, struct device_attribute *attr, const char *buf,
			  size_t count)
{
	u32 mode = POLH_MODE_DEFAULT;
	int err = 0;

	if (!sysfs_streq(buf, "default"))
		err = pol_group_parse_mode(buf, &mode);
	if (!err)
		err = polh_queues_set_mode(polh_sysfs_ctrl(dev), mode);
	if (err == -EBUSY)
		dev_err(dev, "not busy: a CPU has to stay without a busy poll group\n");
	return err ?: count;
}
static DEVICE_ATTR_RW(mode);

static ssize_t polh_sysfs_bytes(struct device *dev, char *buf,
				u64 (*bytes_of)(const struct polh_queue *queue))
{
	struct polh_ctrl *ctrl = polh_sysfs_ctrl(dev);
	u64 bytes = 0;

	mutex_lock(&ctrl->lock);
	for (unsigned int i = 0; i < ctrl->nr_queues; i++)
		bytes += bytes_of(&ctrl->queues[i]);
	mutex_unlock(&ctrl->lock);
	return sysfs_emit(buf, "%llu\n", bytes);
}

static ssize_t slot_bytes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return polh_sysfs_bytes(dev, buf, polh_memory_slot_bytes);
}
static DEVICE_ATTR_RO(slot_bytes);

static ssize_t memory_bytes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return polh_sysfs_bytes(dev, buf, polh_memory_bytes);
}
static DEVICE_ATTR_RO(memory_bytes);

static ssize_t device_name_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct polh_ctrl *ctrl = polh_sysfs_ctrl(dev);
	ssize_t len;

	mutex_lock(&ctrl->lock);
	len = sysfs_emit(buf, "%s\n", ctrl->device ? ctrl->device->name : "");
	mutex_unlock(&ctrl->lock);
	return len;
}
static DEVICE_ATTR_RO(device_name);

static ssize_t reconnects_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(polh_sysfs_ctrl(dev)->reconnects));
}
static DEVICE_ATTR_RO(reconnects);

static struct polh_counters polh_sysfs_sum(struct device *dev)
{
	struct polh_ctrl *ctrl = polh_sysfs_ctrl(dev);
	struct polh_counters sum = { };

	for (unsigned int i = 0; i < ctrl->nr_queues; i++)
		polh_queue_sum(&ctrl->queues[i], &sum);
	return sum;
}

#define POLH_COUNTER(name)							\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr,	\
			   char *buf)						\
{										\
	return sysfs_emit(buf, "%llu\n", polh_sysfs_sum(dev).name);		\
}										\
static DEVICE_ATTR_RO(name)

POLH_COUNTER(commands);
POLH_COUNTER(posts);
POLH_COUNTER(work_requests);
POLH_COUNTER(completions);
POLH_COUNTER(registrations);
POLH_COUNTER(invalidations);
POLH_COUNTER(remote_invalidations);
POLH_COUNTER(copies);
POLH_COUNTER(zero_copy);
POLH_COUNTER(in_capsule);
POLH_COUNTER(timeouts);
POLH_COUNTER(bytes_read);
POLH_COUNTER(bytes_written);

static struct attribute *polh_sysfs_attrs[] = {
	&dev_attr_copy_max.attr,
	&dev_attr_copy_now.attr,
	&dev_attr_mode.attr,
	&dev_attr_slot_mem_max.attr,
	&dev_attr_slot_bytes.attr,
	&dev_attr_memory_bytes.attr,
	&dev_attr_device_name.attr,
	&dev_attr_reconnects.attr,
	&dev_attr_commands.attr,
	&dev_attr_posts.attr,
	&dev_attr_work_requests.attr,
	&dev_attr_completions.attr,
	&dev_attr_registrations.attr,
	&dev_attr_invalidations.attr,
	&dev_attr_remote_invalidations.attr,
	&dev_attr_copies.attr,
	&dev_attr_zero_copy.attr,
	&dev_attr_in_capsule.attr,
	&dev_attr_timeouts.attr,
	&dev_attr_bytes_read.attr,
	&dev_attr_bytes_written.attr,
	NULL,
};

static const struct attribute_group polh_sysfs_group = {
	.name	= "pollard",
	.attrs	= polh_sysfs_attrs,
};

/**
 * polh_sysfs_add() - make a controller's files
 * @ctrl: controller that nvme-core has made visible
 *
 * Context: process context.
 */
int polh_sysfs_add(struct polh_ctrl *ctrl)
{
	return sysfs_create_group(&ctrl->nvme.device->kobj, &polh_sysfs_group);
}

/**
 * polh_sysfs_remove() - remove a controller's files, and wait for their readers
 * @ctrl: controller
 *
 * Context: process context, without the controller's lock.
 */
void polh_sysfs_remove(struct polh_ctrl *ctrl)
{
	sysfs_remove_group(&ctrl->nvme.device->kobj, &polh_sysfs_group);
}
