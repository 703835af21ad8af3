/* SPDX-License-Identifier: Apache-2.0 */
#include <net/packet.h>
#include <net/compress.h>

#define XXH_INLINE_ALL
/* memcpy: up to xxHash 0.8.2 other accesses break the aliasing rules, so a compiler may move the stores of a
 * head behind its checksum */
#define XXH_FORCE_MEMORY_ACCESS 0
#include <xxhash.h>

enum { LEAST_COMPRESSED = 64 }; /* fewer bytes of messages are not compressed */

static uint64_t checksum_of(const struct gn_packet *p)
{
	const uint64_t head = XXH3_64bits(p, offsetof(struct gn_packet, checksum));

	return XXH3_64bits_withSeed(p->word, p->body, head);
}

static uint64_t head_checksum_of(const struct gn_packet *p)
{
	return XXH3_64bits(p, offsetof(struct gn_packet, checksum));
}

/* The most bytes that compressed messages may take to be worth the work. */
static uint32_t worth(uint32_t bytes)
{
	return bytes - bytes / 8 - GN_COMPRESS_SLACK;
}

/*
 * Is this a valid length of the body? Compressed messages are shorter by so much that the packet has the
 * bytes that gn_decompress reads behind them.
 */
static int is_body(uint32_t body, uint32_t bytes)
{
	return body == bytes || (bytes >= LEAST_COMPRESSED && body <= worth(bytes));
}

void gn_packet_seal(struct gn_packet *p, struct gn_packet *scratch)
{
	const uint32_t bytes = 8u * p->words;
	uint32_t compressed = 0;

	if (scratch && bytes >= LEAST_COMPRESSED)
		compressed = gn_compress(p->word, p->words, scratch->word, worth(bytes));
	if (compressed)
		memcpy(p->word, scratch->word, compressed);
	p->body = (uint16_t)(compressed ? compressed : bytes);
	p->checksum = checksum_of(p);
}

void gn_packet_seal_head(struct gn_packet *p)
{
	p->body = (uint16_t)(8 * p->words);
	p->checksum = head_checksum_of(p);
}

static uint64_t wanted_checksum(const struct gn_packet *p, const struct gn_packet_wanted *wanted)
{
	return wanted->handed_over && p->form & GN_PACKET_PLAIN ? head_checksum_of(p) : checksum_of(p);
}

const struct gn_packet *gn_packet_open(const struct gn_packet *p, struct gn_packet *into)
{
	if (p->body == 8u * p->words)
		return p;
	if (!into)
		return NULL;
	memcpy(into, p, GN_PACKET_HEAD);
	return gn_decompress(p->word, p->body, into->word, p->words) ? NULL : into;
}

int gn_packet_check(const struct gn_packet *p, uint64_t bytes, const struct gn_packet_wanted *wanted,
                    struct gn_error *error)
{
	const unsigned source = wanted->source;

	if (bytes < GN_PACKET_HEAD || p->magic != gn_packet_magic || p->version != GN_PACKET_VERSION)
		return gn_error_set(error, -GN_EBADMSG,
		                    "node %u sent %llu bytes that are not a packet of this version; run the "
		                    "same program on all nodes",
		                    source, (unsigned long long)bytes);
	if (p->words > GN_PACKET_WORDS || !is_body(p->body, 8u * p->words) || gn_packet_bytes(p) != bytes)
		return gn_error_set(
		    error, -GN_EBADMSG,
		    "a packet from node %u states a length of %u words, but %llu bytes arrived", source,
		    p->words, (unsigned long long)bytes);
	if (p->checksum != wanted_checksum(p, wanted))
		return gn_error_set(error, -GN_EBADMSG,
		                    "a packet from node %u is damaged: its checksum is wrong", source);
	if (p->session != wanted->session)
		return gn_error_set(error, -GN_EBADMSG, "a packet from node %u belongs to another run",
		                    source);
	if (p->class_ != wanted->class_ || p->source != wanted->source || p->target != wanted->target)
		return gn_error_set(error, -GN_EBADMSG,
		                    "the header of a packet says class %u from node %u to node %u, but it "
		                    "arrived as class %u from node %u to node %u",
		                    p->class_, p->source, p->target, wanted->class_, source, wanted->target);
	if (p->sequence != wanted->sequence)
		return gn_error_set(error, -GN_EBADMSG,
		                    "packet %u from node %u arrived, but packet %u was expected", p->sequence,
		                    source, wanted->sequence);
	return 0;
}
