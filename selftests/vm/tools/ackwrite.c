// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes that are remembered: what a disk has acknowledged must be there afterwards, whatever
 * happened to the disk meanwhile.
 *
 * usage: ackwrite run DISK JOURNAL	write and read until SIGTERM (0) or until the disk fails (5)
 *	  ackwrite check DISK JOURNAL	everything that was acknowledged is there (0), or not (1)
 *	  ackwrite count JOURNAL	how many writes of each thread were acknowledged so far
 *
 * A few threads have a stripe of the disk each, and a size of their own for each request, so that
 * all ways data can travel are used. Every sector says where it belongs and which write it is of.
 * The journal, a file that outlives a run, has two numbers for each block: the last write that was
 * begun and the last one that was acknowledged. A sector may be of any write between these two;
 * anything else has been lost, was written twice, or is somebody else's.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR		512u
#define STRIPE		(1u << 20)	/* bytes of the disk for each thread */
#define DISK_FAILED	5		/* exit status */

static const unsigned int sizes[] = { 512, 4096, 4096, 16384, 131072 };

#define NR_THREADS	(sizeof(sizes) / sizeof(sizes[0]))
#define MAX_BLOCKS	(STRIPE / SECTOR)

struct entry {
	uint64_t begun;
	uint64_t acknowledged;
};

struct journal {
	struct entry blocks[NR_THREADS][MAX_BLOCKS];
};

struct sector {
	uint64_t where;			/* byte of the disk */
	uint64_t write;			/* 1 and up; 0: never written */
	uint64_t filler[SECTOR / 8 - 2];
};

_Static_assert(sizeof(struct sector) == SECTOR, "a sector");

static struct journal *journal;
static int disk;
static atomic_bool stop, failed, wrong;
static pthread_mutex_t said = PTHREAD_MUTEX_INITIALIZER;

static uint64_t filler_of(uint64_t where, uint64_t write, unsigned int i)
{
	uint64_t x = (where ^ write << 40) + i * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	return x ^ x >> 27;
}

static void fill(struct sector *sectors, uint64_t where, uint64_t write, unsigned int len)
{
	for (; len; len -= SECTOR, where += SECTOR, sectors++) {
		sectors->where = where;
		sectors->write = write;
		for (unsigned int i = 0; i < SECTOR / 8 - 2; i++)
			sectors->filler[i] = filler_of(where, write, i);
	}
}

static bool sector_is_zero(const struct sector *sector)
{
	const uint64_t *words = (const uint64_t *)sector;

	for (unsigned int i = 0; i < SECTOR / 8; i++)
		if (words[i])
			return false;
	return true;
}

static bool sector_ok(const struct sector *sector, uint64_t where, const struct entry *entry)
{
	if (!entry->acknowledged && sector_is_zero(sector))
		return true;
	if (sector->where != where || sector->write < entry->acknowledged ||
	    sector->write > entry->begun || !sector->write)
		return false;
	for (unsigned int i = 0; i < SECTOR / 8 - 2; i++)
		if (sector->filler[i] != filler_of(where, sector->write, i))
			return false;
	return true;
}

static void check(const struct sector *sectors, uint64_t where, unsigned int len,
		  const struct entry *entry)
{
	for (; len; len -= SECTOR, where += SECTOR, sectors++) {
		if (sector_ok(sectors, where, entry))
			continue;
		pthread_mutex_lock(&said);
		printf("byte %llu: sector of byte %llu, write %llu; writes %llu to %llu expected\n",
		       (unsigned long long)where, (unsigned long long)sectors->where,
		       (unsigned long long)sectors->write, (unsigned long long)entry->acknowledged,
		       (unsigned long long)entry->begun);
		pthread_mutex_unlock(&said);
		atomic_store(&wrong, true);
		return;
	}
}

static void io_failed(const char *what, uint64_t where, ssize_t got)
{
	if (!atomic_exchange(&failed, true))
		fprintf(stderr, "%s of byte %llu: %s\n", what, (unsigned long long)where,
			got < 0 ? strerror(errno) : "short");
}

static bool goes_on(void)
{
	return !atomic_load(&stop) && !atomic_load(&failed) && !atomic_load(&wrong);
}

static void write_block(struct sector *buffer, uint64_t where, unsigned int len,
			struct entry *entry)
{
	uint64_t nr = entry->begun + 1;
	ssize_t got;

