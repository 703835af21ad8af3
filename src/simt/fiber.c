/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/fiber.h>

#include <pthread.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(low, high) ((void)(low), (void)(high), 0)
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Boost.Context's C interface: boost/context/detail/fcontext.hpp. */
struct transfer {
	void *context; /* of the context that jumped here */
	void *data;
};
struct transfer jump_fcontext(void *to, void *data);
void *make_fcontext(void *top, size_t bytes, void (*body)(struct transfer));

#if SIMT_ASAN
void __sanitizer_start_switch_fiber(void **save, const void *low, size_t bytes);
void __sanitizer_finish_switch_fiber(void *save, const void **low, size_t *bytes);
void __asan_unpoison_memory_region(void const volatile *low, size_t bytes);
#endif
#if SIMT_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
enum { TSAN_NO_SYNC = 1 };
#endif

#ifdef __cplusplus
}
#endif

/*
 * jump_fcontext ends with a jump, not with a return. If it were called, the processor's stack of return
 * addresses would keep one address too many at each switch, and every later return would be mispredicted (5
 * ns each). So on x86-64 it is entered by a jump, too. On aarch64 it ends with a return, so it is called.
 */
static inline struct transfer jump(void *to, void *data)
{
#if defined(__x86_64__)
	struct transfer came;

	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t" /* the red zone of this function */
	                 "leaq 1f(%%rip), %%rax\n\t"
	                 "pushq %%rax\n\t"
	                 "jmp *%[jump]\n"
	                 "1:\tleaq 128(%%rsp), %%rsp"
	                 : "=&a"(came.context), "=&d"(came.data), "+D"(to), "+S"(data)
	                 : [jump] "r"(jump_fcontext)
	                 : "rcx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3",
	                   "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
	                   "xmm14", "xmm15");
	return came;
#else
	return jump_fcontext(to, data);
#endif
}

static void leave(struct simt__context *from, struct simt__context *to)
{
#if SIMT_ASAN
	__sanitizer_start_switch_fiber(&from->asan, to->low, to->bytes);
#endif
#if SIMT_TSAN
	__tsan_switch_to_fiber(to->tsan, TSAN_NO_SYNC);
#endif
	from->to = to;
}

/* The counterpart of leave: self runs again (or for the first time), switched to from came.from. */
static void arrive(struct simt__context *self, struct transfer came)
{
	struct simt__context *from = (struct simt__context *)came.data;

	from->resume = came.context;
#if SIMT_ASAN
	/* The sanitizer also fills in the stack of an OS thread here. */
	__sanitizer_finish_switch_fiber(self->asan, &from->low, &from->bytes);
#else
	(void)self;
#endif
}

static void begin(struct transfer came)
{
	struct simt__context *self = ((struct simt__context *)came.data)->to;

	arrive(self, came);
	self->body(self);
}

#if SIMT_TSAN
/*
 * The sanitizer maps memory for each handle that it makes, so handles of ended contexts are used again. A
 * context that was abandoned leaves the frames of its functions on its handle, which has room for 65536.
 */
enum { HANDLES_KEPT = 2048, USES_OF_A_HANDLE = 1000 };
static struct {
	pthread_mutex_t lock;
	unsigned count;
	void *handle[HANDLES_KEPT];
	unsigned uses[HANDLES_KEPT];
} kept = {PTHREAD_MUTEX_INITIALIZER, 0, {NULL}, {0}};

static void take_handle(struct simt__context *self)
{
	void *const mine = __tsan_get_current_fiber();

	self->tsan = NULL;
	pthread_mutex_lock(&kept.lock);
	if (kept.count) {
		self->tsan = kept.handle[--kept.count];
		self->tsan_uses = kept.uses[kept.count] + 1;
	}
	pthread_mutex_unlock(&kept.lock);
	if (!self->tsan) {
		self->tsan = __tsan_create_fiber(0);
		self->tsan_uses = 1;
		return;
	}
	/* As a new one is: what was done here is ordered before what the context does. */
	__tsan_release(self);
	__tsan_switch_to_fiber(self->tsan, TSAN_NO_SYNC);
	__tsan_acquire(self);
	__tsan_switch_to_fiber(mine, TSAN_NO_SYNC);
}

static void give_handle(struct simt__context *self)
{
	pthread_mutex_lock(&kept.lock);
	if (kept.count < HANDLES_KEPT && self->tsan_uses < USES_OF_A_HANDLE) {
		kept.handle[kept.count] = self->tsan;
		kept.uses[kept.count++] = self->tsan_uses;
		self->tsan = NULL;
	}
	pthread_mutex_unlock(&kept.lock);
	if (self->tsan)
		__tsan_destroy_fiber(self->tsan);
}
#endif

void simt__context_adopt(struct simt__context *self)
{
	self->asan = NULL;
#if SIMT_TSAN
	self->tsan = __tsan_get_current_fiber();
#endif
}

void simt__context_init(struct simt__context *self, void *low, size_t bytes,
                        void (*body)(struct simt__context *self))
{
	self->low = low;
	self->bytes = bytes;
	self->body = body;
	self->asan = NULL;
#if SIMT_TSAN
	take_handle(self);
#endif
	self->valgrind = VALGRIND_STACK_REGISTER(low, (char *)low + bytes);
	self->resume = make_fcontext((char *)low + bytes, bytes, begin);
}

void simt__context_fini(struct simt__context *self, struct simt__context *caller, void *end)
{
#if SIMT_ASAN
	/* The context was abandoned in the middle of functions, with red zones on its stack. */
	__asan_unpoison_memory_region(self->low, self->bytes);
#endif
#if SIMT_TSAN
	__tsan_switch_to_fiber(self->tsan, TSAN_NO_SYNC);
	__tsan_release(end);
	__tsan_switch_to_fiber(caller->tsan, TSAN_NO_SYNC);
	give_handle(self);
#endif
	VALGRIND_STACK_DEREGISTER(self->valgrind);
	(void)caller;
	(void)end;
}

void simt__context_switch(struct simt__context *from, struct simt__context *to)
{
	leave(from, to);
	arrive(from, jump(to->resume, from));
}
