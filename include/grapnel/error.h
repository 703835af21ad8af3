/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - the library's codes and its messages.
 *
 * A function returns 0 (or a count) on success and a negative code on failure: `return -GN_EIO;`.
 * The codes equal Linux errno values and are the same on host and device. The status of a device (for
 * example an NVMe status field) is kept beside the code, never mixed into it.
 *
 * Host functions that can fail also take a `struct gn_error *`, last, which may be NULL. On
 * failure it receives one line that says what was wrong, where, and what to do about it. Some functions have
 * no gn_error, because their code says everything: gn_size_parse, gn_ring_init. The library never prints,
 * exits or aborts.
 */
#ifndef GRAPNEL_ERROR_H
#define GRAPNEL_ERROR_H

#include <grapnel/detail/plain.h>

#ifdef __cplusplus
#define GN__STATIC_ASSERT static_assert
#else
#define GN__STATIC_ASSERT _Static_assert
#endif

enum {
	GN_EPERM = 1,      /* not permitted on this system */
	GN_ENOENT = 2,     /* no such file, device or name */
	GN_EIO = 5,        /* the device reported an error; see its status */
	GN_EAGAIN = 11,    /* would block; nothing was changed */
	GN_ENOMEM = 12,    /* out of memory on the host or the device */
	GN_EACCES = 13,    /* permission denied */
	GN_EBUSY = 16,     /* held by somebody else; nothing was changed, unless the call says so */
	GN_ENODEV = 19,    /* no such machine or device, or it was not built in */
	GN_EINVAL = 22,    /* an argument is out of its domain */
	GN_EFBIG = 27,     /* too large for the format or the object */
	GN_ENOSPC = 28,    /* the storage is full */
	GN_EROFS = 30,     /* write to something opened read-only */
	GN_ERANGE = 34,    /* an index or address past the end */
	GN_EDEADLK = 35,   /* every thread waits and none can go on */
	GN_EBADMSG = 74,   /* the bytes are damaged: bad magic, checksum or content */
	GN_ENOTSUP = 95,   /* this object cannot do that */
	GN_ENOBUFS = 105,  /* no frame, slot or pin is to be had: release some, or read element by element */
	GN_ETIMEDOUT = 110 /* the deadline passed */
};

/* One failure, in words: the last one. A call that succeeds leaves it as it is. text is always terminated. */
struct gn_error {
	int code; /* 0 or a negative code; of gn_net_run also what the program returned */
	char text[508];
};

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/*
 * gn_error_set - record a failure and return its code.
 * @e     where to write the message; NULL drops it
 * @code  negative code
 * @format, ...  as printf: what was wrong, where, what to do
 * Returns code. Any thread; does not block. A message that is too long is cut.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int gn_error_set(struct gn_error *e, int code, const char *format, ...);

/*
 * gn_error_prefix - put words in front of the message of a failure: "WORDS: MESSAGE".
 * @e     has the message of a call that failed; NULL does nothing
 * @code  negative code, recorded in place of the one before; 0 does nothing
 * @format, ...  as printf: what the caller was doing
 * Returns code. Any thread; does not block. A message that is too long is cut.
 */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
int gn_error_prefix(struct gn_error *e, int code, const char *format, ...);

/*
 * gn_error_name - the name of a code: gn_error_name(-GN_EIO) is "GN_EIO".
 * Returns a static string, "GN_E?" for a code that is not the library's. Any thread.
 */
const char *gn_error_name(int code);

/*
 * gn_size_parse - read a size such as "4096", "64K", "8G" or "1.5TiB".
 * @text   digits, an optional fraction, an optional K, M, G or T (powers of 1024) with an
 *         optional "B" or "iB" behind it, either case
 * @bytes  receives the size in bytes, rounded down
 * Returns 0, -GN_EINVAL if text is not a size, -GN_ERANGE if it does not fit in 64 bits.
 */
int gn_size_parse(const char *text, uint64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif

#endif
