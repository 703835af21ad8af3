/* SPDX-License-Identifier: Apache-2.0 */
/* arrow_values.hpp - a value of an Arrow array as a field, and the type of column that holds it. For
 * arrow.cc. */
#ifndef GN_COLUMNS_ARROW_VALUES_HPP
#define GN_COLUMNS_ARROW_VALUES_HPP

#include <arrow/api.h>
#include <memory>
#include <string>

#include "fields.h"

struct gn_arrow_column;

/* Sets kind and value of a field from a row where there is a value. What is text there is good until the
 * next. */
using gn_arrow_reader = void (*)(gn_arrow_column &, const arrow::Array &, int64_t row, gn_field &);

struct gn_arrow_column {
	uint32_t type = GN_COLUMN_NONE; /* of the column that holds it best; GN_COLUMN_NONE: none does */
	uint32_t scale = 0;
	gn_arrow_reader read = nullptr;      /* NULL: it cannot be read */
	gn_arrow_reader read_word = nullptr; /* of a dictionary: reads a value in it */
	std::string name, arrow_type;
	std::shared_ptr<arrow::Array> values;     /* of the batch */
	std::shared_ptr<arrow::Array> dictionary; /* the same, where read_word is set */
	std::string text;                         /* of a value that has no other place */
};

gn_arrow_column gn__arrow_column_of(const arrow::Field &field);

#endif
