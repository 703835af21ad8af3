/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rdma_wrap.h - a completion queue is made without a device: the linker leads the library's two calls to
 * these functions of the test (LINKER:--wrap), in C and in C++.
 */
#ifndef GN_TESTS_RDMA_WRAP_H
#define GN_TESTS_RDMA_WRAP_H

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif
struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *verbs, int entries, void *context,
                                    struct ibv_comp_channel *channel, int vector);
int __wrap_ibv_destroy_cq(struct ibv_cq *cq);
#ifdef __cplusplus
}
#endif

#endif
