/* SPDX-License-Identifier: Apache-2.0 */
#include "arrow_values.hpp"

#include <algorithm>
#include <arrow/util/float16.h>
#include <cmath>

namespace {

using arrow::Array;
using arrow::DataType;
using arrow::Type;

/* A file can claim any scale. Of those beyond, text has an exponent, which is not long. */
constexpr int32_t MOST_SCALE = 200;

/* ---- a value ---- */

void take_text(gn_field &f, std::string_view text)
{
	f.kind = GN_FIELD_TEXT;
	f.text = text.empty() ? "" : text.data();
	f.length = text.size();
}

template <class A> void read_exact(gn_arrow_column &, const Array &a, int64_t row, gn_field &f)
{
	f.kind = GN_FIELD_EXACT;
	f.value.exact = static_cast<int64_t>(static_cast<const A &>(a).Value(row));
}

void read_uint64(gn_arrow_column &c, const Array &a, int64_t row, gn_field &f)
{
	const uint64_t value = static_cast<const arrow::UInt64Array &>(a).Value(row);

	if (value <= INT64_MAX)
		return read_exact<arrow::UInt64Array>(c, a, row, f);
	c.text = std::to_string(value);
	take_text(f, c.text);
}

void take_real(gn_field &f, gn_field_kind kind, double value)
{
	f.kind = std::isnan(value) ? GN_FIELD_MISSING : kind;
	f.value.real = value;
}

void read_half(gn_arrow_column &, const Array &a, int64_t row, gn_field &f)
{
	const uint16_t bits = static_cast<const arrow::HalfFloatArray &>(a).Value(row);

	take_real(f, GN_FIELD_F32, static_cast<double>(arrow::util::Float16::FromBits(bits).ToFloat()));
}

void read_float(gn_arrow_column &, const Array &a, int64_t row, gn_field &f)
{
	take_real(f, GN_FIELD_F32, static_cast<double>(static_cast<const arrow::FloatArray &>(a).Value(row)));
}

void read_double(gn_arrow_column &, const Array &a, int64_t row, gn_field &f)
{
	take_real(f, GN_FIELD_F64, static_cast<const arrow::DoubleArray &>(a).Value(row));
}

/* The digits without the point, if 64 bits hold them. */
template <class D> bool digits_of(const D &value, int64_t *digits)
{
	if constexpr (sizeof value <= sizeof *digits) {
		*digits = value.value();
		return true;
	} else {
		const auto words = value.little_endian_array();

		*digits = static_cast<int64_t>(words[0]);
		return std::all_of(words.begin() + 1, words.end(), [=](uint64_t word) {
			return static_cast<int64_t>(word) == *digits >> 63;
		});
	}
}

/* The number that digits without a point are. Zeros at the end behind the point say nothing, and would not
 * fit.
 */
std::string plain(std::string digits, int32_t scale)
{
	const size_t sign = digits[0] == '-';
	const size_t behind = scale > 0 ? static_cast<size_t>(scale) : 0;

	if (scale < 0 && digits != "0")
		digits.append(static_cast<size_t>(-scale), '0');
	if (digits.size() - sign <= behind)
		digits.insert(sign, behind + 1 - (digits.size() - sign), '0');
	if (!behind)
		return digits;
	digits.insert(digits.size() - behind, 1, '.');
	digits.erase(digits.find_last_not_of('0') + 1);
	if (digits.back() == '.')
		digits.pop_back();
	return digits;
}

template <class D, class A> void read_decimal(gn_arrow_column &c, const Array &a, int64_t row, gn_field &f)
{
	const auto &decimals = static_cast<const A &>(a);
	const D value(decimals.GetValue(row));
	const int32_t scale = static_cast<const arrow::DecimalType &>(*a.type()).scale();

	f.kind = GN_FIELD_EXACT;
	if (c.type == GN_COLUMN_DECIMAL && digits_of(value, &f.value.exact))
		return;
	c.text = std::abs(static_cast<int64_t>(scale)) <= MOST_SCALE ? plain(value.ToIntegerString(), scale)
	                                                             : decimals.FormatValue(row);
	take_text(f, c.text);
}

template <class A> void read_text(gn_arrow_column &, const Array &a, int64_t row, gn_field &f)
{
	take_text(f, static_cast<const A &>(a).GetView(row));
}

void read_word(gn_arrow_column &c, const Array &a, int64_t row, gn_field &f)
{
	const int64_t place = static_cast<const arrow::DictionaryArray &>(a).GetValueIndex(row);

	if (c.dictionary->IsValid(place))
		c.read_word(c, *c.dictionary, place, f);
}

void read_nothing(gn_arrow_column &, const Array &, int64_t, gn_field &f)
{
	f.kind = GN_FIELD_MISSING;
}

/* ---- a type ---- */

struct kind {
	uint32_t type = GN_COLUMN_NONE;
	uint32_t scale = 0;
	gn_arrow_reader read = nullptr;
};

template <class D, class A> kind decimal_kind(const DataType &type)
{
	const gn_arrow_reader read = read_decimal<D, A>;
	const int32_t scale = static_cast<const arrow::DecimalType &>(type).scale();

	if (scale < 0 || scale > GN_COLUMN_MOST_SCALE)
		return {GN_COLUMN_NONE, 0, read};
	return {GN_COLUMN_DECIMAL, static_cast<uint32_t>(scale), read};
}

/* Times are seconds, with as many digits behind the point as the unit has. */
template <class A> kind time_kind(arrow::TimeUnit::type unit)
{
	return {GN_COLUMN_DECIMAL, 3 * static_cast<uint32_t>(unit), read_exact<A>};
}

template <class T, class A> kind time_kind(const DataType &type)
{
	return time_kind<A>(static_cast<const T &>(type).unit());
}

kind kind_of(const DataType &type)
{
	switch (type.id()) {
	case Type::NA: return {GN_COLUMN_STRING, 0, read_nothing};
	case Type::BOOL: return {GN_COLUMN_I32, 0, read_exact<arrow::BooleanArray>};
	case Type::INT8: return {GN_COLUMN_I32, 0, read_exact<arrow::Int8Array>};
	case Type::INT16: return {GN_COLUMN_I32, 0, read_exact<arrow::Int16Array>};
	case Type::INT32: return {GN_COLUMN_I32, 0, read_exact<arrow::Int32Array>};
	case Type::INT64: return {GN_COLUMN_DECIMAL, 0, read_exact<arrow::Int64Array>};
	case Type::UINT8: return {GN_COLUMN_I32, 0, read_exact<arrow::UInt8Array>};
	case Type::UINT16: return {GN_COLUMN_I32, 0, read_exact<arrow::UInt16Array>};
	case Type::UINT32: return {GN_COLUMN_U32, 0, read_exact<arrow::UInt32Array>};
	case Type::UINT64: return {GN_COLUMN_DECIMAL, 0, read_uint64};
	case Type::HALF_FLOAT: return {GN_COLUMN_F32, 0, read_half};
	case Type::FLOAT: return {GN_COLUMN_F32, 0, read_float};
	case Type::DOUBLE: return {GN_COLUMN_F64, 0, read_double};
	case Type::DECIMAL32: return decimal_kind<arrow::Decimal32, arrow::Decimal32Array>(type);
	case Type::DECIMAL64: return decimal_kind<arrow::Decimal64, arrow::Decimal64Array>(type);
	case Type::DECIMAL128: return decimal_kind<arrow::Decimal128, arrow::Decimal128Array>(type);
	case Type::DECIMAL256: return decimal_kind<arrow::Decimal256, arrow::Decimal256Array>(type);
	case Type::DATE32: return {GN_COLUMN_I32, 0, read_exact<arrow::Date32Array>};
	case Type::DATE64: return time_kind<arrow::Date64Array>(arrow::TimeUnit::MILLI);
	case Type::TIME32: return time_kind<arrow::TimeType, arrow::Time32Array>(type);
	case Type::TIME64: return time_kind<arrow::TimeType, arrow::Time64Array>(type);
	case Type::TIMESTAMP: return time_kind<arrow::TimestampType, arrow::TimestampArray>(type);
	case Type::DURATION: return time_kind<arrow::DurationType, arrow::DurationArray>(type);
	case Type::STRING: return {GN_COLUMN_STRING, 0, read_text<arrow::StringArray>};
	case Type::LARGE_STRING: return {GN_COLUMN_STRING, 0, read_text<arrow::LargeStringArray>};
	case Type::STRING_VIEW: return {GN_COLUMN_STRING, 0, read_text<arrow::StringViewArray>};
	case Type::BINARY: return {GN_COLUMN_NONE, 0, read_text<arrow::BinaryArray>};
	case Type::LARGE_BINARY: return {GN_COLUMN_NONE, 0, read_text<arrow::LargeBinaryArray>};
	default: return {};
	}
}

} // namespace

gn_arrow_column gn__arrow_column_of(const arrow::Field &field)
{
	const bool has_words = field.type()->id() == Type::DICTIONARY;
	gn_arrow_column c;
	kind how = kind_of(*field.type());

	if (has_words)
		how = kind_of(*static_cast<const arrow::DictionaryType &>(*field.type()).value_type());
	c.type = how.type;
	c.scale = how.scale;
	c.read = how.read;
	if (has_words && how.read) {
		c.read = read_word;
		c.read_word = how.read;
	}
	c.name = field.name();
	c.arrow_type = field.type()->ToString();
	return c;
}
