/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/wave_state.h>

#include <string.h>

/* ---- where it is ---- */

uint32_t sim_wave_gpu(const struct sim_wave *w)
{
	return w->group->gpu;
}

uint32_t sim_wave_group(const struct sim_wave *w, uint32_t axis)
{
	return w->group->at[axis];
}

uint32_t sim_wave_local(const struct sim_wave *w, uint32_t lane, uint32_t axis)
{
	const uint32_t item = w->number * SIM_LANES + lane;
	const struct sim_divisor *width = &w->group->width;

	return (uint32_t)(axis ? sim_quotient(width, item) : sim_remainder(width, item));
}

uint64_t sim_wave_item(const struct sim_wave *w, uint32_t lane)
{
	return (uint64_t)w->group->at[0] * w->group->launch->group[0] + sim_wave_local(w, lane, 0);
}

uint64_t sim_wave_item_y(const struct sim_wave *w, uint32_t lane)
{
	return (uint64_t)w->group->at[1] * w->group->launch->group[1] + sim_wave_local(w, lane, 1);
}

uint64_t sim_wave_lanes(const struct sim_wave *w)
{
	return w->lanes;
}

void *sim_wave_lds(struct sim_wave *w)
{
	return w->group->lds;
}

/* ---- instructions without addresses ---- */

static void put(struct sim_wave *w, enum sim_op_kind kind, uint32_t count)
{
	if (w->written == SIM__WORDS)
		sim__wave_leave(w);
	w->word[w->written++] = (uint64_t)count << 32 | (uint32_t)kind;
}

void sim_valu(struct sim_wave *w, uint32_t count)
{
	if (count)
		put(w, SIM_OP_VALU, count);
}

void sim_salu(struct sim_wave *w, uint32_t count)
{
	if (count)
		put(w, SIM_OP_SALU, count);
}

void sim_lds(struct sim_wave *w, uint32_t count)
{
	if (count)
		put(w, SIM_OP_LDS, count);
}

void sim_wait(struct sim_wave *w, uint32_t most)
{
	put(w, SIM_OP_WAIT, most);
}

void sim_barrier(struct sim_wave *w)
{
	put(w, SIM_OP_BARRIER, 0);
	sim__wave_leave(w);
}

/* ---- the coalescer ---- */

/* What one instruction touches: `width` bytes a lane from element index[lane] of `size` bytes. */
struct access {
	const struct sim_buffer *buffer;
	const uint32_t *index;
	uint64_t lanes;
	uint32_t size, width;
};

static uint64_t bits(uint32_t from, uint32_t count)
{
	return (count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX) << from;
}

/* A lane reads outside of the buffer. The fiber is left for good. */
static void fault(struct sim_wave *w, const struct access *a, uint32_t lane)
{
	w->fault.lane = lane;
	w->fault.index = a->index[lane];
	w->fault.elements = a->buffer->bytes / a->size;
	w->state = SIM__FAILED;
	sim__wave_leave(w);
}

static uint32_t highest(const struct access *a)
{
	uint32_t most = 0;

	if (!~a->lanes) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			most = a->index[l] > most ? a->index[l] : most;
		return most;
	}
	for (uint64_t left = a->lanes; left; left &= left - 1) {
		const uint32_t l = (uint32_t)__builtin_ctzll(left);

		most = a->index[l] > most ? a->index[l] : most;
	}
	return most;
}

static void check(struct sim_wave *w, const struct access *a)
{
	const uint64_t elements = a->buffer->bytes / a->size, wanted = a->width / a->size;
	uint32_t l = 0;

	if (!a->lanes || highest(a) + wanted <= elements)
		return;
	while (!(a->lanes >> l & 1) || a->index[l] + wanted <= elements)
		l++;
	fault(w, a, l);
}

/* All lanes, one behind the other: its lines are known without looking at each. */
static int is_row(const struct access *a)
{
	const uint32_t step = a->width / a->size;
	uint32_t wrong = 0;

	if (~a->lanes)
		return 0;
	for (uint32_t l = 0; l < SIM_LANES; l++)
		wrong |= a->index[l] ^ (a->index[0] + l * step);
	return !wrong;
}

static uint32_t row_lines(const struct access *a, struct sim_line *line)
{
	uint64_t at = (uint64_t)a->index[0] * a->size;
	const uint64_t end = at + (uint64_t)a->width * SIM_LANES;
	uint32_t count = 0;

	while (at < end) {
		const uint64_t here = at / SIM_LINE_BYTES * SIM_LINE_BYTES, next = here + SIM_LINE_BYTES;

		line[count].address = a->buffer->address + here;
		line[count].bytes = bits((uint32_t)(at - here), (uint32_t)((end < next ? end : next) - at));
		count++;
		at = next;
	}
	return count;
}

struct lines {
	struct sim_line *line;
	uint8_t *slot;
	uint32_t count, last;
};

