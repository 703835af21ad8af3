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
// A view is a struct gn_array and, 32 bytes more, a cursor: the page that was read last by []
// (detail/array/recent.h). It is trivially copyable and belongs into a kernel's arguments; each thread then
// reads through a copy of its own, as above.
//
//   const   a const array returns values. Each read looks its page up, so it changes nothing and can never
//           make a page dirty. A non-const one gives a gn::element, which reads through the
//           cursor when it is used as a T and writes when it is assigned to. (`auto e = x[i]` is therefore
//           the element, not its value.)
//   copies  of a view may go anywhere with what it remembers: each read checks whether that is still so.
//           Threads that read through one view at once race for its cursor; a const one may be shared.
//   writes  go to the page itself: the next read of the same thread sees them, through whatever view.
//   ends    nothing has to be done when a view ends: its cursor pins no page, and where the cache counts,
//           every hit is counted when it happens.
//
// In a kernel that only reads through a view, its registers are those of a loop with gn_cursor_read_T; one
// that writes through it keeps it in the thread's memory. Failures are kept in the array, as for gn_read_u32
// in array.h.
//
#ifndef GRAPNEL_GRAPNEL_HPP
#define GRAPNEL_GRAPNEL_HPP

#include <grapnel/detail/array/recent.h>
#include <grapnel/grapnel.h>

namespace gn {

namespace detail {

// Unsigned storage for an element of Size bytes: what array.h moves, whatever T is.
template <unsigned Size> struct storage;
// clang-format off
template <> struct storage<1> { uint8_t bits; };
template <> struct storage<2> { uint16_t bits; };
template <> struct storage<4> { uint32_t bits; };
template <> struct storage<8> { uint64_t bits; };
template <> struct storage<16> { uint64_t bits[2]; };
// clang-format on

// Status form. Returns 0 or a negative code; on failure *value is unchanged.
template <typename T> SIMT_MEMBER_FN int read(const struct gn_array &a, uint64_t index, T *value)
{
	struct storage<sizeof(T)> raw = {};
	int rc = gn__read(&a, index, &raw.bits, sizeof(T));

	if (!rc)
		memcpy(value, &raw, sizeof(T));
	return rc;
}

// The same through the page that was read last.
template <typename T>
SIMT_INLINE_MEMBER_FN int read(const struct gn_array &a, struct gn__recent *recent, uint64_t index, T *value)
{
	struct storage<sizeof(T)> raw = {};
	int rc = gn__recent_read(&a, recent, index, &raw.bits, sizeof(T));

	if (!rc)
		memcpy(value, &raw, sizeof(T));
	return rc;
}

template <typename T> SIMT_MEMBER_FN int write(const struct gn_array &a, uint64_t index, const T &value)
{
	uint64_t bits[2] = {0, 0};

	memcpy(bits, &value, sizeof(T));
	return gn__write(&a, index, bits[0], bits[1], sizeof(T));
}

} // namespace detail

// One element of an array that may be written. Lives as long as the array it came from.
template <typename T> class element {
      public:
	SIMT_MEMBER_FN element(const struct gn_array &array, struct gn__recent &recent, uint64_t index)
	    : array_(&array), recent_(&recent), index_(index)
	{
	}

	SIMT_INLINE_MEMBER_FN operator T() const
	{
		T value = T();

		(void)detail::read(*array_, recent_, index_, &value);
		return value;
	}
	SIMT_MEMBER_FN element &operator=(const T &value)
	{
		(void)detail::write(*array_, index_, value);
		return *this;
	}
	// x[i] = x[j] copies the value.
	SIMT_MEMBER_FN element &operator=(const element &other)
	{
		return *this = T(other);
	}
	element(const element &) = default;

	// A read and a write, not an atomic update.
	SIMT_MEMBER_FN element &operator+=(const T &by)
	{
		return *this = T(T(*this) + by);
	}
	SIMT_MEMBER_FN element &operator-=(const T &by)
	{
		return *this = T(T(*this) - by);
	}
	SIMT_MEMBER_FN element &operator*=(const T &by)
	{
		return *this = T(T(*this) * by);
	}

      private:
	const struct gn_array *array_;
	struct gn__recent *recent_;
	uint64_t index_;
};

// A view of an array whose elements have the size of T.
template <typename T> class array {
	static_assert(__is_trivially_copyable(T), "elements are moved as bytes");
	static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
	              "elements have 1, 2, 4, 8 or 16 bytes");

      public:
	array() = default; // as plain data: nothing is set
	SIMT_MEMBER_FN explicit array(const struct gn_array &raw) : raw_(raw)
	{
		gn__recent_forget(&recent_);
	}

	// Do the elements have the size of T? If not, every access is refused: the array keeps -GN_EINVAL.
	SIMT_MEMBER_FN bool fits() const
	{
		return 1ull << raw_.element_log2 == sizeof(T);
	}
	SIMT_MEMBER_FN uint64_t size() const
	{
		return gn_count(&raw_);
	}

	SIMT_MEMBER_FN T operator[](uint64_t index) const
	{
		T value = T();

		(void)detail::read(raw_, index, &value);
		return value;
	}
	SIMT_MEMBER_FN element<T> operator[](uint64_t index)
	{
		return element<T>(raw_, recent_, index);
	}

	// Status forms: 0 or a negative code, as gn_array_read and gn_array_write.
	SIMT_MEMBER_FN int read(uint64_t index, T *value) const
	{
		return detail::read(raw_, index, value);
	}
	SIMT_MEMBER_FN int read(uint64_t index, T *value)
	{
		return detail::read(raw_, &recent_, index, value);
	}
	SIMT_MEMBER_FN int write(uint64_t index, const T &value)
	{
		return detail::write(raw_, index, value);
	}

	// For the C functions: cursors, page references, gn_array_failure. The second form lets the array be
	// changed, so the page that was read last is forgotten: call it anew for each change.
	SIMT_MEMBER_FN const struct gn_array *raw() const
	{
		return &raw_;
	}
	SIMT_MEMBER_FN struct gn_array *raw()
	{
		gn__recent_forget(&recent_);
		return &raw_;
	}

      private:
	struct gn_array raw_;
	struct gn__recent recent_;
};

} // namespace gn

#endif
