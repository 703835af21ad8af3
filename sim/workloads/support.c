/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/workloads/support.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sizes ---- */

static int refuse(const char *text, const char *workload, const struct sim_size *s, struct gn_error *error)
{
	if (s->multiple > 1)
		return gn_error_set(error, -GN_EINVAL,
		                    "--size %s: %s needs %s from %.15g to %.15g, a multiple of %u", text,
		                    workload, s->name, s->least, s->most, s->multiple);
	return gn_error_set(error, -GN_EINVAL, "--size %s: %s needs %s from %.15g to %.15g%s", text, workload,
	                    s->name, s->least, s->most, s->multiple ? ", a whole number" : "");
}

/* Behind the number that was read; a word begins behind a space only, so that 64K is not taken for 64. */
static const char *skip(const char *at)
{
	while (*at && strchr("x,; ", *at)) {
		if (*at == ' ' && isalpha((unsigned char)at[1]) && at[1] != 'x')
			while (isalpha((unsigned char)at[1]))
				at++;
		at++;
	}
	return at;
}

static int fits(const struct sim_size *s)
{
	return s->value >= s->least && s->value <= s->most &&
	       (!s->multiple || fmod(s->value, s->multiple) == 0);
}

int sim_sizes_read(const char *text, const char *workload, struct sim_size *sizes, uint32_t count,
                   struct gn_error *error)
{
	const char *at = text ? text : "";

	for (uint32_t k = 0; k < count && *at; k++) {
		char *end;

		if (!isdigit((unsigned char)*at) && *at != '.')
			return refuse(text, workload, &sizes[k], error);
		sizes[k].value = strtod(at, &end);
		if (!fits(&sizes[k]) || (*end && !strchr("x,; ", *end)))
			return refuse(text, workload, &sizes[k], error);
		at = skip(end);
	}
	return *at ? gn_error_set(error, -GN_EINVAL, "--size %s: %s takes fewer values; leave out '%s'", text,
	                          workload, at)
	           : 0;
}

/* ---- values ---- */

uint64_t sim_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t sim_random_below(uint64_t *state, uint64_t bound)
{
	return (uint64_t)((double)(sim_random(state) >> 11) * 0x1p-53 * (double)bound);
}

float sim_random_f32(uint64_t *state)
{
	return (float)(sim_random(state) >> 40) * 0x1p-24f;
}

void sim_random_fill(uint64_t *state, float *value, uint64_t count)
{
	for (uint64_t k = 0; k < count; k++)
		value[k] = sim_random_f32(state);
}

/* ---- results ---- */

int sim_same_f32(const char *what, const float *got, const float *want, uint64_t count, float scale,
                 struct gn_error *error)
{
	for (uint64_t k = 0; k < count; k++) {
		const float size = fabsf(want[k]) > scale ? fabsf(want[k]) : scale;

		if (!(fabsf(got[k] - want[k]) <= 1e-4f * size)) /* also where one is no number */
			return gn_error_set(error, -GN_EBADMSG,
			                    "%s: element %llu is %.9g, but the reference has %.9g", what,
			                    (unsigned long long)k, (double)got[k], (double)want[k]);
	}
	return 0;
}

int sim_same_u32(const char *what, const uint32_t *got, const uint32_t *want, uint64_t count,
                 struct gn_error *error)
{
	for (uint64_t k = 0; k < count; k++)
		if (got[k] != want[k])
			return gn_error_set(error, -GN_EBADMSG,
			                    "%s: element %llu is %u, but the reference has %u", what,
			                    (unsigned long long)k, got[k], want[k]);
	return 0;
}

void *sim_state(size_t bytes, const char *workload, struct gn_error *error)
{
	void *state = calloc(1, bytes);

	if (!state)
		gn_error_set(error, -GN_ENOMEM, "%s: out of memory", workload);
	return state;
}

int sim_buffers(struct sim_memory *memory, const char *workload, const struct sim_wanted *wanted,
                uint32_t count, struct gn_error *error)
{
	for (uint32_t k = 0; k < count; k++) {
		const int rc =
		    sim_memory_alloc(memory, wanted[k].bytes, wanted[k].placement, 0, wanted[k].buffer);

		if (rc)
			return gn_error_set(
			    error, rc, "%s: out of memory for a buffer of %llu bytes; give a smaller --size",
			    workload, (unsigned long long)wanted[k].bytes);
	}
	return 0;
}

