// SPDX-License-Identifier: GPL-2.0-only
/*
 * rawpeer: an NVMe over RDMA host or target that does what a script says, right or wrong.
 *
 * This file reads the script and runs it: tests, blocks, variables.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rawpeer.h"

#define LINES_MAX	4096
#define DEFS_MAX	64
#define DEPTH_MAX	16

static char *lines[LINES_MAX];
static char *origin[LINES_MAX];		/* "FILE:NUMBER" */
static int nr_lines;
static struct {
	char name[NAME_SIZE];
	int first, last;
} defs[DEFS_MAX];
static int nr_defs;
static int failed_at;			/* line of the innermost failure */

bool testing;

static const struct command *const tables[] = {
	conn_commands, host_commands, memory_commands, target_commands,
};

static void usage(void)
{
	printf("usage: rawpeer [NAME=VALUE]... SCRIPT...\n\n"
	       "Run scripts (- is standard input) one after the other as if they were one: an NVMe/RDMA\n"
	       "host or target that does anything. A line is a command and its words, key=value or not;\n"
	       "# begins a comment, \"...\" keeps blanks. Numbers: 10, 0x10, 4k, 1m, NAME.addr, NAME.rkey,\n"
	       "CONN.cid, CONN.dw0, CONN.raddr, CONN.u16@2 (of the last capsule or response), CONN.qpn,\n"
	       "CONN.private.u16@2, and sums of these without blanks, from left to right. $NAME is a\n"
	       "variable's text; NAME=VALUE on the command line sets one before the script begins.\n\n"
	       "test NAME\n\tA test begins: what the one before made is destroyed. It ends at the first\n"
	       "\tcommand that fails, and the next one goes on. What was made before the first stays.\n"
	       "def NAME ... end\n\tNAME WORD... runs the lines between, with $1, $2... $9.\n"
	       "repeat N [VAR] ... end, repeat ms=N ... end\n\tso often, or for so long.\n"
	       "eventually [within=MS] ... end\n\tagain and again, until no line fails.\n"
	       "either ... or ... end\n\tLines after or run only when those before it failed.\n"
	       "set NAME VALUE, print WORD..., exit\n"
	       "\tVALUE is a number or a text. print at once; exit without destroying anything.\n\n");
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct command *c = tables[t]; c->name; c++)
			printf("%s %s\n", c->name, c->usage);
	printf("\nOutput: \"ok NAME\" or \"not ok NAME\" for each test, with what went wrong before it.\n"
	       "Exit status: 0 all is well, 1 a test (or the script) failed, 2 usage.\n");
}

static void strip_comment(char *line)
{
	bool quoted = false;
	char *at;

	for (at = line; *at; at++) {
		if (*at == '"')
			quoted = !quoted;
		if (*at == '#' && !quoted && (at == line || at[-1] == ' ' || at[-1] == '\t'))
			break;
	}
	*at = '\0';
}

static bool load(const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char line[LINE_SIZE], at[LINE_SIZE];
	int number = 0;
	size_t len;

	if (!file)
		return fail("%s cannot be read", path);
	while (fgets(line, sizeof(line), file)) {
		if (nr_lines == LINES_MAX)
			return fail("the script is too long");
		len = strcspn(line, "\n");
		line[len] = '\0';
		strip_comment(line);
		snprintf(at, sizeof(at), "%.900s:%d", path, ++number);
		lines[nr_lines] = strdup(line);
		origin[nr_lines++] = strdup(at);
	}
	if (file != stdin)
		fclose(file);
	return true;
}

/* The first word of a line that is not run yet. */
static bool first_word_is(int line, const char *word)
{
	const char *at = lines[line] + strspn(lines[line], " \t");
	size_t len = strlen(word);

	return !strncmp(at, word, len) && strchr(" \t", at[len]);
}

static bool opens(int line)
{
	return first_word_is(line, "def") || first_word_is(line, "repeat") ||
	       first_word_is(line, "either") || first_word_is(line, "eventually");
}

/* The line that ends the block which begins at a line; its "or", if there is one. */
static int block_end(int line, int last, int *or)
{
	int depth = 0;

	for (int i = line + 1; i < last; i++) {
		if (opens(i))
			depth++;
		else if (first_word_is(i, "or") && !depth)
			*or = i;
		else if (first_word_is(i, "end") && !depth--)
			return i;
	}
	fail("there is no end");
	return -1;
}

/* Definitions count from the beginning, wherever they are. */
static bool find_defs(void)
{
	int end, or = 0;

	for (int line = 0; line < nr_lines; line++) {
		if (!first_word_is(line, "def"))
			continue;
		end = block_end(line, nr_lines, &or);
		if (end < 0 || nr_defs == DEFS_MAX ||
		    sscanf(lines[line], " def %31s", defs[nr_defs].name) != 1)
			return fail("%s: def NAME ... end", origin[line]);
		defs[nr_defs].first = line + 1;
		defs[nr_defs++].last = end;
	}
	return true;
}

static bool run(int first, int last, int depth);

static bool run_repeat(struct words *words, int first, int last, int depth)
{
	uint64_t count = UINT64_MAX, ms = 0, end;
	const char *name = NULL;
	char text[NAME_SIZE];

	if (!words_number(words, "ms", &ms))
		return false;
	if (!ms && !value_of(words_next(words) ?: "", &count))
		return false;
	if (words->count == 3)
		name = words_next(words);
	end = now_ms() + ms;
	for (uint64_t i = 0; i < count && (!ms || now_ms() < end); i++) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)i);
		if (name && !variable_set(name, text))
			return false;
		if (!run(first, last, depth + 1))
			return false;
	}
	return true;
}

