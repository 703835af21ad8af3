/* SPDX-License-Identifier: Apache-2.0 */
/* dram.c - rows, banks and the bus of a channel. */
#include <sim/dram.h>

#include <grapnel/error.h>
#include <stdlib.h>

int sim_dram_init(struct sim_dram *d, const struct sim_config *c)
{
	d->bank = (struct sim_dram_bank *)calloc(c->dram_banks, sizeof *d->bank);
	if (!d->bank)
		return -GN_ENOMEM;
	for (uint64_t k = 0; k < c->dram_banks; k++)
		d->bank[k].row = UINT64_MAX;
	return 0;
}

void sim_dram_fini(struct sim_dram *d)
{
	free(d->bank);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns the cycle in which the row can be read or written. */
static uint64_t open_row(struct sim_dram *d, struct sim_dram_bank *b, const struct sim_config *c,
                         uint64_t now, uint64_t row)
{
	uint64_t at = later(now, b->ready);

	if (b->row == row)
		return at;
	if (b->row != UINT64_MAX)
		at = later(at, b->opened + c->dram_ras * c->dram_clock) + c->dram_rp * c->dram_clock;
	at = later(at, d->activate);
	d->activate = at + c->dram_rrd * c->dram_clock;
	b->opened = at;
	b->row = row;
	return at + c->dram_rcd * c->dram_clock;
}

static void close_row(struct sim_dram_bank *b, const struct sim_config *c)
{
	b->ready = later(b->ready, b->opened + c->dram_ras * c->dram_clock) + c->dram_rp * c->dram_clock;
	b->row = UINT64_MAX;
}

uint64_t sim_dram_access(struct sim_dram *d, const struct sim_config *c, uint64_t now, uint64_t place,
                         int write)
{
	uint64_t lines = c->dram_row_bytes / 64, clock = c->dram_clock;
	/* neighbours share an open row; where rows are closed they are in other banks */
	uint64_t unit = c->dram_page == SIM_DRAM_OPEN ? place / lines : place;
	struct sim_dram_bank *b = &d->bank[unit % c->dram_banks];
	uint64_t at = open_row(d, b, c, now + c->dram_front, place / lines / c->dram_banks);
	uint64_t wait = (write ? c->dram_cwl : c->dram_cl) * clock, data = later(at + wait, d->bus),
	         end = data + c->dram_burst * clock;

	d->bus = end;
	d->busy += c->dram_burst * clock;
	b->ready = data - wait + c->dram_burst * clock;
	if (c->dram_page == SIM_DRAM_CLOSED) {
		b->ready = write ? end + c->dram_wr * clock : data - wait + c->dram_rtp * clock;
		close_row(b, c);
	}
	return end;
}
