/* SPDX-License-Identifier: Apache-2.0 */
#include "taxis.h"

#include <string.h>

#include "spread/mix.h"
#include "write.h"

/* In the order of shape[]. */
enum {
	PICKUP,
	VENDOR,
	PASSENGERS,
	SECONDS,
	DISTANCE,
	FARE,
	SURCHARGE,
	HAIL_FEE,
	TOLLS,
	TAXES,
	TIPS,
	TOTAL,
	LATITUDE,
	PAYMENT,
	COLUMNS
};

static const struct {
	const char *name;
	uint32_t type, scale;
} shape[COLUMNS] = {
    {"pickup", GN_COLUMN_U32, 0},        {"vendor", GN_COLUMN_STRING, 0},    {"passengers", GN_COLUMN_I32, 0},
    {"seconds", GN_COLUMN_I32, 0},       {"distance", GN_COLUMN_DECIMAL, 2}, {"fare", GN_COLUMN_DECIMAL, 2},
    {"surcharge", GN_COLUMN_DECIMAL, 2}, {"hail_fee", GN_COLUMN_DECIMAL, 2}, {"tolls", GN_COLUMN_DECIMAL, 2},
    {"taxes", GN_COLUMN_DECIMAL, 2},     {"tips", GN_COLUMN_DECIMAL, 2},     {"total", GN_COLUMN_DECIMAL, 2},
    {"latitude", GN_COLUMN_F64, 0},      {"payment", GN_COLUMN_STRING, 0},
};

/* Random numbers of one row. */
struct draw {
	uint64_t state;
};

static struct draw draw_of(uint64_t seed, uint64_t row, uint64_t use)
{
	struct draw d = {spread_mix(spread_mix(seed ^ use << 56) ^ row)};

	return d;
}

static int64_t below(struct draw *d, uint64_t bound)
{
	d->state = spread_mix(d->state);
	return (int64_t)((d->state >> 32) * bound >> 32);
}

/* Is this row the one that is drawn of each `every` rows? */
static int chosen(uint64_t seed, uint64_t row, uint32_t every, uint64_t use)
{
	struct draw d = draw_of(seed, row / every, use);

	return (uint64_t)below(&d, every) == row % every;
}

/* The lesser of two draws: short trips are more frequent. */
static int64_t short_of(struct draw *d, uint64_t bound)
{
	const int64_t a = below(d, bound), b = below(d, bound);

	return a < b ? a : b;
}

static void draw_trip(struct gn_cell *cell, uint64_t seed, uint64_t row, struct draw *d)
{
	const int far = chosen(seed, row, GN_TAXIS_FAR, 1), slow = chosen(seed, row, GN_TAXIS_LONG, 2);

	cell[PICKUP].value.exact = (int64_t)(1230768000 + row * 7 / 32);
	cell[PASSENGERS].value.exact = 1 + short_of(d, 6);
	cell[DISTANCE].value.exact = far ? 3000 + short_of(d, 7000) : short_of(d, 3000);
	cell[SECONDS].value.exact = slow ? 9001 + short_of(d, 20000) : 60 + short_of(d, 8941);
	cell[LATITUDE].value.real = (double)(40500000 + below(d, 500000)) / 1e6;
}

/* In cents. */
static void draw_money(struct gn_cell *cell, struct draw *d)
{
	const int64_t fare = 250 + cell[DISTANCE].value.exact * 25 / 10 + cell[SECONDS].value.exact / 3;
	int64_t total = fare;

	cell[FARE].value.exact = fare;
	cell[SURCHARGE].value.exact = 50 * below(d, 3);
	cell[HAIL_FEE].value.exact = 30 * below(d, 2);
	cell[TOLLS].value.exact = below(d, 20) ? 0 : 576 + below(d, 1200);
	cell[TAXES].value.exact = 50 + fare / 20;
	cell[TIPS].value.exact = below(d, 2) ? fare * below(d, 30) / 100 : 0;
	for (int k = SURCHARGE; k < TOTAL; k++)
		total += cell[k].value.exact;
	cell[TOTAL].value.exact = total;
}

static int draw_words(struct gn_table_writer *w, struct gn_cell *cell, struct draw *d, struct gn_error *e)
{
	static const char *const vendors[] = {"CMT", "VTS", "DDS", "VTS", "CMT"};
	static const char *const payments[] = {"Cash", "Credit Card", "No Charge", "Dispute", "Cash"};
	const char *vendor = vendors[below(d, 5)], *payment = payments[below(d, 5)];
	int err;

	cell[VENDOR].missing = !below(d, 100);
	cell[PASSENGERS].missing = !below(d, 200);
	err = gn_table_word(w, VENDOR, vendor, strlen(vendor), &cell[VENDOR].value, e);
	return err ? err : gn_table_word(w, PAYMENT, payment, strlen(payment), &cell[PAYMENT].value, e);
}

static int write_rows(struct gn_table_writer *w, uint64_t rows, uint64_t seed,
                      const struct gn_progress *progress, struct gn_error *e)
{
	struct gn_cell cell[COLUMNS];
	int err = 0;

	memset(cell, 0, sizeof cell);
	for (uint64_t row = 0; row < rows && !err; row++) {
		struct draw d = draw_of(seed, row, 0);

		if (row % 65536 == 0)
			gn_progress_step(progress, "writing", row, rows);
		draw_trip(cell, seed, row, &d);
		draw_money(cell, &d);
		err = draw_words(w, cell, &d, e);
		if (!err)
			err = gn_table_writer_row(w, cell, e);
	}
	return err;
}

int gn_taxis_write(const char *path, uint64_t rows, uint64_t seed, const struct gn_progress *progress,
                   struct gn_error *e)
{
	struct gn_column columns[COLUMNS];
	struct gn_table_writer *w;
	int err;

	memset(columns, 0, sizeof columns);
	for (uint32_t k = 0; k < COLUMNS; k++) {
		strcpy(columns[k].name, shape[k].name);
		columns[k].type = shape[k].type;
		columns[k].scale = shape[k].scale;
	}
	err = gn_table_writer_begin(&w, path, columns, COLUMNS, rows, e);
	if (err)
		return err;
	err = write_rows(w, rows, seed, progress, e);
	if (!err)
		return gn_table_writer_end(w, e);
	gn_table_writer_drop(w);
	return err;
}
