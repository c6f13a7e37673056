// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_runtime.h"

#pragma clang force_cuda_host_device begin
namespace cooperative_groups {
struct thread_group {
    void sync() const;
    unsigned size() const;
    unsigned num_threads() const;
    unsigned thread_rank() const;
    bool is_valid() const;
};
struct thread_block : thread_group {
    dim3 group_index() const;
    dim3 thread_index() const;
    dim3 dim_threads() const;
};
struct grid_group : thread_group {
    unsigned block_rank() const;
    unsigned num_blocks() const;
};
struct multi_grid_group : thread_group {};
struct cluster_group : thread_group {
    unsigned block_rank() const;
    unsigned num_blocks() const;
    template <class T>
    T* map_shared_rank(T* address, int rank) const;
};
struct coalesced_group : thread_group {
    template <class T>
    T shfl(T value, int source) const;
};
template <unsigned size, class Parent = void>
struct thread_block_tile : thread_group {
    unsigned meta_group_rank() const;
    unsigned meta_group_size() const;
    template <class T>
    T shfl(T value, int source) const;
    template <class T>
    T shfl_down(T value, unsigned delta) const;
    template <class T>
    T shfl_up(T value, unsigned delta) const;
    template <class T>
    T shfl_xor(T value, unsigned lanes) const;
    unsigned ballot(int predicate) const;
    int any(int predicate) const;
    int all(int predicate) const;
};
thread_block this_thread_block();
grid_group this_grid();
cluster_group this_cluster();
coalesced_group coalesced_threads();
template <unsigned size, class Parent>
thread_block_tile<size, Parent> tiled_partition(const Parent& parent);
template <class Group>
void sync(const Group& group);
template <class T>
struct plus {
    T operator()(T, T) const;
};
template <class T>
struct greater {
    T operator()(T, T) const;
};
template <class T>
struct less {
    T operator()(T, T) const;
};
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation operation);
template <class Group, class To, class From, class Bytes>
void memcpy_async(const Group& group, To* to, const From* from, Bytes bytes);
template <class Group>
void wait(const Group& group);
}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
