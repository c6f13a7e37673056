// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/kernel.h"
#include "runtime/loader.h"
#include "runtime/streams.h"

#include <memory>

namespace cuco_emu {
namespace {

constexpr std::size_t header_bytes = 64;

/// Arguments lie where device code may read them; pieces are reused by size.
std::map<std::size_t, std::vector<char*>> spare_parameters;

std::size_t parameter_class(std::size_t bytes)
{
    return (bytes + header_bytes + 255) / 256 * 256;
}

void free_parameters(void* parameters)
{
    char* piece = static_cast<char*>(parameters) - header_bytes;
    spare_parameters[*reinterpret_cast<std::size_t*>(piece)].push_back(piece);
}

cudaError_t check_launch(Rank& rank, dim3 grid, dim3 block, std::size_t shared_bytes)
{
    const bool empty = grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0;
    const bool large = block.x > 1024 || block.y > 1024 || block.z > 64 ||
                       std::size_t{block.x} * block.y * block.z > 1024 || grid.x > 0x7fffffff || grid.y > 65535 ||
                       grid.z > 65535;
    if (empty || large)
        return cudaErrorInvalidConfiguration;
    return shared_bytes > static_cast<std::size_t>(rank.dynamic_limit) ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace
}  // namespace cuco_emu

using namespace cuco_emu;

void* cuco_emu_parameters(std::size_t bytes, std::size_t align)
{
    const std::size_t size = parameter_class(bytes);
    auto& spare = spare_parameters[size];
    char* piece = nullptr;
    if (spare.empty()) {
        piece = static_cast<char*>(commit(parameter_slot, size));
    } else {
        piece = spare.back();
        spare.pop_back();
    }
    if (!piece || align > header_bytes)
        fail({"environment", -1, "The emulator has no room for a kernel's arguments.", "", 0});
    *reinterpret_cast<std::size_t*>(piece) = size;
    return piece + header_bytes;
}

cudaError_t cuco_emu_launch(const char* name, const void* identity, dim3 grid, dim3 block, std::size_t shared_bytes,
                            cudaStream_t handle, int cooperative, void* parameters, void (*run)(void*),
                            void (*destroy)(void*))
{
    const std::shared_ptr<void> arguments(parameters, [destroy](void* object) {
        destroy(object);
        free_parameters(object);
    });
    Rank& rank = calling_rank("a kernel launch", CUCO_EMU_CALL_SITE());
    host_costs(machine().model.kernel_host_us);
    Stream* stream = find_stream(rank, handle);
    if (!stream)
        return set_error(rank, cudaErrorInvalidResourceHandle);
    if (const auto error = check_launch(rank, grid, block, shared_bytes); error != cudaSuccess)
        return set_error(rank, error);
    KernelLayout& layout = rank.layouts[identity];
    const std::size_t threads = std::size_t{block.x} * block.y * block.z;
    const std::size_t blocks = std::size_t{grid.x} * grid.y * grid.z;
    if (layout.static_bytes + shared_bytes > block_shared_limit)
        return set_error(rank, cudaErrorInvalidValue);
    if (cooperative && blocks > resident_limit(threads, layout.static_bytes + shared_bytes))
        return set_error(rank, cudaErrorCooperativeLaunchTooLarge);

    Operation operation;
    operation.name = name ? name : function_name(identity);
    operation.kernel = true;
    operation.site = CUCO_EMU_CALL_SITE();
    operation.start = [=, &rank, &layout, label = operation.name](const CommandPtr& command) {
        auto* kernel = new Kernel;
        kernel->name = label;
        kernel->rank = &rank;
        kernel->grid = grid;
        kernel->block = block;
        kernel->dynamic_bytes = shared_bytes;
        kernel->layout = &layout;
        kernel->parameters = arguments.get();
        kernel->run = run;
        kernel->priority = command->stream->priority;
        kernel->cooperative = cooperative != 0;
        if (race_checking)
            race_begin_kernel(*kernel, *command);
        kernel->done = [command, arguments](const Kernel& ended) {
            if (race_checking)
                race_end_kernel(ended, *command);
            // A kernel that only moves data to peers is communication, whatever its name says.
            command->bytes = ended.peer_bytes;
            command->activity = ended.peer_bytes > 0 && !ended.computes ? Activity::communication : Activity::compute;
            finish(command);
        };
        start_kernel(kernel);
    };
    submit(*stream, std::move(operation));
    return cudaSuccess;
}

cudaError_t cuco_emu_occupancy(int* blocks, int block_size, std::size_t dynamic_bytes, const void* identity)
{
    Rank& rank = calling_rank("cudaOccupancyMaxActiveBlocksPerMultiprocessor", CUCO_EMU_CALL_SITE());
    if (!blocks || block_size <= 0)
        return set_error(rank, cudaErrorInvalidValue);
    const auto layout = rank.layouts.find(identity);
    const std::size_t fixed = layout == rank.layouts.end() ? 0 : layout->second.static_bytes;
    *blocks = static_cast<int>(blocks_per_sm(static_cast<std::size_t>(block_size), fixed + dynamic_bytes));
    return cudaSuccess;
}

cudaError_t cuco_emu_set_dynamic_limit(int bytes)
{
    Rank& rank = calling_rank("cudaFuncSetAttribute", CUCO_EMU_CALL_SITE());
    if (bytes < 0 || static_cast<std::size_t>(bytes) > block_shared_limit)
        return set_error(rank, cudaErrorInvalidValue);
    rank.dynamic_limit = bytes > rank.dynamic_limit ? bytes : rank.dynamic_limit;
    return cudaSuccess;
}
