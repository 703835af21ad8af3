/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.h - what a store and a server tell each other when they connect: the private data of the connection
 * manager's messages. All numbers are little-endian; bytes without a meaning are 0.
 *
 * An InfiniBand connection request has room for 56 bytes, an answer for 196, a refusal for 148. A message
 * arrives with zeros behind it.
 *
 *   request   0 magic  4 version  6 flags  8 session  16 index  18 length of the name  19 zero  20 name
 *   answer    0 magic  4 version  6 flags  8 address  16 bytes  24 instance  32 key  36 block
 *   refusal   0 magic  4 version  6 length of the text  8 text
 */
#ifndef GN_STORE_RDMA_HELLO_H
#define GN_STORE_RDMA_HELLO_H

#include <grapnel/error.h>

enum { GN_HELLO_NAME = 32, GN_HELLO_TEXT = 128, GN_HELLO_VERSION = 1 };
enum { GN_HELLO_REQUEST_BYTES = 56, GN_HELLO_ANSWER_BYTES = 40, GN_HELLO_REFUSAL_BYTES = 8 + GN_HELLO_TEXT };

/* Flags of a request. */
enum { GN_HELLO_CONTROL = 1 /* this connection also carries flushes */ };

/* Flags of an answer. */
enum {
	GN_HELLO_READ_ONLY = 1,
	GN_HELLO_FILE = 2 /* a flush brings the bytes into the server's file */
};

struct gn_hello_request {
	uint64_t session; /* a random number of the store */
	uint16_t index;   /* of the connection in the store. A second one replaces the first */
	uint16_t flags;
	char name[GN_HELLO_NAME + 1]; /* of the region */
};

struct gn_hello_answer {
	uint64_t address; /* of the region's first byte, in the server's memory */
	uint64_t bytes;
	uint64_t instance; /* changes when the server may hold other bytes than those that it was given */
	uint32_t key;      /* the right to access them */
	uint32_t block;    /* bytes, a power of two */
	uint16_t flags;
};

/* gn_hello_is_name - may a region have this name? 1 to GN_HELLO_NAME letters, digits, '.', '-', '_'. */
int gn_hello_is_name(const char *name);

/* Write a message; data has room for GN_HELLO_*_BYTES. A refusal's text is cut if it is too long. */
void gn_hello_put_request(uint8_t *data, const struct gn_hello_request *request);
void gn_hello_put_answer(uint8_t *data, const struct gn_hello_answer *answer);
void gn_hello_put_refusal(uint8_t *data, const char *text);

/*
 * Read a message of the other side. Nothing about it is trusted.
 * Return 0, -GN_EBADMSG (no message of Grapnel's, or one that contradicts itself), -GN_ENOTSUP (another
 * version). A refusal of any version is read.
 */
int gn_hello_get_request(const void *data, size_t bytes, struct gn_hello_request *request);
int gn_hello_get_answer(const void *data, size_t bytes, struct gn_hello_answer *answer);
int gn_hello_get_refusal(const void *data, size_t bytes, char text[GN_HELLO_TEXT + 1]);

/*
 * A flush: the store sends one word, the server answers with the same word and how it stands. Both have
 * GN_HELLO_NOTE_BYTES.
 */
enum { GN_HELLO_NOTE_BYTES = 16 };
enum { GN_HELLO_FLUSH = 1, GN_HELLO_WORKING = 2, GN_HELLO_DONE = 3 };

struct gn_hello_note {
	uint32_t kind;   /* GN_HELLO_FLUSH, GN_HELLO_WORKING, GN_HELLO_DONE */
	uint32_t number; /* of the flush */
	int32_t code;    /* of GN_HELLO_DONE: 0 or a negative code */
};

void gn_hello_put_note(uint8_t *data, const struct gn_hello_note *note);
/* Returns 0 or -GN_EBADMSG. */
int gn_hello_get_note(const void *data, size_t bytes, struct gn_hello_note *note);

#endif
