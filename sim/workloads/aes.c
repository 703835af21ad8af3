/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aes - AES-256 in ECB mode (Hetero-Mark; FIPS-197). An item encrypts 16 bytes, byte by byte: 16 loads, 14
 * rounds of 16 look-ups in the S-box and 4 words of the expanded key, 16 stores.
 *
 * From the source: grid, placement, accesses; key words are scalar loads. Each GPU has a key and an S-box of
 * its own: with one for all, half of the accesses would be remote, and the paper has it local. Not fitted.
 */
#include <sim/workloads/support.h>

#include <string.h>

enum { GROUP = 64, BLOCK = 16, ROUNDS = 14, KEY_WORDS = 4 * (ROUNDS + 1) };

struct aes {
	uint32_t blocks;
	uint32_t launches;
	struct sim_buffer data, key[SIM_MOST_GPUS], sbox[SIM_MOST_GPUS];
	uint8_t *plain;
};

typedef uint8_t bytes_of[BLOCK][SIM_LANES];

static uint8_t twice(uint8_t x)
{
	return (uint8_t)(x << 1 ^ (x >> 7) * 0x1b);
}

static void add_key(struct sim_wave *w, const struct aes *a, uint32_t round, bytes_of state)
{
	for (uint32_t c = 0; c < 4; c++) {
		const uint32_t key = sim_scalar_u32(w, &a->key[sim_wave_gpu(w)], 4 * round + c);

		for (uint32_t r = 0; r < 4; r++)
			for (uint32_t l = 0; l < SIM_LANES; l++)
				state[4 * c + r][l] ^= (uint8_t)(key >> 8 * (3 - r));
	}
	sim_valu(w, 16);
	sim_salu(w, 8);
}

static void substitute(struct sim_wave *w, const struct aes *a, uint64_t lanes, bytes_of state)
{
	uint32_t at[SIM_LANES];

	for (uint32_t k = 0; k < BLOCK; k++) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			at[l] = state[k][l];
		sim_valu(w, 2);
		sim_load_u8(w, lanes, &a->sbox[sim_wave_gpu(w)], at, state[k]);
	}
	sim_wait(w, 0);
}

/* Row r of the state turns left by r; byte r + 4c is row r of column c. */
static void shift_rows(struct sim_wave *w, bytes_of state)
{
	for (uint32_t l = 0; l < SIM_LANES; l++) {
		uint8_t was[BLOCK];

		for (uint32_t k = 0; k < BLOCK; k++)
			was[k] = state[k][l];
		for (uint32_t k = 0; k < BLOCK; k++)
			state[k][l] = was[(k + 4 * (k % 4)) % BLOCK];
	}
	sim_valu(w, 12);
}

static void mix_columns(struct sim_wave *w, bytes_of state)
{
	for (uint32_t c = 0; c < BLOCK; c += 4)
		for (uint32_t l = 0; l < SIM_LANES; l++) {
			const uint8_t s0 = state[c][l], s1 = state[c + 1][l], s2 = state[c + 2][l],
			              s3 = state[c + 3][l];
			const uint8_t all = s0 ^ s1 ^ s2 ^ s3;

			state[c][l] = s0 ^ all ^ twice(s0 ^ s1);
			state[c + 1][l] = s1 ^ all ^ twice(s1 ^ s2);
			state[c + 2][l] = s2 ^ all ^ twice(s2 ^ s3);
			state[c + 3][l] = s3 ^ all ^ twice(s3 ^ s0);
		}
	sim_valu(w, 92);
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct aes *a = (const struct aes *)arguments;
	uint32_t block[SIM_LANES], at[SIM_LANES];
	bytes_of state = {{0}};
	const uint64_t lanes = sim_items(w, block, a->blocks);

	sim_salu(w, 9);
	sim_valu(w, 8);
	for (uint32_t k = 0; k < BLOCK; k++) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			at[l] = BLOCK * block[l] + k;
		sim_load_u8(w, lanes, &a->data, at, state[k]);
	}
	sim_wait(w, 0);
	add_key(w, a, 0, state);
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		substitute(w, a, lanes, state);
		shift_rows(w, state);
		if (round < ROUNDS)
			mix_columns(w, state);
		add_key(w, a, round, state);
		sim_salu(w, 3);
	}
	for (uint32_t k = 0; k < BLOCK; k++) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			at[l] = BLOCK * block[l] + k;
		sim_store_u8(w, lanes, &a->data, at, state[k]);
	}
}

/* ---- tables, by FIPS-197 4.2, 5.1.1 and 5.2 ---- */

static uint8_t times(uint8_t a, uint8_t b)
{
	uint8_t product = 0;

	for (; b; b >>= 1, a = twice(a))
		product ^= b & 1 ? a : 0;
	return product;
}

static void make_sbox(uint8_t *sbox)
{
	for (uint32_t x = 0; x < 256; x++) {
		uint8_t inverse = 0, s = 0x63;

		for (uint32_t y = 1; y < 256 && x; y++)
			if (times((uint8_t)x, (uint8_t)y) == 1)
				inverse = (uint8_t)y;
		for (uint32_t k = 0; k < 5; k++)
			s ^= (uint8_t)(inverse << k | inverse >> (8 - k));
		sbox[x] = s;
	}
}

static uint32_t substitute_word(const uint8_t *sbox, uint32_t x)
{
	return (uint32_t)sbox[x >> 24] << 24 | (uint32_t)sbox[x >> 16 & 255] << 16 |
	       (uint32_t)sbox[x >> 8 & 255] << 8 | sbox[x & 255];
}

