/* SPDX-License-Identifier: Apache-2.0 */
#include <grapnel/error.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int gn_error_set(struct gn_error *e, int code, const char *format, ...)
{
	if (e) {
		va_list arguments;

		va_start(arguments, format);
		vsnprintf(e->text, sizeof e->text, format, arguments);
		va_end(arguments);
		e->code = code;
	}
	return code;
}

int gn_error_prefix(struct gn_error *e, int code, const char *format, ...)
{
	if (e && code) {
		struct gn_error message = *e;
		va_list arguments;
		size_t used;

		va_start(arguments, format);
		vsnprintf(e->text, sizeof e->text, format, arguments);
		va_end(arguments);
		used = strlen(e->text);
		message.text[sizeof message.text - 1] = '\0';
		snprintf(e->text + used, sizeof e->text - used, ": %s", message.text);
		e->code = code;
	}
	return code;
}

const char *gn_error_name(int code)
{
	switch (code) {
	case 0: return "ok";
	case -GN_EPERM: return "GN_EPERM";
	case -GN_ENOENT: return "GN_ENOENT";
	case -GN_EIO: return "GN_EIO";
	case -GN_EAGAIN: return "GN_EAGAIN";
	case -GN_ENOMEM: return "GN_ENOMEM";
	case -GN_EACCES: return "GN_EACCES";
	case -GN_EBUSY: return "GN_EBUSY";
	case -GN_ENODEV: return "GN_ENODEV";
	case -GN_EINVAL: return "GN_EINVAL";
	case -GN_EFBIG: return "GN_EFBIG";
	case -GN_ENOSPC: return "GN_ENOSPC";
	case -GN_EROFS: return "GN_EROFS";
	case -GN_ERANGE: return "GN_ERANGE";
	case -GN_EDEADLK: return "GN_EDEADLK";
	case -GN_EBADMSG: return "GN_EBADMSG";
	case -GN_ENOTSUP: return "GN_ENOTSUP";
	case -GN_ENOBUFS: return "GN_ENOBUFS";
	case -GN_ETIMEDOUT: return "GN_ETIMEDOUT";
	default: return "GN_E?";
	}
}

static int size_unit(const char *unit, unsigned *shift)
{
	static const char letters[] = "KMGT";

	*shift = 0;
	for (unsigned k = 0; letters[k]; k++) {
		if (toupper((unsigned char)*unit) == letters[k]) {
			*shift = 10 * (k + 1);
			unit++;
			if (!strcasecmp(unit, "iB"))
				return 0;
			break;
		}
	}
	return *unit == '\0' || !strcasecmp(unit, "B") ? 0 : -GN_EINVAL;
}

int gn_size_parse(const char *text, uint64_t *bytes)
{
	unsigned long long whole;
	double fraction = 0;
	unsigned shift;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -GN_EINVAL;
	errno = 0;
	whole = strtoull(text, &end, 10);
	if (errno == ERANGE)
		return -GN_ERANGE;
	if (*end == '.') {
		const char *digits = end + 1;

		if (!isdigit((unsigned char)*digits))
			return -GN_EINVAL;
		for (double place = 0.1; isdigit((unsigned char)*digits); digits++, place /= 10)
			fraction += place * (*digits - '0');
		end = (char *)digits;
	}
	if (size_unit(end, &shift))
		return -GN_EINVAL;
	if (whole > UINT64_MAX >> shift)
		return -GN_ERANGE;
	/* Many nines round up to 1 in binary; the fraction must stay below 1. */
	if (fraction >= 1)
		fraction = nextafter(1, 0);
	*bytes = ((uint64_t)whole << shift) + (uint64_t)ldexp(fraction, (int)shift);
	return 0;
}
