/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - which Grapnel this is.
 *
 * The macros have the version of the headers with which a program was compiled. The functions return the
 * version of the library with which it runs. Before version 1.0 a new minor version may change the
 * interface, and the shared library's name with it (libgrapnel.so.0.1); a new patch version does not.
 */
#ifndef GRAPNEL_VERSION_H
#define GRAPNEL_VERSION_H

/* The build takes the version from here. */
#define GN_VERSION_MAJOR 0
#define GN_VERSION_MINOR 1
#define GN_VERSION_PATCH 0

/* The three as one number that grows from version to version, for #if: 1.2.3 is 10203. */
#define GN_VERSION (GN_VERSION_MAJOR * 10000 + GN_VERSION_MINOR * 100 + GN_VERSION_PATCH)

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/* gn_version - the library's GN_VERSION. Any host thread; cannot fail. */
int gn_version(void);

/*
 * gn_version_text - the library's version in words, such as "1.2.3". Borrowed for as long as the library is
 * loaded.
 */
const char *gn_version_text(void);

#ifdef __cplusplus
}
#endif
#endif

#endif
