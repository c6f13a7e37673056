// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel.h"

#include "runtime/failure.h"
#include "runtime/trace.h"
#include "runtime/warp.h"

#include <algorithm>
#include <cstring>

namespace cuco_emu {
namespace {

std::vector<Block*> spare_blocks;
std::map<std::size_t, std::vector<char*>> spare_shared;

/// Static variables first, dynamic memory after the largest size that static ones may have.
std::size_t shared_extent(const Kernel& kernel)
{
    return static_shared_limit + kernel.dynamic_bytes;
}

std::size_t shared_class(std::size_t bytes)
{
    return (bytes + 16383) / 16384 * 16384;
}

char* take_shared(std::size_t bytes)
{
    auto& spare = spare_shared[shared_class(bytes)];
    if (spare.empty()) {
        auto* piece = static_cast<char*>(commit(shared_slot, shared_class(bytes)));
        if (!piece)
            fail({"environment", -1, "The emulator has no memory left for shared memory.", "", 0});
        return piece;
    }
    char* piece = spare.back();
    spare.pop_back();
    return piece;
}

std::size_t threads_of(const Kernel& kernel)
{
    return std::size_t{kernel.block.x} * kernel.block.y * kernel.block.z;
}

std::size_t shared_of(const Kernel& kernel)
{
    return kernel.modelled_shared + kernel.dynamic_bytes + (kernel.layout ? kernel.layout->static_bytes : 0);
}

Sm* free_sm(Rank& rank, std::size_t threads, std::size_t shared)
{
    Sm* best = nullptr;
    for (Sm& sm : rank.sms) {
        const bool fits = sm.threads + threads <= sm_threads && sm.blocks + 1u <= sm_blocks &&
                          sm.shared_used + shared + block_shared_reserve <= sm_shared_bytes;
        const bool better =
            !best || sm.threads < best->threads || (sm.threads == best->threads && sm.shared_used < best->shared_used);
        if (fits && better)
            best = &sm;
    }
    return best;
}

void modelled_block_done(void* self)
{
    auto& block = *static_cast<Block*>(self);
    block.live = 0;
    finish_block(block);
}

void start_block(Kernel& kernel, Sm& sm, Time when)
{
    Block* block = nullptr;
    if (spare_blocks.empty()) {
        block = new Block;
    } else {
        block = spare_blocks.back();
        spare_blocks.pop_back();
    }
    const std::size_t number = kernel.started++;
    block->kernel = &kernel;
    block->sm = &sm;
    block->number = number;
    block->index = {static_cast<unsigned>(number % kernel.grid.x),
                    static_cast<unsigned>(number / kernel.grid.x % kernel.grid.y),
                    static_cast<unsigned>(number / kernel.grid.x / kernel.grid.y)};
    block->events = 0;
    block->shared_pollers = 0;
    block->shared_bytes = shared_of(kernel);
    ++sm.blocks;
    sm.threads += static_cast<int>(threads_of(kernel));
    sm.shared_used += block->shared_bytes + block_shared_reserve;
    kernel.resident.push_back(block);
    if (!kernel.run) {
        block->shared = nullptr;
        block->live = 1;
        block->warps.clear();
        if (kernel.hold)
            return;
        block->work.clear();
        kernel.block_work(block->work, sm);
        block->work.start(when, modelled_block_done, block);
        return;
    }
    block->shared = take_shared(shared_extent(kernel));
    std::memset(block->shared, 0xff, kernel.layout->known ? kernel.layout->static_bytes : static_shared_limit);
    std::memset(block->shared + static_shared_limit, 0xff, kernel.dynamic_bytes);
    prepare_threads(*block);
    for (Warp& warp : block->warps)
        wake(warp, warp.live, when);
}

void dispatch(Rank& rank);

/// Starts blocks in order while they fit. The first block of a kernel that never ran goes alone: it shows how
/// much static shared memory the kernel has.
bool start_blocks(Kernel& kernel, Time when)
{
    while (kernel.started < kernel.blocks) {
        if (kernel.run && !kernel.layout->known && kernel.started > 0)
            return false;
        if (machine().timeless && kernel.run && !kernel.cooperative && !kernel.resident.empty())
            return false;
        Sm* sm = free_sm(*kernel.rank, threads_of(kernel), shared_of(kernel));
        if (!sm)
            return false;
        start_block(kernel, *sm, when);
        if (kernel.run && !kernel.layout->known) {
            at(when, [&kernel, when] {
                kernel.layout->known = true;
                Rank& rank = *kernel.rank;
                if (std::ranges::find(rank.dispatching, &kernel) != rank.dispatching.end() &&
                    start_blocks(kernel, when))
                    dispatch(rank);
            });
        }
    }
    auto& waiting = kernel.rank->dispatching;
    std::erase(waiting, &kernel);
    if (kernel.all_resident)
        kernel.all_resident();
    return true;
}

void dispatch(Rank& rank)
{
    const Time when = now() + from_us(machine().model.block_start_us);
    while (!rank.dispatching.empty()) {
        Kernel& first = *rank.dispatching.front();
        if (!start_blocks(first, when))
            return;
    }
}

void finish_kernel(Kernel* kernel)
{
    std::erase(kernel->rank->kernels, kernel);
    trace_kernel(*kernel);
    const auto done = std::move(kernel->done);
    done(*kernel);
    delete kernel;
}

}  // namespace

std::size_t blocks_per_sm(std::size_t threads, std::size_t shared_bytes)
{
    if (threads == 0 || shared_bytes > block_shared_limit)
        return 0;
    const std::size_t rounded = (threads + 31) / 32 * 32;
    return std::min({sm_blocks, sm_threads / rounded, sm_shared_bytes / (shared_bytes + block_shared_reserve)});
}

std::size_t resident_limit(std::size_t threads, std::size_t shared_bytes)
{
    return blocks_per_sm(threads, shared_bytes) * static_cast<std::size_t>(machine().model.sm_count);
}

void start_kernel(Kernel* kernel)
{
    Rank& rank = *kernel->rank;
    kernel->blocks = std::size_t{kernel->grid.x} * kernel->grid.y * kernel->grid.z;
    kernel->begin = now();
    rank.kernels.push_back(kernel);
    auto place =
        std::ranges::find_if(rank.dispatching, [&](const Kernel* other) { return other->priority > kernel->priority; });
    rank.dispatching.insert(place, kernel);
    dispatch(rank);
}

void release_blocks(Kernel& kernel)
{
    kernel.hold = false;
    const auto blocks = kernel.resident;
    for (Block* block : blocks) {
        block->live = 0;
        finish_block(*block);
    }
}

void finish_block(Block& block)
{
    if (block.events != 0)
        return;
    Kernel& kernel = *block.kernel;
    Sm& sm = *block.sm;
    --sm.blocks;
    sm.threads -= static_cast<int>(threads_of(kernel));
    sm.shared_used -= block.shared_bytes + block_shared_reserve;
    if (kernel.run) {
        release_threads(block);
        spare_shared[shared_class(shared_extent(kernel))].push_back(block.shared);
    }
    std::erase(kernel.resident, &block);
    spare_blocks.push_back(&block);
    Rank& rank = *kernel.rank;
    if (++kernel.finished == kernel.blocks)
        finish_kernel(&kernel);
    dispatch(rank);
}

}  // namespace cuco_emu

using namespace cuco_emu;

void* cuco_emu_shared(const void* site, std::size_t bytes, std::size_t align)
{
    Block& block = *current_warp->block;
    KernelLayout& layout = *block.kernel->layout;
    const auto found = layout.offsets.find(site);
    if (found != layout.offsets.end())
        return block.shared + found->second;
    const std::size_t offset = (layout.static_bytes + align - 1) / align * align;
    if (offset + bytes > static_shared_limit)
        fail_in_kernel("crash", "The kernel declares more than the 48 KiB of static shared memory that a block has.",
                       *current_thread);
    layout.offsets[site] = offset;
    layout.static_bytes = offset + bytes;
    const std::size_t grown = shared_of(*block.kernel);
    block.sm->shared_used += grown - block.shared_bytes;
    block.shared_bytes = grown;
    return block.shared + offset;
}

void* cuco_emu_dynamic_shared()
{
    return current_warp->block->shared + static_shared_limit;
}
