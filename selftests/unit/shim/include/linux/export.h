/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_EXPORT_H
#define SHIM_LINUX_EXPORT_H

#define EXPORT_SYMBOL_GPL(symbol)	extern __typeof__(symbol) symbol

#endif
