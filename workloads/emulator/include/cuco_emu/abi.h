// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuco_emu/types.h"

/// What the headers call in the runtime. Not for candidates.
extern "C" {

/// Constant within a fiber, so that the compiler may keep them in registers and need not report reading them.
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;

void* cuco_emu_parameters(size_t bytes, size_t align);
cudaError_t cuco_emu_launch(const char* name, const void* identity, dim3 grid, dim3 block, size_t shared_bytes,
                            cudaStream_t stream, int cooperative, void* parameters, void (*run)(void*),
                            void (*destroy)(void*));
cudaError_t cuco_emu_occupancy(int* blocks, int block_size, size_t dynamic_bytes, const void* identity);
cudaError_t cuco_emu_set_dynamic_limit(int bytes);

void* cuco_emu_shared(const void* site, size_t bytes, size_t align);
void* cuco_emu_dynamic_shared(void);

/// kind: 0 barrier, 1 count, 2 and, 3 or. threads 0: the whole block.
int cuco_emu_block_barrier(int id, int threads, int kind, int predicate);
void cuco_emu_grid_barrier(void);

enum { cuco_emu_sync, cuco_emu_shuffle, cuco_emu_ballot, cuco_emu_match_any, cuco_emu_match_all };
/// One meeting of the lanes in `mask`. shuffle: the value of lane `source`; ballot: lanes whose value is not 0;
/// match: lanes with the same value.
uint64_t cuco_emu_exchange(int operation, unsigned mask, uint64_t value, int source);
/// Meeting at which the last lane calls work(pointers of all 32 lanes).
void cuco_emu_collect(unsigned mask, void* mine, void (*work)(void** lanes, const void* argument),
                      const void* argument);
/// A warp's products c += A · B of 16 × 16 and 16 × 8, `count` of them with the same A, from the fragments of
/// workloads/harness/tensor_core.cuh: of each lane four numbers of c, and two registers of B, for every product.
void cuco_emu_multiply_fragments(float* c, const uint32_t* a, const uint32_t* b, int count);

/// A lane's part of a warpgroup's product c (+)= A · B of 64 rows and 16 of k (runtime/warpgroup.cpp). Matrices in
/// shared memory lie as workloads/harness/warpgroup.cuh says.
struct cuco_emu_product {
    float* c;            ///< the lane's, four for each eight columns
    const uint32_t* a;   ///< the lane's four registers, or null:
    const char* a_rows;  ///< A's rows are rows in shared memory
    const char* b;
    unsigned b_panel;  ///< bytes from one panel of B to the next
    int columns;
    int add;     ///< 0: c begins anew
    int b_rows;  ///< B's rows are rows in shared memory; 0: its columns are
};
void cuco_emu_begin_product(const struct cuco_emu_product* product);
/// Those begun since the last call are a group.
void cuco_emu_close_products(void);
/// Until all groups but the `open` last ones are done; by the whole warp.
void cuco_emu_wait_for_products(int open);
unsigned cuco_emu_active_mask(void);
int cuco_emu_lane(void);

/// Between begin and end the caller may use *address as the only one who sees it. begin waits for the modelled
/// time of all before it; `reads` says that a repeated look may sleep until someone writes. `site` is an address
/// in the candidate, for messages.
void cuco_emu_visible_begin(const volatile void* address, unsigned bytes, int reads, const void* site);
/// `how`: one of each of the following, and a memory order (__ATOMIC_RELAXED …).
enum {
    cuco_emu_in_block = 0 << 4,
    cuco_emu_on_device = 1 << 4,
    cuco_emu_everywhere = 2 << 4,
    cuco_emu_load = 1 << 8,
    cuco_emu_store = 2 << 8,
    cuco_emu_update = 3 << 8,
    cuco_emu_volatile = 1 << 10
};
void cuco_emu_visible_end(const volatile void* address, unsigned bytes, int changed, int how, const void* site);

/// scope: 0 block, 1 device, 2 system; order as above.
void cuco_emu_fence(int scope, int order);
void cuco_emu_account_read(const void* address, size_t bytes, const void* site);
void cuco_emu_account_write(void* address, size_t bytes, const void* site);
void cuco_emu_account_flops(double flops);
void cuco_emu_nanosleep(unsigned nanoseconds);
int64_t cuco_emu_clock_ns(void);
long long cuco_emu_clock_cycles(void);
[[noreturn]] void cuco_emu_trap(const char* why);
}

namespace cuco_emu {

struct LaunchConfig {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    LaunchConfig(dim3 g, dim3 b = 1, size_t s = 0, cudaStream_t q = nullptr)
        : grid(g), block(b), shared_bytes(s), stream(q)
    {
    }
};

/// A literal 0 among a kernel's arguments: a number or a null pointer, as the parameter wants.
struct Zero {
    template <class T>
    constexpr operator T*() const
    {
        return nullptr;
    }
    template <class T>
    requires(__is_enum(T) || requires(T value) { value * 1; }) constexpr operator T() const
    {
        return static_cast<T>(0);
    }
};

}  // namespace cuco_emu

/// Placement new without the header <new>.
struct cuco_emu_placement {};
inline void* operator new(size_t, void* where, const cuco_emu_placement&) noexcept
{
    return where;
}

namespace cuco_emu {

template <class Call, class... Args>
inline cudaError_t launch_as(const char* name, const void* identity, int cooperative, Call call,
                             const LaunchConfig& config, Args... args)
{
    auto body = [call, args...]() mutable { call(args...); };
    using Body = decltype(body);
    void* where = cuco_emu_parameters(sizeof(Body), alignof(Body));
    new (where, cuco_emu_placement{}) Body(body);
    void (*run)(void*) = [](void* self) { (*static_cast<Body*>(self))(); };
    void (*destroy)(void*) = [](void* self) { static_cast<Body*>(self)->~Body(); };
    return cuco_emu_launch(name, identity ? identity : reinterpret_cast<const void*>(run), config.grid, config.block,
                           config.shared_bytes, config.stream, cooperative, where, run, destroy);
}

template <class Call, class... Args>
inline void launch(const char* name, Call call, const LaunchConfig& config, Args... args)
{
    launch_as(name, nullptr, 0, call, config, args...);
}

/// One static variable an object, whose address names the declaration.
template <class S>
inline char shared_site;

template <class S>
inline S& shared()
{
    return *static_cast<S*>(cuco_emu_shared(&shared_site<S>, sizeof(S), alignof(S)));
}

template <class T>
inline T* dynamic_shared()
{
    return static_cast<T*>(cuco_emu_dynamic_shared());
}

}  // namespace cuco_emu
