/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aes - AES-256 in ECB mode (Hetero-Mark; FIPS-197). An item encrypts 16 bytes: one load, 14 rounds of 16
 * look-ups in the S-box, one store.
 *
 * Instructions, accesses and waits are those of the compiled kernel that MGPUSim runs: the first round's key
 * is a scalar load, those of the other rounds are vector loads of one line. All GPUs use one key and one
 * S-box, which are read from another GPU once for each L1.
 */
#include <sim/workloads/support.h>

#include <string.h>

enum { GROUP = 64, BLOCK = 16, ROUNDS = 14, KEY_WORDS = 4 * (ROUNDS + 1) };

struct aes {
	uint32_t blocks;
	uint32_t launches;
	struct sim_buffer data, key, sbox;
	uint8_t *plain;
};

typedef uint8_t bytes_of[BLOCK][SIM_LANES];

static uint8_t twice(uint8_t x)
{
	return (uint8_t)(x << 1 ^ (x >> 7) * 0x1b);
}

static void add_key(const struct aes *a, uint32_t round, bytes_of state)
{
	for (uint32_t k = 0; k < BLOCK; k++)
		for (uint32_t l = 0; l < SIM_LANES; l++)
			state[k][l] ^=
			    (uint8_t)(((const uint32_t *)a->key.host)[4 * round + k / 4] >> 8 * (3 - k % 4));
}

/* The 16 bytes of a round's key, the same for all lanes. */
static void load_key(struct sim_wave *w, const struct aes *a, uint64_t lanes, uint32_t round)
{
	uint32_t at[SIM_LANES];
	float unused[SIM_LANES][4];

	for (uint32_t l = 0; l < SIM_LANES; l++)
		at[l] = 4 * round;
	sim_load_f32x4(w, lanes, &a->key, at, unused);
}

static void substitute(struct sim_wave *w, const struct aes *a, uint64_t lanes, bytes_of state)
{
	static const uint32_t before[BLOCK] = {16, 0, 0, 0, 0, 14, 0, 0, 0, 0, 13, 0, 0, 0, 0, 3};
	uint32_t at[SIM_LANES];

	for (uint32_t k = 0; k < BLOCK; k++) {
		for (uint32_t l = 0; l < SIM_LANES; l++)
			at[l] = state[k][l];
		sim_valu(w, before[k]);
		sim_load_u8(w, lanes, &a->sbox, at, state[k]);
	}
	sim_valu(w, 2);
	sim_salu(w, 4);
}

/* Row r of the state turns left by r; byte r + 4c is row r of column c. */
static void shift_rows(bytes_of state)
{
	for (uint32_t l = 0; l < SIM_LANES; l++) {
		uint8_t was[BLOCK];

		for (uint32_t k = 0; k < BLOCK; k++)
			was[k] = state[k][l];
		for (uint32_t k = 0; k < BLOCK; k++)
			state[k][l] = was[(k + 4 * (k % 4)) % BLOCK];
	}
}

static void mix_columns(bytes_of state)
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
}

/* The columns' arithmetic, as look-ups of the S-box come in, and the round's key. */
static void mix(struct sim_wave *w, const struct aes *a, uint64_t lanes, uint32_t round, bytes_of state)
{
	mix_columns(state);
	sim_salu(w, 1);
	sim_valu(w, 4);
	sim_wait(w, 10);
	sim_valu(w, 4);
	sim_wait(w, 5);
	sim_valu(w, 4);
	sim_wait(w, 0);
	sim_valu(w, 62);
	sim_salu(w, 4);
	load_key(w, a, lanes, round);
	sim_valu(w, 7);
	sim_salu(w, 2);
	sim_wait(w, 0);
	sim_valu(w, 61);
	add_key(a, round, state);
}

/* Words of the items' blocks: big-endian bytes as they lie in memory. */
static void load_blocks(struct sim_wave *w, const struct aes *a, uint64_t lanes, const uint32_t *at,
                        bytes_of state)
{
	float word[SIM_LANES][4] = {{0}};

	sim_load_f32x4(w, lanes, &a->data, at, word);
	for (uint32_t l = 0; l < SIM_LANES; l++)
		for (uint32_t k = 0; k < BLOCK; k++)
			state[k][l] = ((const uint8_t *)word[l])[k];
}

static void store_blocks(struct sim_wave *w, const struct aes *a, uint64_t lanes, const uint32_t *at,
                         bytes_of state)
{
	float word[SIM_LANES][4];

	for (uint32_t l = 0; l < SIM_LANES; l++)
		for (uint32_t k = 0; k < BLOCK; k++)
			((uint8_t *)word[l])[k] = state[k][l];
	sim_store_f32x4(w, lanes, &a->data, at, (const float(*)[4])word);
}

static void first_round(struct sim_wave *w, const struct aes *a, uint64_t lanes, const uint32_t *at,
                        bytes_of state)
{
	sim_salu(w, 5);
	sim_scalar_u32(w, &a->key, 0);
	sim_salu(w, 2);
	sim_valu(w, 7);
	load_blocks(w, a, lanes, at, state);
	sim_salu(w, 14);
	sim_valu(w, 8);
	sim_wait(w, 0);
	sim_valu(w, 21);
	sim_salu(w, 1);
	add_key(a, 0, state);
}

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct aes *a = (const struct aes *)arguments;
	uint32_t at[SIM_LANES];
	bytes_of state = {{0}};
	const uint64_t lanes = sim_items(w, at, a->blocks);

	for (uint32_t l = 0; l < SIM_LANES; l++)
		at[l] *= BLOCK / 4;
	first_round(w, a, lanes, at, state);
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		substitute(w, a, lanes, state);
		shift_rows(state);
		if (round < ROUNDS)
			mix(w, a, lanes, round, state);
	}
	load_key(w, a, lanes, ROUNDS);
	sim_wait(w, 0);
	add_key(a, ROUNDS, state);
	sim_valu(w, 32);
	store_blocks(w, a, lanes, at, state);
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
	const uint8_t *sbox = (const uint8_t *)a->sbox.host;
	const uint32_t *key = (const uint32_t *)a->key.host;
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
	const struct sim_wanted wanted[] = {{&a->data, (uint64_t)a->blocks * BLOCK, SIM_DISTRIBUTED},
	                                    {&a->key, 4 * KEY_WORDS, SIM_INTERLEAVED},
	                                    {&a->sbox, 256, SIM_INTERLEAVED}};

	return sim_buffers(memory, "aes", wanted, 3, error);
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
	fill_tables((uint8_t *)a->sbox.host, (uint32_t *)a->key.host);
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
                                      "AES-256 (Hetero-Mark): data on its own GPU, tables of one for all",
                                      "bytes, a multiple of 16: 65536",
                                      create,
                                      next,
                                      check,
                                      destroy};