	fill(buffer, where, nr, len);
	entry->begun = nr;
	got = pwrite(disk, buffer, len, where);
	if (got == (ssize_t)len)
		entry->acknowledged = nr;
	else
		io_failed("write", where, got);
}

static void read_block(struct sector *buffer, uint64_t where, unsigned int len,
		       const struct entry *entry)
{
	ssize_t got;

	memset(buffer, 0xa5, len);
	got = pread(disk, buffer, len, where);
	if (got == (ssize_t)len)
		check(buffer, where, len, entry);
	else
		io_failed("read", where, got);
}

static void *work(void *arg)
{
	unsigned int thread = (uintptr_t)arg, len = sizes[thread], blocks = STRIPE / len;
	unsigned int seed = thread + (unsigned int)getpid();
	struct sector *buffer = aligned_alloc(4096, len < 4096 ? 4096 : len);

	while (goes_on()) {
		unsigned int block = rand_r(&seed) % blocks;
		uint64_t where = (uint64_t)thread * STRIPE + (uint64_t)block * len;
		struct entry *entry = &journal->blocks[thread][block];

		if (rand_r(&seed) % 3)
			write_block(buffer, where, len, entry);
		else
			read_block(buffer, where, len, entry);
	}
	free(buffer);
	return NULL;
}

static int run(void)
{
	pthread_t threads[NR_THREADS];

	for (uintptr_t i = 0; i < NR_THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	for (unsigned int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	if (atomic_load(&wrong))
		return 1;
	return atomic_load(&failed) ? DISK_FAILED : 0;
}

static int check_all(void)
{
	struct sector *buffer = aligned_alloc(4096, STRIPE);
	unsigned long acknowledged = 0;

	for (unsigned int thread = 0; thread < NR_THREADS; thread++) {
		uint64_t stripe = (uint64_t)thread * STRIPE;
		unsigned int len = sizes[thread];

		if (pread(disk, buffer, STRIPE, stripe) != STRIPE) {
			perror("read");
			return 1;
		}
		for (unsigned int block = 0; block < STRIPE / len; block++) {
			acknowledged += journal->blocks[thread][block].acknowledged;
			check(buffer + (size_t)block * len / SECTOR, stripe + (uint64_t)block * len,
			      len, &journal->blocks[thread][block]);
		}
	}
	free(buffer);
	printf("%lu writes were acknowledged\n", acknowledged);
	return atomic_load(&wrong);
}

/* A thread that hangs while the others go on is seen by its number, which stays. */
static int count_all(void)
{
	for (unsigned int thread = 0; thread < NR_THREADS; thread++) {
		unsigned long long acknowledged = 0;

		for (unsigned int block = 0; block < MAX_BLOCKS; block++)
			acknowledged += journal->blocks[thread][block].acknowledged;
		printf("%llu%c", acknowledged, thread + 1 < NR_THREADS ? ' ' : '\n');
	}
	return 0;
}

static bool open_journal(const char *path, bool write)
{
	int file = open(path, write ? O_RDWR | O_CREAT : O_RDONLY, 0600);
	struct stat stat;

	if (file < 0 || (write && ftruncate(file, sizeof(*journal))) || fstat(file, &stat)) {
		perror(path);
		return false;
	}
	if (stat.st_size < (off_t)sizeof(*journal)) {
		fprintf(stderr, "%s: not a journal, or not yet\n", path);
		return false;
	}
	journal = mmap(NULL, sizeof(*journal), write ? PROT_READ | PROT_WRITE : PROT_READ,
		       MAP_SHARED, file, 0);
	if (journal == MAP_FAILED)
		perror(path);
	return journal != MAP_FAILED;
}

static void on_term(int signal)
{
	(void)signal;
	atomic_store(&stop, true);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "count"))
		return open_journal(argv[2], false) ? count_all() : 2;
	if (argc != 4 || (strcmp(argv[1], "run") && strcmp(argv[1], "check"))) {
		fprintf(stderr, "usage: ackwrite run|check DISK JOURNAL, ackwrite count JOURNAL\n");
		return 2;
	}
	signal(SIGTERM, on_term);
	disk = open(argv[2], O_RDWR | O_DIRECT);
	if (disk < 0) {
		perror(argv[2]);
		return DISK_FAILED;
	}
	if (!open_journal(argv[3], true))
		return 2;
	return strcmp(argv[1], "run") ? check_all() : run();
}
