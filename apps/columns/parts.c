/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a column: values, zone maps, dictionary. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "file.h"
#include "graph/io.h"
#include "parts.h"

int gn_column_value(uint32_t type, const void *values, uint64_t row, union gn_value *value)
{
	switch (type) {
	case GN_COLUMN_I32:
		value->exact = ((const int32_t *)values)[row];
		return value->exact != GN_MISSING_I32;
	case GN_COLUMN_U32:
	case GN_COLUMN_STRING:
		value->exact = ((const uint32_t *)values)[row];
		return value->exact != GN_MISSING_U32;
	case GN_COLUMN_DECIMAL:
		value->exact = ((const int64_t *)values)[row];
		return value->exact != GN_MISSING_I64;
	case GN_COLUMN_F32: value->real = ((const float *)values)[row]; return value->real == value->real;
	default: value->real = ((const double *)values)[row]; return value->real == value->real;
	}
}

void gn_zone_add(struct gn_zone *zone, uint32_t type, union gn_value value)
{
	if (!zone->present++) {
		zone->least = zone->most = value;
	} else if (gn_column_is_real(type)) {
		zone->least = value.real < zone->least.real ? value : zone->least;
		zone->most = value.real > zone->most.real ? value : zone->most;
	} else {
		zone->least = value.exact < zone->least.exact ? value : zone->least;
		zone->most = value.exact > zone->most.exact ? value : zone->most;
	}
}

int gn__part_damaged(const struct gn_table_file *f, const struct gn_column *c,
                     const struct gn_table_section *s, const char *what, struct gn_error *e)
{
	return gn_error_set(e, -GN_EBADMSG,
	                    "%s: bytes %llu to %llu: the checksum of the %s of column %s is wrong, the file "
	                    "is damaged; copy or convert it again",
	                    f->name, (unsigned long long)s->at, (unsigned long long)(s->at + s->bytes), what,
	                    c->name);
}

uint32_t gn__part_crc(uint32_t crc, const void *data, uint64_t bytes)
{
	const unsigned char *from = (const unsigned char *)data;

	for (uint64_t done = 0; done < bytes;) {
		const uint64_t n = bytes - done < 1u << 30 ? bytes - done : 1u << 30;

		crc = (uint32_t)crc32(crc, from + done, (uInt)n);
		done += n;
	}
	return crc;
}

static int load(const struct gn_table_file *f, const struct gn_column *c, const struct gn_table_section *s,
                const char *what, void **memory, struct gn_error *e)
{
	int err;

	*memory = malloc(s->bytes ? s->bytes : 1);
	if (!*memory)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory for the %s of column %s (%llu bytes)",
		                    f->name, what, c->name, (unsigned long long)s->bytes);
	err = gn__input_read(f->fd, f->name, s->at, *memory, s->bytes, e);
	if (!err && gn__part_crc(0, *memory, s->bytes) != s->crc)
		err = gn__part_damaged(f, c, s, what, e);
	if (err) {
		free(*memory);
		*memory = NULL;
	}
	return err;
}

int gn_table_zones(const struct gn_table_file *f, const struct gn_column *c, struct gn_zone **zones,
                   struct gn_error *e)
{
	void *memory;
	int err = load(f, c, &c->zones, "zone maps", &memory, e);

	*zones = (struct gn_zone *)memory;
	return err;
}

static int check_offsets(const struct gn_table_file *f, const struct gn_column *c,
                         const struct gn_dictionary *d, struct gn_error *e)
{
	const uint64_t room = c->dictionary.bytes - ((uint64_t)c->words + 1) * 4;

	for (uint32_t k = 0; k <= c->words; k++) {
		const uint32_t before = k ? d->offsets[k - 1] : 0;

		if (d->offsets[k] >= before && (k || !d->offsets[k]) &&
		    (k < c->words || d->offsets[k] == room))
			continue;
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: byte %llu: offset %u of the dictionary of column %s is %u, which is "
		                    "not possible; the file is damaged, convert the table again",
		                    f->name, (unsigned long long)(c->dictionary.at + 4ull * k), k, c->name,
		                    d->offsets[k]);
	}
	return 0;
}

int gn_table_dictionary(const struct gn_table_file *f, const struct gn_column *c, struct gn_dictionary *d,
                        struct gn_error *e)
{
	int err;

	memset(d, 0, sizeof *d);
	err = load(f, c, &c->dictionary, "dictionary", &d->memory, e);
	if (err)
		return err;
	d->words = c->words;
	d->offsets = (const uint32_t *)d->memory;
	d->bytes = (const char *)(d->offsets + c->words + 1);
	err = check_offsets(f, c, d, e);
	if (err) {
		free(d->memory);
		memset(d, 0, sizeof *d);
	}
	return err;
}
