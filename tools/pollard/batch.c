// SPDX-License-Identifier: GPL-2.0-only
/*
 * -b FILE: command lines from a file. All changes to the configuration of the target are one
 * transaction: they take effect together at the end, or, when a line is refused, not at all. Poll
 * groups are no part of that configuration, changes to them take effect line by line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pollard_target.h>

#include "pollard.h"

#define WORDS_MAX 64	/* of one line */

static bool running, open_transaction;

static const struct attr txn_attrs[] = {
	ATTR_U32(POLLARD_TARGET_A_TXN_ID, "id"),
	ATTR_END
};

bool batch_running(void)
{
	return running;
}

static enum status txn(uint8_t command)
{
	return gnl_do(FAMILY_TARGET, gnl_message(command), txn_attrs, NULL, NULL);
}

/* A change to an object of this family follows. */
enum status batch_begin(enum family family)
{
	enum status status;

	if (!running || family != FAMILY_TARGET || open_transaction)
		return DONE;
	status = txn(POLLARD_TARGET_CMD_TXN_BEGIN);
	open_transaction = !status;
	return status;
}

/*
 * Split a line into words in place. Words are separated by blanks; '...' and "..." keep blanks, a
 * backslash keeps the character after it, # at the start of a word begins a comment. Returns the
 * number of words or -1 when the line is not well formed.
 */
static int split(char *line, char **words)
{
	char *from = line, *to = line;
	int count = 0;
	char quote;

	for (;;) {
		from += strspn(from, " \t\r\n");
		if (!*from || *from == '#')
			return count;
		if (count == WORDS_MAX)
			return -1;
		words[count++] = to;
		for (quote = 0; *from && (quote || !strchr(" \t\r\n", *from)); from++) {
			if (quote ? *from == quote : *from == '\'' || *from == '"') {
				quote = quote ? 0 : *from;
				continue;
			}
			if (*from == '\\' && quote != '\'' && from[1])
				from++;
			*to++ = *from;
		}
		if (quote)
			return -1;
		if (*from)
			from++;
		*to++ = '\0';
	}
}

static enum status run_lines(FILE *file, const char *name)
{
	enum status status = DONE;
	char *line = NULL, *words[WORDS_MAX];
	unsigned int number = 0;
	struct args args;
	size_t size = 0;
	ssize_t len;

	while (!status && (len = getline(&line, &size, file)) >= 0) {
		set_place(name, ++number);
		if (strlen(line) != (size_t)len) {
			status = usage_error(NULL, "there is a NUL in the line");
			break;
		}
		args.word = words;
		args.left = split(line, words);
		if (args.left < 0)
			status = usage_error(NULL, "an open quote, or more than %d words",
					     WORDS_MAX);
		else if (args.left)
			status = dispatch(&args);
	}
	if (!status && ferror(file))
		status = refuse("cannot read: %s", strerror(errno));
	free(line);
	return status;
}

enum status batch_run(const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	enum status status;

	if (!file) {
		usage_error(NULL, "cannot open %s: %s", path, strerror(errno));
		return USAGE;
	}
	/* Who feeds the lines one by one waits for the answers. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	running = true;
	status = run_lines(file, file == stdin ? "standard input" : path);
	if (file != stdin)
		fclose(file);
	if (!status)
		set_place(NULL, 0);
	if (open_transaction && status)
		txn(POLLARD_TARGET_CMD_TXN_ABORT);
	else if (open_transaction)
		status = txn(POLLARD_TARGET_CMD_TXN_COMMIT);
	open_transaction = false;
	running = false;
	if (status) {
		wait_drop();
		return status;
	}
	return wait_all();
}
