// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of our own that the other side may reach with a key, until we take the key away, and the
 * checks of what has become of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rawpeer.h"

#define DOMAINS		2

static struct region *regions;
static struct ibv_pd *domains[DOMAINS];
static unsigned int domain;		/* that of what is made now */

/* The protection domain of what is made now, on the first RDMA device. */
struct ibv_pd *the_pd(void)
{
	struct ibv_context **devices;
	int count;

	if (domains[domain])
		return domains[domain];
	devices = rdma_get_devices(&count);
	if (devices && count)
		domains[domain] = ibv_alloc_pd(devices[0]);
	if (!domains[domain])
		fail("there is no RDMA device");
	return domains[domain];
}

static bool command_domain(struct words *words)
{
	const char *text = words_next(words);
	uint64_t number;

	if (!text || !value_of(text, &number))
		return false;
	if (number >= DOMAINS)
		return fail("there are %d domains", DOMAINS);
	domain = number;
	return true;
}

struct region *region_find(const char *name)
{
	for (struct region *region = regions; region; region = region->next)
		if (!strcmp(region->name, name))
			return region;
	fail("there is no memory %s", name);
	return NULL;
}

static void region_revoke(struct region *region)
{
	if (region->mw)
		ibv_dealloc_mw(region->mw);
	region->mw = NULL;
	if (region->mr)
		ibv_dereg_mr(region->mr);
	region->mr = NULL;
}

static void region_free(struct region *region)
{
	struct region **at;

	for (at = &regions; *at != region; at = &(*at)->next)
		;
	*at = region->next;
	region_revoke(region);
	free(region->data);
	free(region);
}

void regions_clear(bool kept_too)
{
	struct region *region, *next;

	domain = 0;
	for (region = regions; region; region = next) {
		next = region->next;
		if (kept_too || !region->kept)
			region_free(region);
	}
}

struct region *region_add(const char *name, size_t size, int access)
{
	struct region *region = region_find(name);

	if (region)
		region_free(region);
	if (!the_pd())
		return NULL;
	region = calloc(1, sizeof(*region));
	if (!region || !size || posix_memalign((void **)&region->data, 4096, size)) {
		fail("no memory for %s", name);
		return NULL;
	}
	memset(region->data, 0, size);
	snprintf(region->name, NAME_SIZE, "%s", name);
	region->kept = !testing;
	region->size = size;
	region->mr = ibv_reg_mr(the_pd(), region->data, size, access);
	if (!region->mr) {
		fail("%s cannot be registered", name);
		free(region->data);
		free(region);
		return NULL;
	}
	region->rkey = region->mr->rkey;
	region->next = regions;
	regions = region;
	return region;
}

static bool command_mem(struct words *words)
{
	const char *name = words_next(words), *may = words_text(words, "access");
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	uint64_t size = 4096;

	if (!name || !words_number(words, "size", &size))
		return false;
	if (!may)
		may = "rw";
	if (strchr(may, 'r'))
		access |= IBV_ACCESS_REMOTE_READ;
	if (strchr(may, 'w'))
		access |= IBV_ACCESS_REMOTE_WRITE;
	return region_add(name, size, access);
}

static struct region *next_region(struct words *words)
{
	const char *name = words_next(words);

	return name ? region_find(name) : NULL;
}

/* off= and len= of a region; the rest of it when they are missing */
static bool range(struct words *words, const struct region *region, uint64_t *offset, uint64_t *len)
{
	*offset = 0;
	if (!words_number(words, "off", offset))
		return false;
	*len = region->size - *offset;
	if (!words_number(words, "len", len))
		return false;
	return (*offset <= region->size && *len <= region->size - *offset) ||
	       fail("%s has only %zu bytes", region->name, region->size);
}

/* A pattern that is another one for each seed and tells its place. */
static uint8_t pattern(uint64_t seed, uint64_t at)
{
	uint64_t x = (at / 8 + 1) * 0x9e3779b97f4a7c15ULL + seed * 0xff51afd7ed558ccdULL;

	x ^= x >> 29;
	return x >> (8 * (at % 8));
}

/* What memory holds: a pattern, or one byte over and over */
struct content {
	bool is_pattern;
	uint64_t seed;
	uint64_t byte;
};

