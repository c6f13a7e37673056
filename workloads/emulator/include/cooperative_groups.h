// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda_runtime.h"

/// Cooperative groups: threads of a block, a grid, and tiles of a warp.
namespace cooperative_groups {

class thread_group {
public:
    enum class Kind { block, grid, tile, thread };
    thread_group(Kind kind, unsigned size, unsigned rank, unsigned mask)
        : kind_(kind), size_(size), rank_(rank), mask_(mask)
    {
    }
    unsigned long long size() const { return size_; }
    unsigned long long num_threads() const { return size_; }
    unsigned thread_rank() const { return rank_; }
    void sync() const
    {
        if (kind_ == Kind::block)
            __syncthreads();
        else if (kind_ == Kind::grid)
            cuco_emu_grid_barrier();
        else if (kind_ == Kind::tile)
            __syncwarp(mask_);
    }

protected:
    Kind kind_;
    unsigned size_, rank_, mask_;
};

inline unsigned rank_in_block()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned block_size()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

class thread_block : public thread_group {
public:
    thread_block() : thread_group(Kind::block, block_size(), rank_in_block(), ~0u) {}
    static void sync() { __syncthreads(); }
    static unsigned thread_rank() { return rank_in_block(); }
    static unsigned size() { return block_size(); }
    static unsigned num_threads() { return block_size(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block()
{
    return thread_block();
}

class grid_group : public thread_group {
public:
    grid_group() : thread_group(Kind::grid, 0, 0, ~0u) {}
    static void sync() { cuco_emu_grid_barrier(); }
    static bool is_valid() { return true; }
    static unsigned long long block_rank()
    {
        return blockIdx.x + static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
    }
    static unsigned long long num_blocks()
    {
        return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
    }
    static unsigned long long thread_rank() { return block_rank() * block_size() + rank_in_block(); }
    static unsigned long long size() { return num_blocks() * block_size(); }
    static unsigned long long num_threads() { return size(); }
    static dim3 group_dim() { return gridDim; }
};
inline grid_group this_grid()
{
    return grid_group();
}

template <unsigned count>
class thread_block_tile : public thread_group {
    static_assert(count <= 32 && (count & (count - 1)) == 0, "tiles of more than a warp are not emulated");

public:
    thread_block_tile()
        : thread_group(Kind::tile, count, static_cast<unsigned>(cuco_emu_lane()) % count,
                       count == 32
                           ? ~0u
                           : ((1u << (count % 32)) - 1u) << (static_cast<unsigned>(cuco_emu_lane()) / count * count))
    {
    }
    static constexpr unsigned size() { return count; }
    static constexpr unsigned num_threads() { return count; }
    unsigned meta_group_rank() const { return rank_in_block() / count; }
    unsigned meta_group_size() const { return (block_size() + count - 1) / count; }
    template <class T>
    T shfl(T value, int source) const
    {
        return __shfl_sync(mask_, value, source, count);
    }
    template <class T>
    T shfl_down(T value, unsigned delta) const
    {
        return __shfl_down_sync(mask_, value, delta, count);
    }
    template <class T>
    T shfl_up(T value, unsigned delta) const
    {
        return __shfl_up_sync(mask_, value, delta, count);
    }
    template <class T>
    T shfl_xor(T value, unsigned lanes) const
    {
        return __shfl_xor_sync(mask_, value, static_cast<int>(lanes), count);
    }
    int any(int predicate) const { return (__ballot_sync(mask_, predicate) & mask_) != 0; }
    int all(int predicate) const { return (__ballot_sync(mask_, predicate) & mask_) == mask_; }
    unsigned ballot(int predicate) const
    {
        return (__ballot_sync(mask_, predicate) & mask_) >> (static_cast<unsigned>(cuco_emu_lane()) / count * count);
    }
};

template <unsigned count, class Parent>
inline thread_block_tile<count> tiled_partition(const Parent&)
{
    return thread_block_tile<count>();
}

class coalesced_group : public thread_group {
public:
    explicit coalesced_group(unsigned mask)
        : thread_group(Kind::tile, static_cast<unsigned>(__builtin_popcount(mask)),
                       static_cast<unsigned>(__builtin_popcount(mask & ((1u << cuco_emu_lane()) - 1u))), mask)
    {
    }
    template <class T>
    T shfl(T value, int rank) const
    {
        unsigned rest = mask_;
        while (rank-- > 0)
            rest &= rest - 1;
        return __shfl_sync(mask_, value, __builtin_ctz(rest));
    }
};
inline coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}

class this_thread_group : public thread_group {
public:
    this_thread_group() : thread_group(Kind::thread, 1, 0, 0) {}
};
inline this_thread_group this_thread()
{
    return this_thread_group();
}

template <class Group>
inline void sync(const Group& group)
{
    group.sync();
}

template <class T>
struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};

template <unsigned count, class T, class Operation>
inline T reduce(const thread_block_tile<count>& tile, T value, Operation operation)
{
    for (unsigned lanes = count / 2; lanes > 0; lanes /= 2)
        value = operation(value, tile.shfl_xor(value, lanes));
    return value;
}

}  // namespace cooperative_groups
