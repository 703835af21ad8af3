/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed words to a node as the messages of a packet that is otherwise right, bytes as messages that are
 * compressed, or as a whole packet: it must refuse or apply them, and touch nothing but symmetric memory.
 */
#include <string.h>

#include <net/node.h>
#include <net/compress.h>

#include "fuzz.h"

enum { NODES = 3, HEAP = 65536 };

static struct gn_parcel arriving;
static struct gn_net *node;

static int fuzz_send(struct gn_transport *t, struct gn_parcel *parcel)
{
	(void)t;
	FUZZ_REQUIRE(parcel->packet->words <= GN_PACKET_WORDS && parcel->peer < NODES &&
	             parcel->peer != t->node);
	return 0;
}

static int fuzz_sent(struct gn_transport *t, struct gn_parcel *parcel)
{
	(void)t;
	(void)parcel;
	return 1;
}

static struct gn_parcel *fuzz_receive(struct gn_transport *t, uint32_t class_)
{
	struct gn_parcel *p = &arriving;

	(void)t;
	if (!p->away || p->class_ != class_)
		return NULL;
	p->away = 0;
	return p;
}

static void fuzz_release(struct gn_transport *t, struct gn_parcel *parcel)
{
	(void)t;
	(void)parcel;
}

static int fuzz_leave(struct gn_transport *t)
{
	(void)t;
	return 1;
}

static void fuzz_close(struct gn_transport *t)
{
	(void)t;
}

static const struct gn_transport_ops ops = {fuzz_send,  fuzz_sent,  fuzz_receive, fuzz_release,
                                            fuzz_leave, fuzz_close, NULL};
static struct gn_transport transport = {&ops, "fuzz", 1, NODES, 1, 77, 1, 0, {0, ""}};
static struct gn_packet packet;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct gn_net_options config;

	(void)argc;
	(void)argv;
	memset(&config, 0, sizeof config);
	config.machine.name = "cpu";
	config.machine.threads = 1;
	config.columns = 2;
	config.heap_bytes = HEAP;
	config.packet_bytes = GN_PACKET_BYTES;
	config.flush_ns = config.timeout_ns = 1000000000;
	FUZZ_REQUIRE(!gn__node_create(&node, &config, &transport, NULL));
	arriving.packet = &packet;
	return 0;
}

/* A packet that is right but for its messages. */
static void dress(uint32_t class_, uint32_t words)
{
	packet.magic = gn_packet_magic;
	packet.version = GN_PACKET_VERSION;
	packet.class_ = (uint16_t)class_;
	packet.session = transport.session;
	packet.source = 2;
	packet.target = (uint16_t)transport.node;
	packet.words = (uint16_t)words;
	packet.body = (uint16_t)(8 * words);
	packet.sequence = node->intake[class_].sequence[2];
	gn_packet_seal(&packet, NULL);
}

/* Behind the heap lie the logs, and nobody writes there. */
static void require_untouched(void)
{
	for (uint32_t k = 0; k < node->sources; k++)
		for (uint64_t w = 0; w < node->source[k].reader.capacity; w++)
			FUZZ_REQUIRE(!node->source[k].reader.word[w]);
}

/*
 * The words that bytes are when they are taken for compressed ones; 0: they are none. Nothing beyond the
 * slack is read.
 */
static uint32_t decompress(const uint8_t *data, size_t bytes)
{
	uint8_t *compressed;
	uint16_t words;
	int rc;

	if (bytes < sizeof words)
		return 0;
	memcpy(&words, data, sizeof words);
	bytes -= sizeof words;
	compressed = (uint8_t *)calloc(1, bytes + GN_COMPRESS_SLACK);
	FUZZ_REQUIRE(compressed);
	memcpy(compressed, data + sizeof words, bytes);
	words = words > GN_PACKET_WORDS ? (uint16_t)GN_PACKET_WORDS : words;
	rc = gn_decompress(compressed, (uint32_t)bytes, packet.word, words);
	free(compressed);
	return rc ? 0 : words;
}

/*
 * A node hears once of a program that failed, and keeps the first name of a handler: each input is the first.
 */
static void forget(void)
{
	node->heard = node->failed = 0;
	memset(node->said, 0, sizeof node->said);
	memset(node->fault, 0, sizeof *node->fault);
}

enum { COMPRESSED = 64, WHOLE = 128 }; /* of the first byte; its lowest bits are the class */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t bytes = size ? size - 1 : 0;
	const uint32_t class_ = size ? data[0] % GN_PACKET_CLASSES : 0;

	if (!size || bytes > sizeof packet.word)
		return 0;
	forget();
	memset(&packet, 0, sizeof packet);
	if (data[0] & WHOLE) {
		memcpy(&packet, data + 1, bytes);
		arriving.bytes = bytes;
	} else if (data[0] & COMPRESSED) {
		dress(class_, decompress(data + 1, bytes));
		arriving.bytes = gn_packet_bytes(&packet);
	} else {
		memcpy(packet.word, data + 1, bytes);
		dress(class_, (uint32_t)(bytes / 8));
		arriving.bytes = gn_packet_bytes(&packet);
	}
	arriving.class_ = class_;
	arriving.peer = 2;
	arriving.away = 1;
	while (arriving.away || node->intake[class_].packet) {
		node->now++;
		gn__receive(node);
		gn__flush(node, 1, 0);
		gn__collect(node);
	}
	require_untouched();
	return 0;
}