static void touch(struct lines *s, uint64_t address, uint64_t bytes)
{
	uint32_t h = (uint32_t)(address / SIM_LINE_BYTES) % (2 * SIM_MOST_LINES);

	if (s->count && s->line[s->last].address == address) {
		s->line[s->last].bytes |= bytes;
		return;
	}
	while (s->slot[h] && s->line[s->slot[h] - 1].address != address)
		h = (h + 1) % (2 * SIM_MOST_LINES);
	if (!s->slot[h]) {
		s->line[s->count].address = address;
		s->line[s->count].bytes = 0;
		s->slot[h] = (uint8_t)++s->count;
	}
	s->last = s->slot[h] - 1u;
	s->line[s->last].bytes |= bytes;
}

static uint32_t scattered_lines(struct sim_wave *w, const struct access *a)
{
	struct lines s = {w->waves->line, w->waves->slot, 0, 0};

	memset(s.slot, 0, sizeof w->waves->slot);
	for (uint64_t left = a->lanes; left; left &= left - 1) {
		const uint32_t l = (uint32_t)__builtin_ctzll(left);
		const uint64_t at = a->buffer->address + (uint64_t)a->index[l] * a->size;
		const uint32_t from = (uint32_t)(at % SIM_LINE_BYTES);
		const uint32_t here = from + a->width > SIM_LINE_BYTES ? SIM_LINE_BYTES - from : a->width;

		touch(&s, at - from, bits(from, here));
		if (here < a->width)
			touch(&s, at - from + SIM_LINE_BYTES, bits(0, a->width - here));
	}
	return s.count;
}

static uint32_t lines_of(struct sim_wave *w, const struct access *a)
{
	return is_row(a) ? row_lines(a, w->waves->line) : scattered_lines(w, a);
}

static int has_room(const struct sim_wave *w, uint32_t lines)
{
	return w->written + 1 + 2 * lines <= SIM__WORDS;
}

static void put_lines(struct sim_wave *w, enum sim_op_kind kind, const struct sim_line *line, uint32_t count)
{
	put(w, kind, count);
	memcpy(&w->word[w->written], line, count * sizeof *line);
	w->written += 2 * count;
}

static void vector(struct sim_wave *w, enum sim_op_kind kind, const struct access *a)
{
	uint32_t count;

	check(w, a);
	count = lines_of(w, a);
	if (!has_room(w, count)) {
		sim__wave_leave(w);
		count = lines_of(w, a); /* others have made theirs there meanwhile */
	}
	put_lines(w, kind, w->waves->line, count);
}

void sim_lines(struct sim_wave *w, enum sim_op_kind kind, const struct sim_line *line, uint32_t count)
{
	if (!has_room(w, count))
		sim__wave_leave(w);
	put_lines(w, kind, line, count);
}

/* ---- values ---- */

static inline void load(struct sim_wave *w, const struct access *a, void *value)
{
	const char *from = (const char *)a->buffer->host;

	vector(w, SIM_OP_LOAD, a);
	for (uint64_t left = a->lanes; left; left &= left - 1) {
		const uint32_t l = (uint32_t)__builtin_ctzll(left);

		memcpy((char *)value + (size_t)l * a->width, from + (size_t)a->index[l] * a->size, a->width);
	}
}

static inline void store(struct sim_wave *w, const struct access *a, const void *value)
{
	char *to = (char *)a->buffer->host;

	vector(w, SIM_OP_STORE, a);
	for (uint64_t left = a->lanes; left; left &= left - 1) {
		const uint32_t l = (uint32_t)__builtin_ctzll(left);

		memcpy(to + (size_t)a->index[l] * a->size, (const char *)value + (size_t)l * a->width,
		       a->width);
	}
}

void sim_load_u8(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                 uint8_t *value)
{
	const struct access a = {b, index, lanes, 1, 1};

	load(w, &a, value);
}

void sim_load_u32(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                  uint32_t *value)
{
	const struct access a = {b, index, lanes, 4, 4};

	load(w, &a, value);
}

void sim_load_f32(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                  float *value)
{
	const struct access a = {b, index, lanes, 4, 4};

	load(w, &a, value);
}

void sim_load_f32x4(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                    float (*value)[4])
{
	const struct access a = {b, index, lanes, 4, 16};

	load(w, &a, value);
}

void sim_store_u8(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                  const uint8_t *value)
{
	const struct access a = {b, index, lanes, 1, 1};

	store(w, &a, value);
}

void sim_store_u32(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                   const uint32_t *value)
{
	const struct access a = {b, index, lanes, 4, 4};

	store(w, &a, value);
}

void sim_store_f32(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                   const float *value)
{
	const struct access a = {b, index, lanes, 4, 4};

	store(w, &a, value);
}

void sim_store_f32x4(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                     const float (*value)[4])
{
	const struct access a = {b, index, lanes, 4, 16};

	store(w, &a, value);
}

uint32_t sim_scalar_u32(struct sim_wave *w, const struct sim_buffer *b, uint32_t index)
{
	const struct access a = {b, &index, 1, 4, 4};
	uint32_t value;

	check(w, &a);
	if (w->written + 3 > SIM__WORDS)
		sim__wave_leave(w);
	put(w, SIM_OP_SCALAR, 1);
	w->word[w->written++] = b->address + (uint64_t)index * 4 / SIM_LINE_BYTES * SIM_LINE_BYTES;
	w->word[w->written++] = bits(index * 4 % SIM_LINE_BYTES, 4);
	memcpy(&value, (const char *)b->host + (size_t)index * 4, sizeof value);
	return value;
}
