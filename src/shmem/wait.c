/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c - tests of several words at a time, and waits for them. */
#include <shmem/pe.h>

SHMEM__NAMES_WAIT

/* Does the comparison hold for element k of ivars? */
typedef int holds_fn(const void *ivars, size_t k, int cmp, const void *value);

/* The words of one call. */
struct set {
	const void *ivars;
	size_t nelems;
	const int *status;
	int cmp;
	const char *values;
	size_t step; /* bytes from a word's value to the next word's; 0: all have the same */
	holds_fn *holds;
};

static int is_left_out(const struct set *s, size_t k)
{
	return s->status && s->status[k];
}

static int holds(const struct set *s, size_t k)
{
	return !is_left_out(s, k) && s->holds(s->ivars, k, s->cmp, s->values + k * s->step);
}

static int is_empty(const struct set *s)
{
	for (size_t k = 0; k < s->nelems; k++)
		if (!is_left_out(s, k))
			return 0;
	return 1;
}

/* A PE that sees a value also sees all that was put before it. Others run meanwhile if there is none. */
static void seen(int found)
{
	if (found)
		simt_fence_acq_rel_sys();
	else
		simt_relax();
}

static int test_all(const struct set *s)
{
	size_t k = 0;

	while (k < s->nelems && (is_left_out(s, k) || holds(s, k)))
		k++;
	seen(k == s->nelems);
	return k == s->nelems;
}

/* A number that follows no pattern of the program's calls (Marsaglia's xorshift). */
static uint64_t random_number(void)
{
	static __thread uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/*
 * Each call begins at a random word, so that every word is found in the end, also if calls for several sets
 * take turns.
 */
static size_t test_any(const struct set *s)
{
	const size_t first = s->nelems ? random_number() % s->nelems : 0;

	for (size_t k = 0; k < s->nelems; k++)
		if (holds(s, (first + k) % s->nelems)) {
			seen(1);
			return (first + k) % s->nelems;
		}
	seen(0);
	return SIZE_MAX;
}

static size_t test_some(const struct set *s, size_t *indices)
{
	size_t found = 0;

	for (size_t k = 0; k < s->nelems; k++)
		if (holds(s, k))
			indices[found++] = k;
	seen(found != 0);
	return found;
}

static void wait_until_all(const struct set *s)
{
	uint64_t deadline = 0;

	for (uint32_t tries = 0; !test_all(s); tries++)
		gn_shmem_wait_on("shmem_wait_until_all", tries, &deadline);
}

static size_t wait_until_any(const struct set *s)
{
	uint64_t deadline = 0;
	size_t found = SIZE_MAX;

	if (is_empty(s))
		return SIZE_MAX;
	for (uint32_t tries = 0; (found = test_any(s)) == SIZE_MAX; tries++)
		gn_shmem_wait_on("shmem_wait_until_any", tries, &deadline);
	return found;
}

static size_t wait_until_some(const struct set *s, size_t *indices)
{
	uint64_t deadline = 0;
	size_t found = 0;

	if (is_empty(s))
		return 0;
	for (uint32_t tries = 0; (found = test_some(s, indices)) == 0; tries++)
		gn_shmem_wait_on("shmem_wait_until_some", tries, &deadline);
	return found;
}

/* ---- the names ---- */

/* clang-format off: macros of whole functions */
#define SET(T, N, VALUES, STEP)                                                  \
	{                                                                        \
		.ivars = ivars, .nelems = nelems, .status = status, .cmp = cmp,  \
		.values = (const char *)VALUES, .step = STEP, .holds = holds_##N \
	}
#define SETS(T, N, VECTOR, VALUE, VALUES, STEP)                                                             \
	void shmem_##N##_wait_until_all##VECTOR(T *ivars, size_t nelems, const int *status, int cmp, VALUE) \
	{                                                                                                   \
		const struct set s = SET(T, N, VALUES, STEP);                                               \
                                                                                                            \
		wait_until_all(&s);                                                                         \
	}                                                                                                   \
	size_t shmem_##N##_wait_until_any##VECTOR(T *ivars, size_t nelems, const int *status, int cmp,      \
	                                          VALUE)                                                    \
	{                                                                                                   \
		const struct set s = SET(T, N, VALUES, STEP);                                               \
                                                                                                            \
		return wait_until_any(&s);                                                                  \
	}                                                                                                   \
	size_t shmem_##N##_wait_until_some##VECTOR(T *ivars, size_t nelems, size_t *indices,                \
	                                           const int *status, int cmp, VALUE)                       \
	{                                                                                                   \
		const struct set s = SET(T, N, VALUES, STEP);                                               \
                                                                                                            \
		return wait_until_some(&s, indices);                                                        \
	}                                                                                                   \
	int shmem_##N##_test_all##VECTOR(T *ivars, size_t nelems, const int *status, int cmp, VALUE)        \
	{                                                                                                   \
		const struct set s = SET(T, N, VALUES, STEP);                                               \
                                                                                                            \
		return test_all(&s);                                                                        \
	}                                                                                                   \
	size_t shmem_##N##_test_any##VECTOR(T *ivars, size_t nelems, const int *status, int cmp, VALUE)     \
	{                                                                                                   \
		const struct set s = SET(T, N, VALUES, STEP);                                               \
                                                                                                            \
		return test_any(&s);                                                                        \
	}                                                                                                   \
	size_t shmem_##N##_test_some##VECTOR(T *ivars, size_t nelems, size_t *indices, const int *status,   \
	                                     int cmp, VALUE)                                                \
	{                                                                                                   \
		const struct set s = SET(T, N, VALUES, STEP);                                               \
                                                                                                            \
		return test_some(&s, indices);                                                              \
	}
#define WAIT(T, N)                                                                          \
	static int holds_##N(const void *ivars, size_t k, int cmp, const void *value)       \
	{                                                                                   \
		return compare_##N(((const volatile T *)ivars)[k], cmp, *(const T *)value); \
	}                                                                                   \
	SETS(T, N, , T cmp_value, &cmp_value, 0)                                            \
	SETS(T, N, _vector, T *cmp_values, cmp_values, sizeof(T))
SHMEM__WAIT_OWN(GN_SHMEM_COMPARE)
SHMEM__AMO_ALIAS(GN_SHMEM_COMPARE)
SHMEM__WAIT_OWN(WAIT)
SHMEM__AMO_ALIAS(WAIT)
/* clang-format on */
