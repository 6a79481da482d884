/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of rawpeer share. Wire structures have no types here: they are written and read by
 * the byte offsets of the specification's tables.
 */
#ifndef RAWPEER_H
#define RAWPEER_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_SIZE	32
#define LINE_SIZE	1024
#define WORDS_MAX	48
#define PRIVATE_SIZE	196		/* what a REP may carry; a REQ carries less */
#define SQE_SIZE	64
#define CQE_SIZE	16

/* words.c: a line of the script, taken apart */
struct words {
	char text[LINE_SIZE];
	char *word[WORDS_MAX];
	bool used[WORDS_MAX];
	int count;
};

bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern char failure[512];

bool words_split(struct words *words, const char *line);
bool words_all_used(const struct words *words);
const char *words_next(struct words *words);		/* a word without '=', NULL: none left */
bool words_flag(struct words *words, const char *name);	/* is there such a word? */
const char *words_text(struct words *words, const char *key);
bool words_number(struct words *words, const char *key, uint64_t *value);	/* may be missing */
bool words_patch(struct words *words, uint8_t *data, size_t size);	/* @OFFSET=HEX */
bool value_of(const char *text, uint64_t *value);
bool hex_bytes(const char *text, uint8_t *data, size_t size, size_t *len);
bool variable_set(const char *name, const char *text);
const char *variable(const char *name);

/* little endian */
void put_le(uint8_t *at, uint64_t value, unsigned int bytes);
uint64_t get_le(const uint8_t *at, unsigned int bytes);

/* memory.c: memory that a peer may reach */
struct region {
	struct region *next;
	char name[NAME_SIZE];
	bool kept;			/* made before the first test */
	uint8_t *data;
	size_t size;
	struct ibv_mr *mr;		/* NULL: revoked */
	struct ibv_mw *mw;
	uint32_t rkey;
};

struct region *region_find(const char *name);		/* reports what is not there */
struct region *region_add(const char *name, size_t size, int access);
void regions_clear(bool kept_too);
struct ibv_pd *the_pd(void);

/* conn.c: connections */
enum conn_state {
	CONN_NEW,
	CONN_ADDRESS,			/* address resolved */
	CONN_ROUTE,			/* route resolved */
	CONN_ASKED,			/* a peer wants it: neither accepted nor rejected */
	CONN_WAITING,			/* connect request or accept is out */
	CONN_RESPONDED,			/* the accept has come, but was not confirmed */
	CONN_UP,
	CONN_REJECTED,
	CONN_GONE,
};

struct message {
	struct message *next;
	uint32_t len;
	bool invalidated;
	uint32_t rkey;
	uint8_t data[];
};

struct conn {
	struct conn *next;
	char name[NAME_SIZE];
	bool kept;
	bool passive;
	bool hold;			/* do not confirm an accept */
	bool deaf;			/* take no notice of the connection manager */
	bool stingy;			/* post no receive buffer twice */
	enum conn_state state;
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	unsigned int depth;		/* receive buffers, and send buffers */
	size_t slot;			/* bytes of each */
	uint8_t *buffers;		/* receives, then sends */
	struct ibv_mr *mr;
	uint64_t posted, done;		/* work requests of the send queue */
	uint64_t rdma_posted, rdma_done;
	enum ibv_wc_status rdma_status;	/* of the last RDMA work request that completed */
	enum ibv_wc_status error;	/* the first error of any work request */
	struct message *messages, **last_message;
	struct message *current;
	uint8_t private_data[256];
	size_t private_len;
	int reason;			/* of a reject */
	uint16_t cid;			/* of the last capsule sent */
	uint16_t next_cid;
	uint16_t *outstanding;		/* capsules without answer, per CID */
	uint32_t cc;			/* a target's */
	uint16_t qid;
	uint32_t qpn;			/* of its queue pair, or of the peer's that asked */
};

extern struct conn *conns;

struct conn *conn_find(const char *name);		/* reports what is not there */
struct conn *conn_next(struct words *words);		/* the one that the next word names */
struct conn *conn_add(const char *name);
bool conn_make_qp(struct conn *conn);
void conn_kill(struct conn *conn);			/* its queue pair goes, silently */
void conns_clear(bool kept_too);
void conn_drop(struct conn *conn);
bool conn_accept(struct conn *conn, const uint8_t *data, size_t len);
struct conn *conn_asked(void);			/* the oldest that was asked for */
void conn_hit(struct conn *conn);			/* is called "hit" from now on */
bool conn_message(struct conn *conn, unsigned int ms);	/* makes the next one the current one */
bool conn_send(struct conn *conn, const uint8_t *data, size_t len, size_t cut, bool invalidate,
	       uint32_t rkey);
bool conn_rdma(struct conn *conn, bool read, const struct region *region, size_t offset,
	       size_t len, uint64_t addr, uint32_t rkey);
bool conn_bind(struct conn *conn, struct region *region, struct ibv_mr *mr);
void step(unsigned int ms);
uint64_t now_ms(void);

/* a condition, or time is up */
#define wait_until(condition, ms) \
({ \
	uint64_t wait_end = now_ms() + (ms); \
	unsigned int wait_spins = 0; \
	bool wait_met; \
 \
	while (!(wait_met = (condition)) && now_ms() < wait_end) \
		step(wait_spins++ > 20); \
	wait_met; \
})

unsigned int time_limit(struct words *words);		/* within=MS, or the default */

/* commands: each takes what it knows out of the words */
struct command {
	const char *name;
	bool (*run)(struct words *words);
	const char *usage;
};

extern const struct command conn_commands[], memory_commands[], host_commands[], target_commands[];

/* target.c */
void child_clear(void);

/* host.c, for target.c too */
bool status_of(const char *text, uint64_t *status);

extern bool testing;			/* a test has begun: what is made now goes with it */

#endif
