/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - files that set keys, and what fits together. */
#include <sim/config.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t *value_of(struct sim_config *c, const struct sim_key *key)
{
	return (uint64_t *)(void *)((char *)c + key->offset);
}

static bool parse_word(const char *words, const char *text, uint64_t *value)
{
	size_t length;

	for (uint64_t k = 0;; k++) {
		const char *word = sim_key_word(words, k, &length);

		if (strlen(text) == length && !strncmp(word, text, length)) {
			*value = k;
			return true;
		}
		if (!word[length])
			return false;
	}
}

static bool parse_number(const struct sim_key *key, const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	if (key->kind == SIM_KEY_BYTES)
		return !gn_size_parse(text, value) && *value >= key->least && *value <= key->most;
	*value = strtoull(text, &end, 10);
	return !*end && strlen(text) < 20 && *value >= key->least && *value <= key->most;
}

static int set(struct sim_config *c, const struct sim_key *key, const char *text, struct gn_error *error)
{
	uint64_t value;

	if (key->words ? !parse_word(key->words, text, &value) : !parse_number(key, text, &value)) {
		if (key->words)
			return gn_error_set(error, -GN_EINVAL, "%s = %s: the value must be one of: %s",
			                    key->name, text, key->words);
		return gn_error_set(error, -GN_EINVAL,
		                    "%s = %s: must be from %" PRIu64 " to %" PRIu64 " (%s)", key->name, text,
		                    key->least, key->most, key->what);
	}
	*value_of(c, key) = value;
	return 0;
}

static const struct sim_key *find(const char *name)
{
	const struct sim_key *key;

	for (uint32_t k = 0; (key = sim_key_at(k)); k++)
		if (!strcmp(key->name, name))
			return key;
	return NULL;
}

/* The key that agrees in most letters from the front. */
static const char *nearest(const char *name)
{
	const struct sim_key *key;
	const char *best = NULL;
	size_t most = 0, n;

	for (uint32_t k = 0; (key = sim_key_at(k)); k++) {
		for (n = 0; name[n] && name[n] == key->name[n];)
			n++;
		if (!best || n > most) {
			most = n;
			best = key->name;
		}
	}
	return best;
}

void sim_config_init(struct sim_config *c)
{
	for (uint32_t k = 0; sim_key_at(k); k++)
		set(c, sim_key_at(k), sim_key_at(k)->preset, NULL);
}

static char *trim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace((unsigned char)end[-1]))
		*--end = 0;
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

int sim_config_set(struct sim_config *c, const char *assignment, struct gn_error *error)
{
	char text[256], *equals, *name;
	const struct sim_key *key;

	if ((size_t)snprintf(text, sizeof text, "%s", assignment) >= sizeof text ||
	    !(equals = strchr(text, '=')))
		return gn_error_set(error, -GN_EINVAL, "\"%.80s\": write it as key = value", assignment);
	*equals = 0;
	name = trim(text);
	key = find(name);
	if (!key)
		return gn_error_set(error, -GN_ENOENT, "%s: unknown key; did you mean %s?", name,
		                    nearest(name));
	return set(c, key, trim(equals + 1), error);
}

static int read_line(struct sim_config *c, char *line, struct gn_error *error)
{
	line[strcspn(line, "#")] = 0;
	line = trim(line);
	return *line ? sim_config_set(c, line, error) : 0;
}

static FILE *open_shipped(const char *name)
{
	const struct sim_shipped *s;

	for (uint32_t k = 0; (s = sim_shipped_at(k)); k++)
		if (!strcmp(s->name, name))
			return fmemopen((void *)(uintptr_t)s->text, strlen(s->text), "r");
	return NULL;
}

