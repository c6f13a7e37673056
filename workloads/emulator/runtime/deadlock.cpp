// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.h"
#include "runtime/memory.h"
#include "runtime/nccl_gin.h"
#include "runtime/nccl_state.h"

#include <cstdio>
#include <map>
#include <string>
#include <vector>

/// Who waits for what, once nothing can happen any more.
namespace cuco_emu {
namespace {

struct Waiters {
    std::string where;  ///< the first of them
    std::size_t count = 0;
    const void* site = nullptr;
};

std::string plural(std::size_t count, const char* what)
{
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string lines_suffix(const void* site)
{
    const int line = source_line(site);
    return line > 0 ? " at line " + std::to_string(line) : "";
}

std::string reason_of(const Thread& thread)
{
    const Block& block = *thread.warp->block;
    switch (thread.wait) {
        case Wait::barrier: {
            const NamedBarrier& barrier = block.barriers[static_cast<std::size_t>(thread.barrier)];
            const int expected = barrier.count != 0 ? barrier.count : block.live;
            return "in __syncthreads with " + std::to_string(barrier.waiting) + " of " + std::to_string(expected) +
                   " threads there";
        }
        case Wait::grid:
            return "in grid.sync(), where not all threads of the grid are";
        case Wait::exchange: {
            char mask[16];
            std::snprintf(mask, sizeof mask, "0x%08x", thread.mask);
            return std::string("in a warp operation with mask ") + mask + ", whose other lanes have not come";
        }
        case Wait::poll:
            return "polling " + describe_address(thread.poll_address);
        case Wait::lsa:
            return describe_lsa_wait(thread);
        case Wait::gin:
            return describe_gin_wait(thread);
        default:
            return "for its turn";
    }
}

/// Threads that wait at a barrier of their block usually wait for one that is stuck in something else.
bool is_telling(const Thread& thread)
{
    return thread.wait != Wait::barrier && thread.wait != Wait::exchange;
}

void describe_kernel(const Kernel& kernel, std::string& detail, std::string& first, const void*& site)
{
    std::map<std::string, Waiters> groups;
    std::vector<std::string> order;
    bool first_is_telling = !first.empty();
    for (const Block* block : kernel.resident) {
        for (const Thread& thread : block->threads) {
            if (thread.wait == Wait::done)
                continue;
            const auto reason = reason_of(thread);
            auto& group = groups[reason];
            if (group.count++ == 0) {
                order.push_back(reason);
                group.where = "block " + std::to_string(block->number) + " thread " +
                              std::to_string(&thread - block->threads.data());
                group.site = thread.call_site;
                if (!site || (!first_is_telling && is_telling(thread))) {
                    site = thread.call_site;
                    first = "Kernel " + kernel.name + " of rank " + std::to_string(kernel.rank->index) +
                            " waits for ever " + reason;
                    first_is_telling = is_telling(thread);
                }
            }
        }
    }
    detail += "  kernel " + kernel.name + ": " + std::to_string(kernel.finished) + " of " +
              plural(kernel.blocks, "block") + " finished";
    if (kernel.started < kernel.blocks)
        detail += ", " + std::to_string(kernel.blocks - kernel.started) + " not started, because " +
                  std::to_string(kernel.resident.size()) + " fill the GPU";
    detail += "\n";
    std::size_t shown = 0;
    for (const auto& reason : order) {
        if (++shown > 6) {
            detail += "    and " + plural(order.size() - 6, "other reason") + "\n";
            break;
        }
        const auto& group = groups[reason];
        detail += "    " + plural(group.count, "thread") + " (" + group.where + (group.count > 1 ? " first" : "") +
                  ") wait" + (group.count == 1 ? "s " : " ") + reason + lines_suffix(group.site) + "\n";
    }
}

void describe_streams(const Rank& rank, std::string& detail)
{
    const auto describe = [&](const Stream& stream) {
        if (stream.queue.empty())
            return;
        const Command& head = *stream.queue.front();
        detail += "  " + stream.name + ": " + head.name + (head.started ? " is under way" : " has not started");
        if (stream.queue.size() > 1)
            detail += ", " + std::to_string(stream.queue.size() - 1) + " more behind it";
        detail += "\n";
    };
    describe(rank.legacy_stream);
    describe(rank.thread_stream);
    for (const auto& stream : rank.streams)
        describe(*stream);
}

}  // namespace

void fail_with_deadlock()
{
    std::string detail;
    std::string first;  ///< the most telling reason found so far
    const void* site = nullptr;
    int first_rank = -1;
    for (const auto& rank : machine().ranks) {
        const bool host_waits = !rank->host.finished;
        if (!host_waits && rank->kernels.empty())
            continue;
        detail += "rank " + std::to_string(rank->index) + ": ";
        detail += host_waits ? "host waits " + rank->host.waits_for + lines_suffix(rank->host.call_site) + "\n"
                             : "host has finished\n";
        describe_streams(*rank, detail);
        for (const Kernel* kernel : rank->kernels) {
            if (kernel->run)
                describe_kernel(*kernel, detail, first, site);
            else
                detail += "  " + kernel->name + describe_collective_wait(*kernel) + "\n";
            if (!kernel->run && first.empty())
                first =
                    "On rank " + std::to_string(rank->index) + " " + kernel->name + describe_collective_wait(*kernel);
        }
        if (first_rank < 0)
            first_rank = rank->index;
    }
    if (!site && first_rank >= 0)
        site = machine().ranks[static_cast<std::size_t>(first_rank)]->host.call_site;
    const std::string message = first.empty() ? "All ranks wait for each other." : first + ".";
    fail({"deadlock", first_rank, message, detail, source_line(site)});
}

}  // namespace cuco_emu
