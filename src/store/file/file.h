/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h - the engines of a file: store. The store's medium opens one of them.
 */
#ifndef GN_STORE_FILE_FILE_H
#define GN_STORE_FILE_FILE_H

#include <store/controller/engine.h>
#include <store/file/target.h>

/*
 * gn_uring_open - open an engine over io_uring. The first thread that calls its turn owns it.
 * @in_flight  the most requests that it will have at one time
 * Returns 0, -GN_EPERM or -GN_ENOTSUP (the system does not permit io_uring), -GN_ENOMEM.
 */
int gn_uring_open(struct gn_engine **engine, const struct gn_file_target *target,
                  const struct gn_nvmeq *queue, uint32_t count, uint32_t in_flight);

/*
 * gn_threads_open - open an engine of threads that call preadv and pwritev, for systems that do not permit
 * io_uring.
 * @threads  number of threads
 * Returns 0 or -GN_ENOMEM.
 */
int gn_threads_open(struct gn_engine **engine, const struct gn_file_target *target, unsigned threads);

#endif
