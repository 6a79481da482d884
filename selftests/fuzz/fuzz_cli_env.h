/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzz targets of the command line tool share. The tool is compiled so that it opens no
 * file, waits for nothing and knows no time: it calls the fuzz_*() here instead of the C library.
 */
#ifndef FUZZ_CLI_ENV_H
#define FUZZ_CLI_ENV_H

#include <poll.h>
#include <time.h>

#include "pollard.h"

int tool_main(int argc, char **argv);

/* What every file holds. */
extern const uint8_t *cli_file;
extern size_t cli_file_size;
FILE *fuzz_fopen(const char *path, const char *mode);

/* Each look at the clock takes ten seconds. */
int fuzz_clock_gettime(clockid_t clock, struct timespec *now);

/* In the target that has sockets. */
int fuzz_poll(struct pollfd *fds, nfds_t nr, int timeout_ms);

/*
 * Catch what is printed; end that without or with judging it: it has to be lines of printable
 * ASCII, and well-formed if it is JSON.
 */
void cli_catch(void);
void cli_release(void);
void cli_judge(bool json, bool errors_too);

#endif
