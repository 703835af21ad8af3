/* SPDX-License-Identifier: Apache-2.0 */
#include <grapnel/version.h>

#define WORD(x) #x
#define TEXT(x) WORD(x)

int gn_version(void)
{
	return GN_VERSION;
}

const char *gn_version_text(void)
{
	return TEXT(GN_VERSION_MAJOR) "." TEXT(GN_VERSION_MINOR) "." TEXT(GN_VERSION_PATCH);
}
