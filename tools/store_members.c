/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel store info, verify and rebuild: what a store's members are good for, and how they get good. */
#include <stdio.h>
#include <string.h>

#include <store/set/replica.h>

#include "store.h"
#include "store_move.h"

enum { OPT_WHOLE = 512 };

struct request {
	const char *uri;
	unsigned from;
	bool overwrite, writes, whole;
};

static void check_together(const struct request *r, const struct argp_state *state)
{
	if (!r->uri)
		argp_error(state, "no store given; give a URI, for example replica:state=/s,file:/a,file:/b");
	if (r->writes && !r->overwrite)
		argp_error(state,
		           "rebuilding writes over the members that differ; give --overwrite if that is "
		           "meant");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *r = (struct request *)state->input;

	switch (key) {
	case 'n': r->from = (unsigned)tool_number(state, "--from", text, 1, GN_STORE_MOST_MEMBERS); return 0;
	case 'w': r->overwrite = true; return 0;
	case OPT_WHOLE: r->whole = true; return 0;
	case ARGP_KEY_ARG: tool_argument(state, &r->uri, "URI", text); return 0;
	case ARGP_KEY_END: check_together(r, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option rebuild_options[] = {
    {"from", 'n', "N", 0,
     "number of the member that is right, from 1 (default: the first that is up to date by the state)"},
    {"whole", OPT_WHOLE, NULL, 0,
     "compare all members, all bytes of each (default with --from; else of those that are out of date, "
     "where the log says that they missed writes)"},
    {"overwrite", 'w', NULL, 0, "yes, what the other members have may be lost; needed"},
    {0},
};

static const struct argp info_argp = {
    NULL, parse, "URI", "Open a store read-only, and print which way its bytes go and what its members are."};
static const struct argp verify_argp = {
    NULL, parse, "URI", "Compare the members of a replica that are up to date, byte for byte."};
static const struct argp rebuild_argp = {
    rebuild_options, parse, "URI",
    "Make the members of a replica that are out of date equal to one that is right: copy what differs, "
    "flush, read it back and compare. Then write the state; --from N makes the first one."};

/* ---- info ---- */

static void print_member(uint32_t k, const struct gn_store_member *m)
{
	static const char *const uses[] = {"in use", "out of date", "not there", "failed", "returning"};

	printf("member %-2u   %-12s %s%s%s\n", k + 1, uses[m->use], m->uri, *m->text ? ": " : "", m->text);
}

static void print_store(const struct gn_store *store)
{
	const struct gn_store_view *v = gn_store_view_of(store);
	struct gn_store_member m;

	printf("path        %s\ncapacity    %llu bytes\nblock       %u bytes\n", gn_store_path(store),
	       (unsigned long long)v->capacity_bytes, v->block_bytes);
	if (v->kind == GN_STORE_QUEUES)
		printf("transfer    %u bytes at most\n", v->transfer_bytes);
	for (uint32_t k = 0; !gn_store_get_member(store, k, &m); k++)
		print_member(k, &m);
}

int tool_store_info(int argc, char **argv)
{
	struct simt_machine *machine = NULL;
	struct gn_store *store = NULL;
	struct gn_error e = {0, ""};
	struct request r;
	int rc;

	memset(&r, 0, sizeof r);
	argp_parse(&info_argp, argc, argv, 0, NULL, &r);
	rc = tool_store_open(&machine, &store, r.uri, false, &e);
	if (!rc)
		print_store(store);
	gn_store_close(store);
	if (machine)
		simt_close(machine);
	return rc ? tool_fail("store info", &e) : TOOL_OK;
}

/* ---- verify, rebuild ---- */

static int work(const struct request *r, struct gn_replica_report *report, struct gn_error *e)
{
	struct simt_options cpu = {"cpu", 1, 0, SIMT_FAIR, 0};
	struct simt_machine *machine;
	int rc = simt_open(&machine, &cpu, e);

	if (rc)
		return rc;
	rc = r->writes ? gn_replica_rebuild(machine, r->uri, r->from, r->whole, report, e)
	               : gn_replica_verify(machine, r->uri, report, e);
	simt_close(machine);
	return rc;
}

int tool_store_verify(int argc, char **argv)
{
	struct gn_replica_report report;
	struct gn_error e = {0, ""};
	struct request r;

	memset(&r, 0, sizeof r);
	argp_parse(&verify_argp, argc, argv, 0, NULL, &r);
	if (work(&r, &report, &e))
		return tool_fail("store verify", &e);
	if (report.members)
		printf("%llu bytes of %u members equal those of member %u\n",
		       (unsigned long long)report.bytes, report.members, report.source);
	else
		printf("only member %u is up to date: there is nothing to compare\n", report.source);
	return TOOL_OK;
}

int tool_store_rebuild(int argc, char **argv)
{
	struct gn_replica_report report;
	struct gn_error e = {0, ""};
	struct request r;

	memset(&r, 0, sizeof r);
	r.writes = true;
	argp_parse(&rebuild_argp, argc, argv, 0, NULL, &r);
	if (work(&r, &report, &e))
		return tool_fail("store rebuild", &e);
	if (!report.members)
		printf("every member is up to date by the state; --whole compares all of them\n");
	else
		printf("%u members now have the %llu bytes of member %u; %llu bytes were copied, %s\n",
		       report.members, (unsigned long long)report.bytes, report.source,
		       (unsigned long long)report.copied_bytes,
		       !report.logged                    ? "all were compared"
		       : report.logged == report.members ? "what was missed by the log was compared"
		                                         : "of some only what they missed was compared");
	return TOOL_OK;
}