static bool run_eventually(struct words *words, int first, int last, int depth)
{
	unsigned int limit = time_limit(words);

	return wait_until(run(first, last, depth + 1), limit);
}

static bool run_def(struct words *words, int first, int last, int depth)
{
	char name[NAME_SIZE], saved[10][LINE_SIZE] = { 0 };
	struct words copy = *words;
	bool ok = true;

	/* Words point into the copy they came with. */
	for (int i = 0; i < words->count; i++)
		copy.word[i] = copy.text + (words->word[i] - words->text);
	for (int i = 1; i < 10; i++) {
		snprintf(name, sizeof(name), "%d", i);
		snprintf(saved[i], LINE_SIZE, "%s", variable(name) ?: "");
		ok = ok && variable_set(name, i < copy.count ? copy.word[i] : "");
	}
	ok = ok && run(first, last, depth + 1);
	for (int i = 1; i < 10; i++) {
		snprintf(name, sizeof(name), "%d", i);
		variable_set(name, saved[i]);
	}
	return ok;
}

static bool run_set(struct words *words)
{
	char text[LINE_SIZE];
	uint64_t value;

	if (words->count != 3)
		return fail("set NAME VALUE");
	if (value_of(words->word[2], &value))
		snprintf(text, sizeof(text), "%#llx", (unsigned long long)value);
	else
		snprintf(text, sizeof(text), "%s", words->word[2]);
	return variable_set(words->word[1], text);
}

static bool run_command(struct words *words, int depth)
{
	const struct command *command;
	bool ok;

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (command = tables[t]; command->name; command++)
			if (!strcmp(command->name, words->word[0]))
				goto found;
	for (int i = 0; i < nr_defs; i++)
		if (!strcmp(defs[i].name, words->word[0]))
			return run_def(words, defs[i].first, defs[i].last, depth);
	return fail("there is no command %s", words->word[0]);

found:
	failure[0] = '\0';
	ok = command->run(words) && words_all_used(words);
	if (!ok && !failure[0])
		fail("%s failed", words->word[0]);
	return ok;
}

/* One line or block. Moves *line behind it. */
static bool run_line(struct words *words, int *line, int last, int depth)
{
	const char *word = words->word[0];
	int start = *line, end, or = 0;

	if (!opens(start)) {
		++*line;
		if (!strcmp(word, "set"))
			return run_set(words);
		if (!strcmp(word, "exit")) {
			fflush(stdout);
			_exit(0);
		}
		if (!strcmp(word, "print")) {
			for (int i = 1; i < words->count; i++)
				printf("%s%s", words->word[i], i + 1 < words->count ? " " : "\n");
			fflush(stdout);
			return true;
		}
		return run_command(words, depth);
	}
	end = block_end(start, last, &or);
	if (end < 0)
		return false;
	*line = end + 1;
	if (!strcmp(word, "def"))
		return true;
	if (!strcmp(word, "repeat"))
		return run_repeat(words, start + 1, end, depth);
	if (!strcmp(word, "eventually"))
		return run_eventually(words, start + 1, end, depth);
	return run(start + 1, or ? or : end, depth + 1) ||
	       (or && run(or + 1, end, depth + 1));
}

static bool run(int first, int last, int depth)
{
	struct words words;
	int line = first, start;

	if (depth > DEPTH_MAX)
		return fail("too deep");
	while (line < last) {
		start = line;
		if (!words_split(&words, lines[line])) {
			failed_at = start;
			return false;
		}
		if (!words.count) {
			line++;
			continue;
		}
		failed_at = -1;
		if (!run_line(&words, &line, last, depth)) {
			if (failed_at < 0)
				failed_at = start;
			return false;
		}
	}
	return true;
}

static void clear(bool kept_too)
{
	child_clear();
	conns_clear(kept_too);
	regions_clear(kept_too);
}

static bool report(const char *name, bool ok)
{
	if (!ok)
		printf("# %s: %s\n#\t%s\n", origin[failed_at], lines[failed_at], failure);
	printf("%s %s\n", ok ? "ok" : "not ok", name);
	fflush(stdout);
	return ok;
}

int main(int argc, char **argv)
{
	char name[LINE_SIZE] = "";
	struct words words;
	bool all_ok = true;
	int arg, next, line;
	char *value;

	if (argc < 2 || !strcmp(argv[1], "--help")) {
		usage();
		return argc < 2 ? 2 : 0;
	}
	for (arg = 1; arg < argc; arg++) {
		value = strchr(argv[arg], '=');
		if (!value)
			break;
		*value = '\0';
		variable_set(argv[arg], value + 1);
	}
	while (arg < argc && load(argv[arg]))
		arg++;
	if (arg < argc || !find_defs()) {
		fprintf(stderr, "rawpeer: %s\n", failure);
		return 2;
	}

	for (line = 0; line < nr_lines; line = next) {
		if (first_word_is(line, "test")) {
			words_split(&words, lines[line]);
			snprintf(name, sizeof(name), "%s", words.count > 1 ? words.word[1] : "");
			testing = true;
			line++;
		}
		for (next = line; next < nr_lines && !first_word_is(next, "test"); next++)
			;
		if (!run(line, next, 0)) {
			all_ok = report(testing ? name : "script", false) && all_ok;
			if (!testing)
				break;
		} else if (testing) {
			report(name, true);
		}
		clear(false);
	}
	clear(true);
	return all_ok ? 0 : 1;
}
