/* SPDX-License-Identifier: Apache-2.0 */
/* dram.c - the requests of a channel, and which goes next. */
#include <sim/dram.h>

#include <sim/parts.h>

int sim_dram_init(struct sim_dram *d, struct sim_arena *arena, const struct sim_config *c)
{
	const uint64_t requests = c->l2.mshr + c->dram_write_buffer;

	d->bank = (struct sim_dram_bank *)sim_arena_take(arena, c->dram_banks, sizeof *d->bank);
	d->all = (struct sim_dram_request *)sim_arena_take(arena, requests, sizeof *d->all);
	if (!d->bank || !d->all)
		return -GN_ENOMEM;
	d->lines = sim_divisor_of(c->dram_row_bytes / 64);
	d->banks = sim_divisor_of(c->dram_banks);
	for (uint64_t k = 0; k < c->dram_banks; k++)
		d->bank[k].row = UINT64_MAX;
	for (uint64_t k = 0; k < requests; k++) {
		d->all[k].channel = d;
		d->all[k].next = d->free;
		d->free = &d->all[k];
	}
	return 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- what banks and the bus do ---- */

static void open_row(struct sim_dram *d, struct sim_dram_bank *b, const struct sim_config *c, uint64_t now,
                     uint64_t row)
{
	uint64_t at = later(now, b->ready);

	if (b->row != UINT64_MAX)
		at = later(now, b->precharge) + c->dram_rp * c->dram_clock;
	at = later(at, d->activate);
	d->activate = at + c->dram_rrd * c->dram_clock;
	b->row = row;
	b->ready = at + c->dram_rcd * c->dram_clock;
	b->precharge = at + c->dram_ras * c->dram_clock;
}

static uint64_t wait_of(const struct sim_config *c, bool write)
{
	return (write ? c->dram_cwl : c->dram_cl) * c->dram_clock;
}

/* The cycle in which a request to an open row can be read or written: its data then finds the bus free. */
static uint64_t column_at(const struct sim_dram *d, const struct sim_dram_request *r,
                          const struct sim_config *c)
{
	return later(d->bank[r->bank].ready + wait_of(c, r->write), d->bus) - wait_of(c, r->write);
}

/* Its row is open and the bus is free. Returns the cycle in which its data has moved. */
static uint64_t move(struct sim_dram *d, const struct sim_dram_request *r, const struct sim_config *c,
                     uint64_t now)
{
	struct sim_dram_bank *b = &d->bank[r->bank];
	const uint64_t end = now + wait_of(c, r->write) + c->dram_burst * c->dram_clock;

	d->bus = end;
	b->ready = now + c->dram_burst * c->dram_clock;
	b->precharge = later(b->precharge,
	                     r->write ? end + c->dram_wr * c->dram_clock : now + c->dram_rtp * c->dram_clock);
	if (c->dram_page == SIM_DRAM_CLOSED) {
		b->ready = b->precharge + c->dram_rp * c->dram_clock;
		b->row = UINT64_MAX;
	}
	return end;
}

/* ---- what the controller chooses ---- */

static void open_rows(struct sim_domain *m, struct sim_dram *d)
{
	uint64_t left = m->config->dram_queue;

	d->looks++;
	for (struct sim_dram_request *r = d->oldest; r && left; r = r->next, left--)
		if (d->bank[r->bank].row == r->row)
			d->bank[r->bank].wanted = d->looks;
	left = m->config->dram_queue;
	for (struct sim_dram_request *r = d->oldest; r && left; r = r->next, left--) {
		struct sim_dram_bank *b = &d->bank[r->bank];

		if (b->wanted == d->looks)
			continue;
		open_row(d, b, m->config, m->clock.now, r->row);
		b->wanted = d->looks;
	}
}

/* The link to the request that is ready first; its row is open. NULL: there is none. */
static struct sim_dram_request **first_ready(const struct sim_domain *m, struct sim_dram *d, uint64_t *at)
{
	struct sim_dram_request **first = NULL;
	uint64_t left = m->config->dram_queue;

	*at = UINT64_MAX;
	for (struct sim_dram_request **r = &d->oldest; *r && left; r = &(*r)->next, left--) {
		uint64_t cycle;

		if (d->bank[(*r)->bank].row != (*r)->row)
			continue;
		cycle = column_at(d, *r, m->config);
		if (cycle < *at) {
			*at = cycle;
			first = r;
		}
	}
	return first;
}

static void give_back(struct sim_domain *m, struct sim_dram *d, struct sim_dram_request *r)
{
	r->next = d->free;
	d->free = r;
	if (!r->write)
		return;
	d->writes--;
	if (d->write_left)
		d->write_left(m, d);
}

static void issue(struct sim_domain *m, struct sim_dram *d, struct sim_dram_request **link)
{
	struct sim_dram_request *r = *link;
	const uint64_t end = move(d, r, m->config, m->clock.now);

	*link = r->next;
	if (r->done)
		sim_clock_at(&m->clock, r->done, end, r->fire);
	if (r->event.fire)
		r->gone = true;
	else
		give_back(m, d, r);
}

static void again(struct sim_domain *m, struct sim_event *e);

/* All that can go in this cycle goes; who is ready next looks again then. */
static void run(struct sim_domain *m, struct sim_dram *d)
{
	struct sim_dram_request **link;
	uint64_t at;

	open_rows(m, d);
	while ((link = first_ready(m, d, &at)) && at <= m->clock.now) {
		issue(m, d, link);
		open_rows(m, d);
	}
	if (link && !(*link)->event.fire)
		sim_clock_at(&m->clock, &(*link)->event, at, again);
}

static void again(struct sim_domain *m, struct sim_event *e)
{
	struct sim_dram_request *r = (struct sim_dram_request *)(void *)e;

	if (r->gone)
		give_back(m, r->channel, r);
	run(m, r->channel);
}

/* A request has come through the controller's front: it is the youngest. */
static void arrive(struct sim_domain *m, struct sim_event *e)
{
	struct sim_dram_request *r = (struct sim_dram_request *)(void *)e, **end = &r->channel->oldest;

	while (*end)
		end = &(*end)->next;
	*end = r;
	run(m, r->channel);
}

/* Neighbours share an open row; where rows are closed they are in other banks. */
static struct sim_dram_request *request(struct sim_domain *m, struct sim_dram *d, uint64_t place, bool write)
{
	const uint64_t piece = sim_quotient(&d->lines, place);
	struct sim_dram_request *r = d->free;

	d->free = r->next;
	r->next = NULL;
	r->done = NULL;
	r->row = sim_quotient(&d->banks, piece);
	r->bank = (uint32_t)sim_remainder(&d->banks, m->config->dram_page == SIM_DRAM_OPEN ? piece : place);
	r->write = write;
	r->gone = false;
	sim_clock_at(&m->clock, &r->event, m->clock.now + m->config->dram_front, arrive);
	return r;
}

void sim_dram_read(struct sim_domain *m, struct sim_dram *d, uint64_t place, struct sim_event *done,
                   sim_event_fn *fire)
{
	struct sim_dram_request *r = request(m, d, place, false);

	r->done = done;
	r->fire = fire;
}

void sim_dram_write(struct sim_domain *m, struct sim_dram *d, uint64_t place)
{
	d->writes++;
	request(m, d, place, true);
}