static int not_there(const char *path, struct gn_error *error)
{
	const struct sim_shipped *s;
	char names[256];
	size_t used = 0;

	for (uint32_t k = 0; (s = sim_shipped_at(k)) && used < sizeof names; k++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", k ? ", " : "", s->name);
	return gn_error_set(error, -GN_ENOENT,
	                    "%s: the file cannot be opened; the built-in configurations are %s", path, names);
}

int sim_config_read(struct sim_config *c, const char *path, struct gn_error *error)
{
	FILE *f = fopen(path, "r");
	struct gn_error why;
	char line[512];
	int r = 0;

	if (!f)
		f = open_shipped(path);
	if (!f)
		return not_there(path, error);
	for (unsigned number = 1; !r && fgets(line, sizeof line, f); number++) {
		r = read_line(c, line, &why);
		if (r)
			gn_error_set(error, r, "%s:%u: %s", path, number, why.text);
	}
	if (!r && ferror(f))
		r = gn_error_set(error, -GN_EIO, "%s: the file cannot be read", path);
	fclose(f);
	return r;
}

struct preset {
	const char *name;
	uint64_t bypass, fine, masks, coalesce, cache, decide;
};

static const struct preset presets[] = {
    {"none", 0, 0, 0, 0, 0, 0},     {"bypass", 1, 0, 0, 0, 0, 0}, {"fine", 1, 1, 1, 0, 0, 0},
    {"coalesce", 1, 1, 1, 1, 0, 0}, {"cache", 0, 0, 0, 0, 1, 0},  {"dualopt", 1, 1, 1, 1, 1, 1},
};

int sim_config_optimize(struct sim_config *c, const char *preset, struct gn_error *error)
{
	for (size_t k = 0; k < sizeof presets / sizeof presets[0]; k++) {
		const struct preset *p = &presets[k];

		if (strcmp(p->name, preset))
			continue;
		c->bypass = p->bypass;
		c->fine = p->fine;
		c->mshr_masks = p->masks;
		c->coalesce = p->coalesce;
		c->remote_cache = p->cache;
		c->decide = p->decide;
		if (p->cache)
			c->l2.bytes = 512 << 10; /* what rdma_cache.size takes is taken from it: Table 1 */
		return 0;
	}
	return gn_error_set(error, -GN_ENOENT,
	                    "%s: unknown preset; give none, bypass, fine, coalesce, cache or dualopt",
	                    preset);
}

static int check_sets(const char *name, uint64_t bytes, uint64_t ways, uint64_t banks, struct gn_error *error)
{
	uint64_t set = ways * banks * 64;

	if (bytes >= set && bytes % set == 0)
		return 0;
	return gn_error_set(error, -GN_EINVAL,
	                    "%s.size = %" PRIu64 ": must be a multiple of %s.ways x banks x 64 = %" PRIu64
	                    " bytes",
	                    name, bytes, name, set);
}

static int check_caches(const struct sim_config *c, struct gn_error *error)
{
	int r = check_sets("l1v", c->l1v.bytes, c->l1v.ways, 1, error);

	r = r ? r : check_sets("l1s", c->l1s.bytes, c->l1s.ways, 1, error);
	r = r ? r : check_sets("l2", c->l2.bytes, c->l2.ways, c->l2.banks, error);
	r = r ? r : check_sets("rdma_cache", c->rc.bytes, c->rc.ways, c->rc.banks, error);
	if (!r && (c->l2.interleave % 64 || c->rc.interleave % 64))
		r = gn_error_set(
		    error, -GN_EINVAL,
		    "l2.interleave, rdma_cache.interleave: must be multiples of 64 from 64 to 4096");
	if (!r && c->dram_channels != c->l2.banks)
		r = gn_error_set(error, -GN_EINVAL,
		                 "dram.channels = %" PRIu64 ": must be l2.banks = %" PRIu64, c->dram_channels,
		                 c->l2.banks);
	if (!r && c->dram_row_bytes % 64)
		r = gn_error_set(error, -GN_EINVAL,
		                 "dram.row = %" PRIu64 ": must be a multiple of 64 from 64 to 1M",
		                 c->dram_row_bytes);
	return r;
}

/* The longest message: it must fit into the buffer of a switch, or it could never go on. */
static uint64_t most_flits(const struct sim_config *c)
{
	uint64_t bytes =
	    c->net_request_bytes > c->net_header_bytes ? c->net_request_bytes : c->net_header_bytes;

	bytes += 64;
	bytes = c->codec_packet > bytes ? c->codec_packet : bytes;
	bytes = (bytes * (100 + c->net_encoding) + 99) / 100;
	return (bytes + c->net_flit_bytes - 1) / c->net_flit_bytes;
}

static int check_network(const struct sim_config *c, struct gn_error *error)
{
	uint64_t leaves = (c->gpus + c->net_gpus_per_switch - 1) / c->net_gpus_per_switch;

	if (c->net_clock & (c->net_clock - 1))
		return gn_error_set(error, -GN_EINVAL,
		                    "net.clock = %" PRIu64 ": must be 1, 2, 4, 8, 16, 32 or 64",
		                    c->net_clock);
	if (c->net_gpus_per_switch + 1 > c->net_ports)
		return gn_error_set(error, -GN_EINVAL,
		                    "net.gpus_per_switch = %" PRIu64
		                    ": a switch has net.switch_ports = %" PRIu64
		                    ", one of them to the root switch: must be from 1 to %" PRIu64,
		                    c->net_gpus_per_switch, c->net_ports, c->net_ports - 1);
	if (leaves + 1 > c->net_ports)
		return gn_error_set(error, -GN_EINVAL,
		                    "gpus = %" PRIu64 ": the root switch has net.switch_ports = %" PRIu64
		                    ", one of them to the IOMMU, for switches of net.gpus_per_switch: gpus "
		                    "must be from 1 to %" PRIu64,
		                    c->gpus, c->net_ports, (c->net_ports - 1) * c->net_gpus_per_switch);
	if (c->net_buffer < most_flits(c))
		return gn_error_set(error, -GN_EINVAL,
		                    "net.buffer_flits = %" PRIu64 ": must hold the longest message, %" PRIu64
		                    " flits: from %" PRIu64 " to 65536",
		                    c->net_buffer, most_flits(c), most_flits(c));
	return 0;
}

static int check_dualopt(const struct sim_config *c, struct gn_error *error)
{
	if (c->granularity != 4 && c->granularity != 8 && c->granularity != 16)
		return gn_error_set(error, -GN_EINVAL,
		                    "dualopt.granularity = %" PRIu64 ": must be 4, 8 or 16", c->granularity);
	if ((c->bypass || c->fine) && c->remote_cache && !c->decide)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "dualopt.%s = yes and dualopt.cache = yes: only one of them can be used at "
		    "a time; set dualopt.decide = yes, which chooses one",
		    c->bypass ? "bypass" : "fine");
	if (c->net_header_bytes + c->granularity + c->codec_id > c->codec_packet)
		return gn_error_set(error, -GN_EINVAL,
		                    "codec.packet_bytes = %" PRIu64
		                    ": must hold a header and a word: from %" PRIu64 " to 4096",
		                    c->codec_packet, c->net_header_bytes + c->granularity + c->codec_id);
	return 0;
}

int sim_config_check(const struct sim_config *c, struct gn_error *error)
{
	struct sim_config mine = *c;
	const struct sim_key *key;
	int r;

	/* who wrote the fields himself is told the same as who wrote a file */
	for (uint32_t k = 0; (key = sim_key_at(k)); k++) {
		uint64_t value = *value_of(&mine, key);

		if (!key->words && (value < key->least || value > key->most))
			return gn_error_set(error, -GN_EINVAL,
			                    "%s = %" PRIu64 ": must be from %" PRIu64 " to %" PRIu64,
			                    key->name, value, key->least, key->most);
	}
	r = check_caches(c, error);
	r = r ? r : check_network(c, error);
	return r ? r : check_dualopt(c, error);
}
