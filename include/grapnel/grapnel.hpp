// SPDX-License-Identifier: Apache-2.0
//
// grapnel.hpp - the C++ view: gn::array<T>, a struct gn_array with [] on it.
//
//     struct scale_args { gn::array<float> x; float by; };
//
//     SIMT_FN void scale(const struct scale_args *a)
//     {
//             gn::array<float> x = a->x;             // a handle: copying it copies no element
//
//             for (uint64_t i = simt_global_thread(); i < x.size(); i += simt_global_threads())
//                     x[i] *= a->by;
//     }
//
// It adds no state: the view is trivially copyable, has the layout of struct gn_array and belongs into a kernel's
// arguments. Const is honest: a const array gives values, so reading can never make a page dirty; a non-const
// one gives a gn::element, which reads when it is used as a T and writes when it is assigned to. (`auto e = x[i]`
// is therefore the element, not its value.) Failures are kept in the array, as for gn_read_u32 in array.h.
//
#ifndef GRAPNEL_GRAPNEL_HPP
#define GRAPNEL_GRAPNEL_HPP

#include <string.h>

#include <type_traits>

#include <grapnel/grapnel.h>

namespace gn {

namespace detail {

// Unsigned storage for an element of Size bytes: what array.h moves, whatever T is.
template <unsigned Size> struct storage;
template <> struct storage<1> { uint8_t bits; };
template <> struct storage<2> { uint16_t bits; };
template <> struct storage<4> { uint32_t bits; };
template <> struct storage<8> { uint64_t bits; };
template <> struct storage<16> { uint64_t bits[2]; };

// Status form. Returns 0 or a negative code; on failure *value is unchanged.
template <typename T> SIMT_MEMBER_FN int read(const struct gn_array &a, uint64_t index, T *value)
{
	struct storage<sizeof(T)> raw = {};
	int rc = gn__read(&a, index, &raw.bits, sizeof(T));

	if (!rc)
		memcpy(value, &raw, sizeof(T));
	return rc;
}

template <typename T> SIMT_MEMBER_FN int write(const struct gn_array &a, uint64_t index, const T &value)
{
	struct storage<sizeof(T)> raw = {};

	memcpy(&raw, &value, sizeof(T));
	return gn__write(&a, index, &raw.bits, sizeof(T));
}

} // namespace detail

// One element of an array that may be written. Lives as long as the array it came from.
template <typename T> class element {
public:
	SIMT_MEMBER_FN element(const struct gn_array &array, uint64_t index) : array_(&array), index_(index) {}

	SIMT_MEMBER_FN operator T() const
	{
		T value = T();

		(void)detail::read(*array_, index_, &value);
		return value;
	}
	SIMT_MEMBER_FN element &operator=(const T &value)
	{
		(void)detail::write(*array_, index_, value);
		return *this;
	}
	// x[i] = x[j] copies the value.
	SIMT_MEMBER_FN element &operator=(const element &other) { return *this = T(other); }
	element(const element &) = default;

	// A read and a write, not an atomic update.
	SIMT_MEMBER_FN element &operator+=(const T &by) { return *this = T(T(*this) + by); }
	SIMT_MEMBER_FN element &operator-=(const T &by) { return *this = T(T(*this) - by); }
	SIMT_MEMBER_FN element &operator*=(const T &by) { return *this = T(T(*this) * by); }

private:
	const struct gn_array *array_;
	uint64_t index_;
};

// A view of an array whose elements have the size of T.
template <typename T> class array {
	static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");
	static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "elements have 1, 2, 4, 8 or 16 bytes");

public:
	array() = default; // as plain data: nothing is set
	SIMT_MEMBER_FN explicit array(const struct gn_array &raw) : raw_(raw) {}

	// Do the elements have the size of T? If not, every access is refused: the array keeps -GN_EINVAL.
	SIMT_MEMBER_FN bool fits() const { return 1ull << raw_.element_log2 == sizeof(T); }
	SIMT_MEMBER_FN uint64_t size() const { return gn_count(&raw_); }

	SIMT_MEMBER_FN T operator[](uint64_t index) const { return element<T>(raw_, index); }
	SIMT_MEMBER_FN element<T> operator[](uint64_t index) { return element<T>(raw_, index); }

	// Status forms: 0 or a negative code, as gn_array_read and gn_array_write.
	SIMT_MEMBER_FN int read(uint64_t index, T *value) const { return detail::read(raw_, index, value); }
	SIMT_MEMBER_FN int write(uint64_t index, const T &value) { return detail::write(raw_, index, value); }

	// For the C functions: cursors, page references, gn_array_failure.
	SIMT_MEMBER_FN const struct gn_array *raw() const { return &raw_; }
	SIMT_MEMBER_FN struct gn_array *raw() { return &raw_; }

private:
	struct gn_array raw_;
};

} // namespace gn

#endif
