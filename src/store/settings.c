/* SPDX-License-Identifier: Apache-2.0 */
#include <store/settings.h>

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TRANSFER = 64 << 10 };
#define DEFAULT_TIMEOUT_NS 10000000000u
#define DEFAULT_FLUSH_NS 600000000000u

struct option {
	unsigned bit;
	const char *name;
	const char *form; /* the option as messages show it */
	const char *values;
};

static const struct option table[] = {
    {GN_OPTION_RO, "ro", "ro", "without a value"},
    {GN_OPTION_CREATE, "create", "create=SIZE", "SIZE for example 64M"},
    {GN_OPTION_QUEUES, "queues", "queues=N", "N from 1 to 1024"},
    {GN_OPTION_DEPTH, "depth", "depth=N", "N a power of two from 2 to 32768"},
    {GN_OPTION_DIRECT, "direct", "direct=0|1", "0 or 1"},
    {GN_OPTION_TIMEOUT, "timeout", "timeout=MS", "MS milliseconds from 1 to 1000000000"},
    {GN_OPTION_THREADS, "threads", "threads=N", "N from 1 to 64"},
    {GN_OPTION_TRANSFER, "transfer", "transfer=SIZE", "SIZE from 1 to 2M"},
    {GN_OPTION_IO, "io", "io=uring|threads", "uring or threads"},
    {GN_OPTION_MEMORY, "memory", "memory=pinned|device|managed|read-mostly", "one of the words"},
    {GN_OPTION_FLUSH, "flush", "flush=MS", "MS milliseconds from 1 to 1000000000"},
    {GN_OPTION_NAMESPACE, "ns", "ns=N", "N a namespace, from 1"},
    {GN_OPTION_SIZE, "size", "size=SIZE", "SIZE for example 64G"},
    {GN_OPTION_UNIT, "unit", "unit=SIZE", "SIZE a power of two from 2M to 1G"},
};
enum { TABLE = sizeof table / sizeof table[0] };

static const struct option *find(const char *name, unsigned known)
{
	for (unsigned k = 0; k < TABLE; k++)
		if (table[k].bit & known && !strcmp(table[k].name, name))
			return &table[k];
	return NULL;
}

static void list_forms(char *text, size_t size, unsigned known)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned k = 0; k < TABLE; k++) {
		const char *form = table[k].form;
		size_t length = strlen(form);

		if (!(table[k].bit & known) || used + length + 3 > size)
			continue;
		if (used) {
			memcpy(text + used, ", ", 2);
			used += 2;
		}
		memcpy(text + used, form, length + 1);
		used += length;
	}
}

/* Parse a whole number from low to high. */
static int parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	char *end;

	if (!text || *text < '0' || *text > '9' || strlen(text) > 18)
		return -GN_EINVAL;
	*value = strtoull(text, &end, 10);
	return *end || *value < low || *value > high ? -GN_EINVAL : 0;
}

static int parse_io(const char *value, enum gn_store_io *io)
{
	if (value && !strcmp(value, "uring"))
		*io = GN_IO_URING;
	else if (value && !strcmp(value, "threads"))
		*io = GN_IO_THREADS;
	else
		return -GN_EINVAL;
	return 0;
}

static int parse_memory(const char *value, enum gn_store_memory *memory)
{
	static const char *const words[] = {"pinned", "device", "managed", "read-mostly"};

	for (unsigned k = 0; value && k < sizeof words / sizeof words[0]; k++)
		if (!strcmp(value, words[k])) {
			*memory = (enum gn_store_memory)k;
			return 0;
		}
	return -GN_EINVAL;
}

static int parse_unit(const char *value, uint64_t *unit)
{
	const uint64_t least = 2 << 20, most = 1 << 30;

	if (!value || gn_size_parse(value, unit))
		return -GN_EINVAL;
	return *unit < least || *unit > most || *unit & (*unit - 1) ? -GN_EINVAL : 0;
}

