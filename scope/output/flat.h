/* SPDX-License-Identifier: Apache-2.0 */
/* flat.h - a tree of JSON as one list of "a.b.0" and texts, to be shown or compared. */
#ifndef GN_SCOPE_FLAT_H
#define GN_SCOPE_FLAT_H

#include <jansson.h>

/* scope_flat - an object of texts, owned by the caller; NULL: no memory. */
json_t *scope_flat(const json_t *tree);

#endif
