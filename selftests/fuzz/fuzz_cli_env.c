// SPDX-License-Identifier: GPL-2.0-only
/* What the fuzz targets of the command line tool share: see fuzz_cli_env.h. */
#include <ctype.h>

#include "fuzz.h"
#include "fuzz_cli_env.h"

const uint8_t *cli_file;
size_t cli_file_size;

static struct caught {
	FILE *file;
	char *text;
	size_t len;
} out, err;

static FILE *real_stdout, *real_stderr;

FILE *fuzz_fopen(const char *path, const char *mode)
{
	(void)path;
	(void)mode;
	return cli_file_size ? fmemopen((void *)cli_file, cli_file_size, "r") : NULL;
}

int fuzz_clock_gettime(clockid_t clock, struct timespec *now)
{
	static time_t seconds;

	(void)clock;
	*now = (struct timespec) { .tv_sec = seconds += 10 };
	return 0;
}

void cli_catch(void)
{
	real_stdout = stdout;
	real_stderr = stderr;
	out.file = open_memstream(&out.text, &out.len);
	err.file = open_memstream(&err.text, &err.len);
	stdout = out.file;
	stderr = err.file;
}

/* Everything is where it was, what was printed is not judged. */
void cli_release(void)
{
	stdout = real_stdout;
	stderr = real_stderr;
	fclose(out.file);
	fclose(err.file);
	free(out.text);
	free(err.text);
}

static void judge_text(const struct caught *caught)
{
	size_t i;

	for (i = 0; i < caught->len; i++)
		MUST(strchr("\n\t", caught->text[i]) || isprint(caught->text[i]));
	MUST(!caught->len || caught->text[caught->len - 1] == '\n');
}

static void judge_json(const struct caught *caught)
{
	struct json_tokener *tokener = json_tokener_new();
	size_t at = 0;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8 |
			       JSON_TOKENER_ALLOW_TRAILING_CHARS);
	while (at < caught->len) {
		json_object_put(json_tokener_parse_ex(tokener, caught->text + at,
						      caught->len - at));
		MUST(json_tokener_get_error(tokener) == json_tokener_success);
		at += json_tokener_get_parse_end(tokener);
		at += strspn(caught->text + at, "\n");
		json_tokener_reset(tokener);
	}
	json_tokener_free(tokener);
}

void cli_judge(bool json, bool errors_too)
{
	fflush(out.file);
	fflush(err.file);
	judge_text(&out);
	if (json)
		judge_json(&out);
	if (errors_too)
		judge_text(&err);
	cli_release();
}
