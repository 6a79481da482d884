// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line: options, then OBJECT VERB and what the verb takes.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollard.h"

struct options options;

static const struct object *const objects[] = {
	&object_subsystem, &object_namespace, &object_host, &object_port, &object_group,
	&object_device, &object_controller, &object_queue, &object_latency, &object_monitor,
};

static const struct object *current;	/* of the command line being done */
static const char *place_file;		/* where it comes from, NULL for the shell */
static unsigned int place_line;

void set_place(const char *file, unsigned int line)
{
	place_file = file;
	place_line = line;
}

static void complain(const char *format, va_list list)
{
	fflush(stdout);
	fputs("pollard: ", stderr);
	if (place_file)
		fprintf(stderr, "%s:%u: ", place_file, place_line);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
}

/* Tell the user why something is not done. Returns what the caller should return. */
enum status refuse(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	complain(format, list);
	va_end(list);
	return REFUSED;
}

/* For what little the tool keeps there is no way on. */
void no_memory(void)
{
	refuse("out of memory");
	exit(REFUSED);
}

static void print_verb(FILE *out, const char *before, const struct object *object,
		       const struct verb *verb)
{
	fprintf(out, "%spollard %s%s%s %s\n", before, object->name, object->verbless ? "" : " ",
		object->verbless ? "" : verb->name, verb->usage);
}

/* The same for what is not a proper command line; verb may be NULL. */
enum status usage_error(const struct verb *verb, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	complain(format, list);
	va_end(list);
	if (verb && current)
		print_verb(stderr, "Usage: ", current, verb);
	return USAGE;
}

static void help(void)
{
	size_t i;

	printf("Usage: pollard [OPTION]... OBJECT [VERB [ARGUMENT]...]\n"
	       "       pollard [OPTION]... -b FILE\n\nObjects:\n");
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		printf("  %-12s %s\n", objects[i]->name, objects[i]->about);
	printf("\nOptions:\n"
	       "  -j, --json        print JSON\n"
	       "  -p, --pretty      print JSON with line breaks\n"
	       "  -s, --statistics  print counters\n"
	       "  -b, --batch FILE  do the lines of FILE (-: standard input), one transaction\n"
	       "      --no-wait     do not wait for the end of what was started\n"
	       "      --no-load     do not load kernel modules\n"
	       "  -V, --version     print the version\n"
	       "  -h, --help        print this\n"
	       "\n'pollard OBJECT help' tells about the verbs of an object.\n");
}

static enum status help_object(const struct object *object)
{
	const struct verb *verb;

	printf("%s: %s\n", object->name, object->about);
	for (verb = object->verbs; verb->name; verb++)
		print_verb(stdout, "  ", object, verb);
	return DONE;
}

static enum status dispatch_verb(const struct object *object, struct args *args)
{
	const char *names[16];
	const char *word;
	int i, found;

	if (object->verbless && (!args->left || strcmp(*args->word, "help")))
		return object->verbs->run(object->verbs, args);
	word = args_next(args);
	for (i = 0; object->verbs[i].name; i++)
		names[i] = object->verbs[i].name;
	names[i] = "help";
	names[i + 1] = NULL;
	found = word ? args_match(word, names) : 0;
	if (found == i)
		return help_object(object);
	if (found < 0)
		return usage_error(NULL, "'%s' is %s of %s; try 'pollard %s help'", word,
				   found == -1 ? "no verb" : "not the only verb so abbreviated",
				   object->name, object->name);
	return object->verbs[found].run(&object->verbs[found], args);
}

/* Do one command line. */
enum status dispatch(struct args *args)
{
	const char *names[ARRAY_SIZE(objects) + 2];
	const char *word = args_next(args);
	size_t i;
	int found;

	for (i = 0; i < ARRAY_SIZE(objects); i++)
		names[i] = objects[i]->name;
	names[i] = "help";
	names[i + 1] = NULL;
	found = args_match(word, names);
	for (i = 0; found < 0 && i < ARRAY_SIZE(objects); i++)
		if (objects[i]->alias && !strcmp(word, objects[i]->alias))
			found = i;
	if (found == ARRAY_SIZE(objects)) {
		help();
		return DONE;
	}
	if (found < 0)
		return usage_error(NULL, "'%s' is %s; try 'pollard help'", word,
				   found == -1 ? "no object"
					       : "not the only object so abbreviated");
	current = objects[found];
	return dispatch_verb(current, args);
}

static enum status parse_options(int argc, char **argv, const char **batch, bool *end)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "statistics", no_argument, NULL, 's' },
		{ "batch", required_argument, NULL, 'b' },
		{ "no-wait", no_argument, NULL, 'w' },
		{ "no-load", no_argument, NULL, 'l' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "jpsb:Vh", longs, NULL)) != -1) {
		switch (c) {
		case 'p':
			options.pretty = true;
			/* fallthrough */
		case 'j':
			options.json = true;
			break;
		case 's':
			options.statistics = true;
			break;
		case 'b':
			*batch = optarg;
			break;
		case 'w':
			options.no_wait = true;
			break;
		case 'l':
			options.no_load = true;
			break;
		case 'V':
			puts("pollard " VERSION);
			*end = true;
			return DONE;
		case 'h':
			help();
			*end = true;
			return DONE;
		default:
			return USAGE;
		}
	}
	return DONE;
}

int main(int argc, char **argv)
{
	const char *batch = NULL;
	enum status status;
	struct args args;
	bool end = false;

	status = parse_options(argc, argv, &batch, &end);
	args = (struct args) { argv + optind, argc - optind };
	if (status || end)
		goto out;
	if (batch && args.left)
		status = usage_error(NULL, "with -b there is no OBJECT");
	else if (batch)
		status = batch_run(batch);
	else if (args.left)
		status = dispatch(&args);
	else
		status = usage_error(NULL, "the OBJECT is missing; try 'pollard help'");
out:
	gnl_close();
	if (fflush(stdout) || ferror(stdout))
		status = refuse("cannot write: %s", strerror(errno));
	return status;
}
