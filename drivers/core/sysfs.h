/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the core shows of itself: /sys/kernel/pollard (one value a file, Documentation/ABI) and
 * /sys/kernel/debug/pollard (free form, first line `v: N`).
 */
#ifndef POL_CORE_SYSFS_H
#define POL_CORE_SYSFS_H

struct dentry;
struct pol_group;

int pol_sysfs_init(void);
void pol_sysfs_exit(void);
int pol_sysfs_add_group(struct pol_group *group);
void pol_sysfs_hide_group(struct pol_group *group);

void pol_debugfs_init(void);
void pol_debugfs_exit(void);
void pol_debugfs_add_group(struct pol_group *group);
void pol_debugfs_remove_group(struct pol_group *group);

/* group.c */
void pol_group_free(struct pol_group *group);
const char *pol_group_state_name(const struct pol_group *group);

#endif
