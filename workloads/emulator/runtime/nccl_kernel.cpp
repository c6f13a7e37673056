// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel.h"
#include "runtime/nccl_state.h"

#include <algorithm>

/// The kernels of NCCL's host calls: blocks that hold their SMs until all ranks are there and the data has moved.
namespace cuco_emu {
namespace {

std::map<const Kernel*, std::string> reasons;

}  // namespace

Kernel* waiting_kernel(const CommandPtr& command, const std::string& reason, std::function<void()> resident)
{
    auto* kernel = new Kernel;
    kernel->name = command->name;
    kernel->rank = command->stream->rank;
    kernel->grid = {static_cast<unsigned>(std::max(1.0, machine().model.collective_sms)), 1, 1};
    kernel->block = {640, 1, 1};
    kernel->modelled_shared = 96 << 10;
    kernel->priority = command->stream->priority;
    kernel->hold = true;
    kernel->all_resident = std::move(resident);
    kernel->done = [command](const Kernel&) { finish(command); };
    reasons[kernel] = reason;
    return kernel;
}

void end_waiting(Kernel& kernel)
{
    reasons.erase(&kernel);
    release_blocks(kernel);
}

std::string describe_collective_wait(const Kernel& kernel)
{
    const auto found = reasons.find(&kernel);
    return found == reasons.end() ? "" : found->second;
}

}  // namespace cuco_emu
