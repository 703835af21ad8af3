/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random queries over random tables against the row-by-row evaluator, for narrow and wide warps, through a
 * cache of a few small pages and without.
 */
#include "test_query_support.h"

static void random_number(char *to, size_t room, int depth)
{
	static const char *const leaves[] = {"i",       "u", "m",    "l",  "f",    "d",
	                                     "\"q q\"", "7", "0.25", "-3", "1.5e0"};
	static const char signs[] = "+-*/";
	char a[512], b[512];

	if (!depth || !draw(3)) {
		snprintf(to, room, "%s", leaves[draw(sizeof leaves / sizeof leaves[0])]);
		return;
	}
	random_number(a, sizeof a, depth - 1);
	random_number(b, sizeof b, depth - 1);
	snprintf(to, room, "(%.200s %c %.200s)", a, signs[draw(4)], b);
}

static void random_condition(char *to, size_t room, int depth)
{
	static const char *const relations[] = {"=", "!=", "<", "<=", ">", ">="};
	char a[512], b[512];

	if (depth && draw(3)) {
		random_condition(a, sizeof a, depth - 1);
		random_condition(b, sizeof b, depth - 1);
		snprintf(to, room, "%s(%.220s %s %.220s)", draw(4) ? "" : "not ", a, draw(2) ? "and" : "or",
		         b);
		return;
	}
	switch (draw(6)) {
	case 0: snprintf(to, room, "w %s 'a'", draw(2) ? "=" : "!="); return;
	case 1: snprintf(to, room, "u %s %d", relations[draw(6)], (int)draw(1400)); return;
	case 2: snprintf(to, room, "%d.5 %s m", (int)draw(1000), relations[draw(6)]); return;
	case 3:
		random_number(a, sizeof a, 1);
		snprintf(to, room, "%.200s is %snull", a, draw(2) ? "not " : "");
		return;
	default:
		random_number(a, sizeof a, 1);
		random_number(b, sizeof b, 0);
		snprintf(to, room, "%.200s %s %.200s", a, relations[draw(6)], b);
	}
}

struct random_query {
	char where[512], first[512], second[512];
	int with_where;
	const char *group;
};

static void draw_query(struct random_query *r)
{
	static const char *const groups[] = {NULL, "w", "\"q q\"", "i", "m"};

	random_condition(r->where, sizeof r->where, 2);
	random_number(r->first, sizeof r->first, 2);
	random_number(r->second, sizeof r->second, 1);
	r->with_where = draw(6) != 0;
	r->group = groups[draw(4)];
}

/* 0, or the query has no answer: numbers with too many decimal places, say. */
static int prepare(struct gn_query *q, const struct gn_table_file *f, const struct random_query *r)
{
	int rc = gn_query_begin(q, f, r->with_where ? r->where : NULL, &error);

	if (!rc)
		rc = gn_query_aggregate(q, GN_WANT_AVG, r->first, &error);
	if (!rc)
		rc = gn_query_aggregate(q, GN_WANT_SUM, r->second, &error);
	if (!rc)
		rc = gn_query_aggregate(q, GN_WANT_COUNT, "w", &error);
	if (!rc && r->group)
		rc = gn_query_group(q, r->group, &error);
	return rc ? rc : gn_query_ready(q, &error);
}

static void compare(const struct gn_query *q, const struct random_query *r, const struct how *how,
                    const struct gn_query_result *want, int want_rc)
{
	struct gn_query_result got;
	const int rc = run(q, how, &got);

	/* rows of a zone that is skipped overflow unseen */
	if (rc != want_rc && !(want_rc == -GN_ERANGE && q->zone_count < gn_table_zone_count(q->table)))
		fail_msg("where %s, %s, %s: %d and %d: %s", r->where, r->first, r->second, rc, want_rc,
		         error.text);
	if (!rc && !want_rc && gn_query_verify(q, &got, want, &error))
		fail_msg("where %s, group by %s: %s", r->with_where ? r->where : "-",
		         r->group ? r->group : "-", error.text);
	gn_query_result_free(&got);
}

static unsigned check_random(const struct gn_table_file *f, unsigned *skipping)
{
	struct gn_query_result want;
	struct random_query r;
	struct gn_query q;
	int rc;

	draw_query(&r);
	rc = prepare(&q, f, &r);
	if (rc) {
		if (!strstr(error.text, "decimal places"))
			fail_msg("%s", error.text);
		gn_query_end(&q);
		return 0;
	}
	*skipping += q.zone_count < gn_table_zone_count(f);
	rc = gn_query_reference(&q, &want, NULL, &error);
	for (unsigned k = 0; k < sizeof ways / sizeof ways[0]; k++)
		if (!is_left_out(&ways[k]))
			compare(&q, &r, &ways[k], &want, rc);
	gn_query_result_free(&want);
	gn_query_end(&q);
	return !rc;
}

static void random_queries_equal_the_reference(void **state)
{
	static const uint64_t sizes[] = {1, 511, 512, 513, 4000};
	const unsigned rounds = few_drawn(10, 30);
	unsigned answered = 0, skipping = 0;

	(void)state;
	for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		struct gn_table_file f;

		make_table(&f, sizes[k]);
		must(gn_table_check(&f, NULL, &error));
		for (unsigned round = 0; round < rounds; round++)
			answered += check_random(&f, &skipping);
		gn_table_close(&f);
	}
	assert_true(answered > rounds * 5 / 2);
	assert_true(skipping > rounds / 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_queries_equal_the_reference)};

	return cmocka_run_group_tests(tests, open_path, remove_path);
}