static int apply(struct gn_store_settings *s, unsigned bit, const char *value)
{
	uint64_t number = 0;
	int rc = 0;

	switch (bit) {
	case GN_OPTION_RO: s->options.read_only = 1; return value ? -GN_EINVAL : 0;
	case GN_OPTION_CREATE:
		s->create = 1;
		rc = value ? gn_size_parse(value, &s->create_bytes) : -GN_EINVAL;
		return rc || s->create_bytes ? rc : -GN_EINVAL; /* no store is empty */
	case GN_OPTION_QUEUES:
		rc = parse_number(value, 1, 1024, &number);
		s->options.queue_count = (uint32_t)number;
		return rc;
	case GN_OPTION_DEPTH:
		rc = parse_number(value, 2, 32768, &number);
		s->options.queue_depth = (uint32_t)number;
		return number & (number - 1) ? -GN_EINVAL : rc;
	case GN_OPTION_DIRECT:
		rc = parse_number(value, 0, 1, &number);
		s->direct = (int)number;
		return rc;
	case GN_OPTION_TIMEOUT:
		rc = parse_number(value, 1, 1000000000, &number);
		s->options.timeout_ns = number * 1000000;
		return rc;
	case GN_OPTION_FLUSH:
		rc = parse_number(value, 1, 1000000000, &number);
		s->flush_ns = number * 1000000;
		return rc;
	case GN_OPTION_THREADS:
		rc = parse_number(value, 1, 64, &number);
		s->threads = (unsigned)number;
		return rc;
	case GN_OPTION_TRANSFER:
		rc = value ? gn_size_parse(value, &number) : -GN_EINVAL;
		s->options.transfer_bytes = (uint32_t)number;
		return !rc && (!number || number > GN_STORE_MAX_TRANSFER) ? -GN_EINVAL : rc;
	case GN_OPTION_NAMESPACE:
		rc = parse_number(value, 1, 0xfffffffe, &number);
		s->nsid = (uint32_t)number;
		return rc;
	case GN_OPTION_SIZE:
		rc = value ? gn_size_parse(value, &s->size_bytes) : -GN_EINVAL;
		return !rc && !s->size_bytes ? -GN_EINVAL : rc;
	case GN_OPTION_UNIT: return parse_unit(value, &s->unit_bytes);
	case GN_OPTION_MEMORY: return parse_memory(value, &s->memory);
	default: return parse_io(value, &s->io);
	}
}

static int refuse(const struct gn_uri *uri, const struct gn_uri_option *given, const struct option *option,
                  unsigned known, struct gn_error *error)
{
	char forms[160];

	if (option)
		return gn_error_set(error, -GN_EINVAL, "%s:%s: option %s%s%s is not valid; write %s, %s",
		                    uri->scheme, uri->path, given->name, given->value ? "=" : "",
		                    given->value ? given->value : "", option->form, option->values);
	list_forms(forms, sizeof forms, known);
	return gn_error_set(error, -GN_EINVAL,
	                    "%s:%s: option \"%s\" does not exist; the options of %s: are %s", uri->scheme,
	                    uri->path, given->name, uri->scheme, forms);
}

int gn_store_settings_make(struct gn_store_settings *settings, const struct gn_store_options *options,
                           const struct gn_uri *uri, unsigned known, struct gn_error *error)
{
	memset(settings, 0, sizeof *settings);
	settings->direct = -1;
	settings->memory = GN_MEMORY_UNSAID;
	settings->nsid = 1;
	settings->flush_ns = DEFAULT_FLUSH_NS;
	if (options)
		settings->options = *options;
	if (!settings->options.transfer_bytes)
		settings->options.transfer_bytes = DEFAULT_TRANSFER;
	if (!settings->options.timeout_ns)
		settings->options.timeout_ns = DEFAULT_TIMEOUT_NS;
	for (unsigned k = 0; k < uri->options; k++) {
		const struct gn_uri_option *given = &uri->option[k];
		const struct option *option = find(given->name, known);

		if (!option || apply(settings, option->bit, given->value))
			return refuse(uri, given, option, known, error);
	}
	return 0;
}