/* ---- sparse matrices ---- */

/* By digits of 11 bits, the lowest first; spare has room for as many. Places are below cells. */
static void sort_places(uint64_t *place, uint64_t *spare, uint64_t entries, uint64_t cells)
{
	enum { BITS = 11, DIGITS = 1 << BITS };

	for (uint32_t shift = 0; shift < 64 && (cells - 1) >> shift; shift += BITS) {
		uint64_t at[DIGITS + 1] = {0};

		for (uint64_t k = 0; k < entries; k++)
			at[(place[k] >> shift) % DIGITS + 1]++;
		for (uint32_t d = 0; d < DIGITS; d++)
			at[d + 1] += at[d];
		for (uint64_t k = 0; k < entries; k++)
			spare[at[(place[k] >> shift) % DIGITS]++] = place[k];
		memcpy(place, spare, entries * sizeof *place);
	}
}

/* Draw until all places are different. */
static void draw_places(uint64_t *place, uint64_t *spare, uint64_t entries, uint64_t cells, uint64_t *random)
{
	uint64_t have = 0;

	while (have < entries) {
		uint64_t kept = 0;

		for (uint64_t k = have; k < entries; k++)
			place[k] = sim_random_below(random, cells);
		sort_places(place, spare, entries, cells);
		for (uint64_t k = 0; k < entries; k++)
			if (!kept || place[kept - 1] != place[k])
				place[kept++] = place[k];
		have = kept;
	}
}

static int normalise(struct sim_csr *m)
{
	float *sum = (float *)calloc(m->rows, sizeof *sum);

	if (!sum)
		return -GN_ENOMEM;
	for (uint64_t k = 0; k < m->entries; k++)
		sum[m->column[k]] += m->value[k];
	for (uint64_t k = 0; k < m->entries; k++)
		m->value[k] /= sum[m->column[k]];
	free(sum);
	return 0;
}

static void place_entries(struct sim_csr *m, const uint64_t *place, uint64_t *random)
{
	for (uint64_t k = 0; k < m->entries; k++) {
		m->offset[place[k] / m->rows + 1]++;
		m->column[k] = (uint32_t)(place[k] % m->rows);
		m->value[k] = sim_random_f32(random) + 0.5f;
	}
	for (uint32_t r = 0; r < m->rows; r++)
		m->offset[r + 1] += m->offset[r];
}

int sim_csr_random(struct sim_csr *m, uint32_t rows, uint64_t entries, int normal, uint64_t *random)
{
	uint64_t *place = (uint64_t *)malloc((2 * entries + 1) * sizeof *place);

	m->rows = rows;
	m->entries = entries;
	m->offset = (uint32_t *)calloc((size_t)rows + 1, sizeof *m->offset);
	m->column = (uint32_t *)calloc(entries + 1, sizeof *m->column);
	m->value = (float *)calloc(entries + 1, sizeof *m->value);
	if (!place || !m->offset || !m->column || !m->value) {
		free(place);
		sim_csr_fini(m);
		return -GN_ENOMEM;
	}
	draw_places(place, place + entries, entries, (uint64_t)rows * rows, random);
	place_entries(m, place, random);
	free(place);
	if (!normal || !normalise(m))
		return 0;
	sim_csr_fini(m);
	return -GN_ENOMEM;
}

void sim_csr_fini(struct sim_csr *m)
{
	free(m->offset);
	free(m->column);
	free(m->value);
	memset(m, 0, sizeof *m);
}

void sim_csr_copy(const struct sim_csr *m, const struct sim_buffer *offset, const struct sim_buffer *column,
                  const struct sim_buffer *value)
{
	memcpy(offset->host, m->offset, ((size_t)m->rows + 1) * sizeof *m->offset);
	memcpy(column->host, m->column, m->entries * sizeof *m->column);
	memcpy(value->host, m->value, m->entries * sizeof *m->value);
}