/* seed= or byte= */
static bool content_words(struct words *words, struct content *content)
{
	const char *seed = words_text(words, "seed");

	*content = (struct content){ .is_pattern = seed };
	return (!seed || value_of(seed, &content->seed)) &&
	       words_number(words, "byte", &content->byte);
}

static uint8_t content_at(const struct content *content, uint64_t at)
{
	return content->is_pattern ? pattern(content->seed, at) : content->byte;
}

static bool command_fill(struct words *words)
{
	struct region *region = next_region(words);
	struct content content;
	uint64_t offset, len;
	const char *hex;
	uint8_t again[64];
	size_t count = 0;

	if (!region || !range(words, region, &offset, &len))
		return false;
	hex = words_text(words, "hex");
	if (hex && !hex_bytes(hex, again, sizeof(again), &count))
		return false;
	if (!content_words(words, &content))
		return false;
	for (uint64_t i = offset; i < offset + len; i++) {
		if (count)
			region->data[i] = again[(i - offset) % count];
		else
			region->data[i] = content_at(&content, i - offset);
	}
	return words_patch(words, region->data, region->size);
}

static bool command_holds(struct words *words)
{
	struct region *region = next_region(words);
	struct content content;
	uint64_t offset, len;
	uint8_t want;

	if (!region || !range(words, region, &offset, &len))
		return false;
	if (!content_words(words, &content))
		return false;
	for (uint64_t i = offset; i < offset + len; i++) {
		want = content_at(&content, i - offset);
		if (region->data[i] != want)
			return fail("%s is %#x at %llu, not %#x", region->name, region->data[i],
				    (unsigned long long)i, want);
	}
	return true;
}

static bool command_lacks(struct words *words)
{
	struct region *region = next_region(words);
	const char *text = words_text(words, "hex");
	uint8_t bytes[64];
	uint64_t offset, len;
	uint8_t *found;
	size_t count;

	if (!region || !range(words, region, &offset, &len))
		return false;
	if (!text || !hex_bytes(text, bytes, sizeof(bytes), &count) || !count)
		return fail("hex= is missing");
	found = memmem(region->data + offset, len, bytes, count);
	return !found || fail("%s has these bytes at %zu", region->name,
			      (size_t)(found - region->data));
}

static bool command_revoke(struct words *words)
{
	struct region *region = next_region(words);

	if (!region)
		return false;
	region_revoke(region);
	return true;
}

static bool command_window(struct words *words)
{
	const char *name = words_next(words), *of = words_next(words);
	struct region *region, *whole = of ? region_find(of) : NULL;
	struct conn *conn;

	if (!whole || !whole->mr)
		return fail("a window is onto memory that is not revoked");
	of = words_next(words);
	conn = of ? conn_find(of) : NULL;
	if (!conn)
		return false;
	region = calloc(1, sizeof(*region));
	if (!region)
		return fail("no memory");
	snprintf(region->name, NAME_SIZE, "%s", name);
	region->kept = !testing;
	region->next = regions;
	regions = region;
	region->mw = ibv_alloc_mw(the_pd(), IBV_MW_TYPE_2);
	if (!region->mw)
		return fail("no memory window");
	region->rkey = ibv_inc_rkey(region->mw->rkey);
	return conn_bind(conn, region, whole->mr);
}

const struct command memory_commands[] = {
	{ "domain", command_domain,
	  "0|1: what is made from here on - memory, queue pairs - is of this protection domain;\n"
	  "\ta test begins with 0" },
	{ "mem", command_mem,
	  "NAME [size=4096] [access=rw]: memory of ours; NAME.addr, NAME.rkey, NAME.size" },
	{ "window", command_window,
	  "NAME MEM CONN: a key (NAME.rkey) to all of MEM that a peer can invalidate" },
	{ "revoke", command_revoke, "NAME: the key is void from now on" },
	{ "fill", command_fill,
	  "NAME [off= len=] [byte=0|seed=N|hex=BYTES] [@OFFSET=HEX]...: write it, again and again" },
	{ "holds", command_holds,
	  "NAME [off= len=] [byte=0|seed=N]: must be what fill would have written" },
	{ "lacks", command_lacks, "NAME hex=BYTES [off= len=]: must not contain them" },
	{ }
};
