// SPDX-License-Identifier: GPL-2.0-only
/* Checks the probes: this must not compile, in spite of plain C's leniency. */
#include <linux/module.h>

int probe(void)
{
	return pol_no_such_function();
}