/* word: the key's 8 in front, big-endian. */
static void expand_key(const uint8_t *sbox, uint32_t *word)
{
	uint8_t constant = 1;

	for (uint32_t k = 8; k < KEY_WORDS; k++) {
		uint32_t x = word[k - 1];

		if (k % 8 == 0) {
			x = substitute_word(sbox, x << 8 | x >> 24) ^ (uint32_t)constant << 24;
			constant = twice(constant);
		} else if (k % 8 == 4) {
			x = substitute_word(sbox, x);
		}
		word[k] = word[k - 8] ^ x;
	}
}

/* ---- the reference: rounds by 5.1, on one block at a time ---- */

static void reference(const struct aes *a, const uint8_t *plain, uint8_t *out)
{
	static const uint8_t matrix[4][4] = {{2, 3, 1, 1}, {1, 2, 3, 1}, {1, 1, 2, 3}, {3, 1, 1, 2}};
	const uint8_t *sbox = (const uint8_t *)a->sbox[0].host;
	const uint32_t *key = (const uint32_t *)a->key[0].host;
	uint8_t s[4][4], t[4][4];

	for (uint32_t k = 0; k < BLOCK; k++)
		s[k % 4][k / 4] = plain[k] ^ (uint8_t)(key[k / 4] >> (24 - 8 * (k % 4)));
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		for (uint32_t r = 0; r < 4; r++)
			for (uint32_t c = 0; c < 4; c++)
				t[r][c] = sbox[s[r][(c + r) % 4]];
		for (uint32_t r = 0; r < 4; r++)
			for (uint32_t c = 0; c < 4; c++) {
				uint8_t sum = 0;

				for (uint32_t k = 0; k < 4; k++)
					sum ^= times(t[k][c], matrix[r][k]);
				s[r][c] = (round < ROUNDS ? sum : t[r][c]) ^
				          (uint8_t)(key[4 * round + c] >> (24 - 8 * r));
			}
	}
	for (uint32_t k = 0; k < BLOCK; k++)
		out[k] = s[k % 4][k / 4];
}

static int buffers(struct aes *a, struct sim_memory *memory, struct gn_error *error)
{
	const struct sim_wanted wanted = {&a->data, (uint64_t)a->blocks * BLOCK, SIM_DISTRIBUTED};
	int rc = sim_buffers(memory, "aes", &wanted, 1, error);

	for (uint32_t g = 0; g < sim_memory_gpus(memory) && !rc; g++) {
		rc = sim_memory_alloc(memory, 4 * KEY_WORDS, SIM_ON_ONE, g, &a->key[g]);
		rc = rc ? rc : sim_memory_alloc(memory, 256, SIM_ON_ONE, g, &a->sbox[g]);
	}
	return rc;
}

/* The key of FIPS-197's example C.3. */
static void fill_tables(uint8_t *sbox, uint32_t *key)
{
	for (uint32_t k = 0; k < 8; k++)
		key[k] = 0x00010203u + k * 0x04040404u;
	make_sbox(sbox);
	expand_key(sbox, key);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_size size[] = {{"bytes", 65536, BLOCK, 1 << 28, BLOCK}};
	uint64_t random = request->seed;
	struct aes *a;

	if (sim_sizes_read(request->size, "aes", size, 1, error))
		return -GN_EINVAL;
	a = (struct aes *)sim_state(sizeof *a, "aes", error);
	*state = a;
	if (!a)
		return -GN_ENOMEM;
	a->blocks = (uint32_t)size[0].value / BLOCK;
	a->plain = (uint8_t *)sim_state((size_t)a->blocks * BLOCK, "aes", error);
	if (!a->plain || buffers(a, memory, error))
		return -GN_ENOMEM;
	for (uint32_t g = 0; g < sim_memory_gpus(memory); g++)
		fill_tables((uint8_t *)a->sbox[g].host, (uint32_t *)a->key[g].host);
	/* The first block is the plaintext of FIPS-197's example C.3, the rest is drawn. */
	for (uint32_t k = 0; k < a->blocks * BLOCK; k++)
		a->plain[k] = k < BLOCK ? (uint8_t)(k * 0x11) : (uint8_t)sim_random(&random);
	memcpy(a->data.host, a->plain, (size_t)a->blocks * BLOCK);
	return 0;
}

static int next(void *state, struct sim_launch *launch)
{
	struct aes *a = (struct aes *)state;

	sim_launch_row(launch, "aes", kernel, a, a->blocks, GROUP);
	launch->independent = 1;
	return !a->launches++;
}

static int check(void *state, struct gn_error *error)
{
	static const uint8_t example[BLOCK] = {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
	                                       0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89};
	const struct aes *a = (const struct aes *)state;
	const uint8_t *out = (const uint8_t *)a->data.host;
	uint8_t want[BLOCK];

	if (memcmp(out, example, BLOCK))
		return gn_error_set(error, -GN_EBADMSG,
		                    "aes: the first block differs from example C.3 of FIPS-197");
	for (uint32_t b = 0; b < a->blocks; b++) {
		reference(a, a->plain + (size_t)b * BLOCK, want);
		if (memcmp(out + (size_t)b * BLOCK, want, BLOCK))
			return gn_error_set(error, -GN_EBADMSG, "aes: block %u differs from the reference",
			                    b);
	}
	return 0;
}

static void destroy(void *state)
{
	if (state)
		free(((struct aes *)state)->plain);
	free(state);
}

const struct sim_workload sim__aes = {"aes",
                                      "AES-256 (Hetero-Mark): stays on its own GPU",
                                      "bytes, a multiple of 16: 65536",
                                      create,
                                      next,
                                      check,
                                      destroy};
