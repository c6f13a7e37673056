// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/copies.h"
#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/kernel.h"
#include "runtime/memory.h"
#include "runtime/nccl_state.h"
#include "runtime/poll.h"

#include <algorithm>
#include <cstring>

namespace cuco_emu {
namespace {

double rate_of(const Collective& collective)
{
    const Model& model = machine().model;
    const auto& name = collective.name;
    return name == "ncclAllGather"       ? model.all_gather_gbps
           : name == "ncclReduceScatter" ? model.reduce_scatter_gbps
           : name == "ncclAllReduce"     ? model.all_reduce_gbps
           : name == "ncclAlltoAll"      ? model.all_to_all_gbps
                                         : model.broadcast_gbps;
}

/// Bytes through each rank's link, in units of the count: what a ring moves.
double link_bytes(const Collective& collective)
{
    const double ranks = static_cast<double>(collective.parts.size());
    const double bytes = static_cast<double>(collective.count * element_bytes(collective.type));
    const auto& name = collective.name;
    if (name == "ncclAllReduce")
        return 2 * bytes * (ranks - 1) / ranks;
    const bool per_rank = name == "ncclAllGather" || name == "ncclReduceScatter" || name == "ncclAlltoAll" ||
                          name == "ncclGather" || name == "ncclScatter";
    return per_rank ? bytes * (ranks - 1) : bytes;
}

/// A rank that gets data of others ends after they have begun. Reads and writes are those of the rank's own call.
void note_accesses(const Collective& collective)
{
    const auto root = static_cast<std::size_t>(collective.root);
    const auto& name = collective.name;
    const bool from_root = name == "ncclBroadcast" || name == "ncclScatter";
    const bool to_root = name == "ncclReduce" || name == "ncclGather";
    for (std::size_t to = 0; to < collective.parts.size(); ++to) {
        const auto& part = collective.parts[to];
        for (std::size_t from = 0; from < collective.parts.size(); ++from)
            if ((!from_root || from == root) && (!to_root || to == root))
                part.command->race.learnt = join(part.command->race.learnt, collective.parts[from].command->race.begin);
        if (part.send)
            race_in_command(*part.command, part.send, part.send_bytes, false);
        if (part.receive)
            race_in_command(*part.command, part.receive, part.receive_bytes, true);
    }
}

struct Running {
    std::shared_ptr<Clique> clique;
    Collective* collective;
};

void completed(void* self)
{
    const std::unique_ptr<Running> running(static_cast<Running*>(self));
    Collective& collective = *running->collective;
    perform(collective);
    if (race_checking)
        note_accesses(collective);
    for (auto& part : collective.parts) {
        const Allocation written = allocation_at(part.receive);
        if (written.bytes != 0)
            note_write(reinterpret_cast<void*>(written.begin), written.bytes, nullptr);
        end_waiting(*part.kernel);
    }
    running->clique->collectives.erase(collective.number);
}

void begin_transfer(const std::shared_ptr<Clique>& clique, Collective& collective)
{
    const double bytes = link_bytes(collective);
    const Time duration = bytes_time(bytes, rate_of(collective));
    for (const auto& part : collective.parts) {
        Rank& rank = *part.command->stream->rank;
        collective.work.need(rank.egress, duration);
        collective.work.need(rank.ingress, duration);
        collective.work.need(rank.hbm, bytes_time(2 * bytes, machine().model.hbm_gbps));
        part.command->bytes = static_cast<std::uint64_t>(bytes);
    }
    collective.work.add_latency(from_us(machine().model.collective_floor_us));
    collective.work.start(now(), completed, new Running{clique, &collective});
}

std::string disagreement(const Collective& collective, const std::string& name, std::size_t count, int rank)
{
    return "Collective " + std::to_string(collective.number) + " of a communicator is " + collective.name + " of " +
           std::to_string(collective.count) + " elements on one rank and " + name + " of " + std::to_string(count) +
           " elements on rank " + std::to_string(rank) + "; all ranks must call the same.";
}

struct Call {
    const char* name;
    const void* send;
    void* receive;
    std::size_t count;
    ncclDataType_t type;
    ncclRedOp_t operation;
    int root;
    ncclComm_t comm;
    cudaStream_t stream;
    std::size_t send_bytes, receive_bytes;  ///< of the whole buffers, for bounds
    const void* site;
};

void take_part(const std::shared_ptr<Clique>& clique, const Call& call, std::uint64_t number, const CommandPtr& command)
{
    const auto self = static_cast<std::size_t>(call.comm->rank);
    auto& slot = clique->collectives[number];
    if (!slot) {
        slot = std::make_unique<Collective>();
        slot->name = call.name;
        slot->count = call.count;
        slot->type = call.type;
        slot->operation = call.operation;
        slot->root = call.root;
        slot->number = number;
        slot->parts.resize(clique->members.size());
    }
    Collective& collective = *slot;
    if (collective.name != call.name || collective.count != call.count || collective.type != call.type)
        fail({"deadlock", call.comm->rank, disagreement(collective, call.name, call.count, call.comm->rank), "", 0});
    auto& part = collective.parts[self];
    part.send = call.send;
    part.receive = call.receive;
    part.send_bytes = call.send_bytes;
    part.receive_bytes = call.receive_bytes;
    part.send_in = registration_of(*call.comm, call.send, call.send_bytes);
    part.receive_in = registration_of(*call.comm, call.receive, call.receive_bytes);
    part.site = call.site;
    part.command = command;
    command->flow = static_cast<std::uint32_t>(number + 1);
    part.kernel = waiting_kernel(
        command, " number " + std::to_string(number) + " waits for the other ranks of its communicator to call it",
        [clique, &collective] {
            if (++collective.ready != static_cast<int>(collective.parts.size()))
                return;
            check_registrations(collective);
            begin_transfer(clique, collective);
        });
    start_kernel(part.kernel);
}

ncclResult_t collective(const Call& call)
{
    Rank& rank = calling_rank(call.name, call.site);
    if (rank.host.in_candidate)
        machine().host_collectives.insert(call.name);
    host_costs(machine().model.collective_host_us);
    Stream* stream = find_stream(rank, call.stream);
    if (!call.comm || call.comm->owner != &rank || !stream || element_bytes(call.type) == 0 || call.root < 0 ||
        call.root >= call.comm->ranks)
        return ncclInvalidArgument;
    if (call.send)
        check_range(call.send, call.send_bytes, false, call.name, call.site);
    if (call.receive)
        check_range(call.receive, call.receive_bytes, true, call.name, call.site);
    Operation operation;
    operation.name = call.name;
    operation.activity = Activity::communication;
    operation.kernel = true;
    operation.site = call.site;
    const auto clique = call.comm->clique;
    const bool captured = rank.capture && rank.capture_streams.contains(stream);
    if (captured) {
        operation.start = [clique, call](const CommandPtr& command) {
            take_part(clique, call, call.comm->next_collective++, command);
        };
    } else {
        const std::uint64_t number = call.comm->next_collective++;
        operation.start = [clique, call, number](const CommandPtr& command) {
            take_part(clique, call, number, command);
        };
    }
    submit(*stream, std::move(operation));
    return ncclSuccess;
}

}  // namespace

}  // namespace cuco_emu

using namespace cuco_emu;

ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t operation,
                        int root, ncclComm_t comm, cudaStream_t stream)
{
    const std::size_t bytes = count * element_bytes(type);
    void* target = comm && comm->rank == root ? receive : nullptr;
    return collective(
        {"ncclReduce", send, target, count, type, operation, root, comm, stream, bytes, bytes, CUCO_EMU_CALL_SITE()});
}

ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream)
{
    const std::size_t bytes = count * element_bytes(type);
    const void* source = comm && comm->rank == root ? send : nullptr;
    return collective({"ncclBroadcast", source, receive, count, type, ncclSum, root, comm, stream, bytes, bytes,
                       CUCO_EMU_CALL_SITE()});
}

ncclResult_t ncclBcast(void* buffer, std::size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream)
{
    const std::size_t bytes = count * element_bytes(type);
    return collective(
        {"ncclAllReduce", send, receive, count, type, operation, 0, comm, stream, bytes, bytes, CUCO_EMU_CALL_SITE()});
}

ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream)
{
    const std::size_t bytes = count * element_bytes(type);
    const std::size_t ranks = comm ? static_cast<std::size_t>(comm->ranks) : 1;
    return collective({"ncclReduceScatter", send, receive, count, type, operation, 0, comm, stream, bytes * ranks,
                       bytes, CUCO_EMU_CALL_SITE()});
}

ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream)
{
    const std::size_t bytes = count * element_bytes(type);
    const std::size_t ranks = comm ? static_cast<std::size_t>(comm->ranks) : 1;
    return collective({"ncclAllGather", send, receive, count, type, ncclSum, 0, comm, stream, bytes, bytes * ranks,
                       CUCO_EMU_CALL_SITE()});
}

ncclResult_t ncclAlltoAll(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                          cudaStream_t stream)
{
    const std::size_t ranks = comm ? static_cast<std::size_t>(comm->ranks) : 1;
    const std::size_t bytes = count * element_bytes(type) * ranks;
    return collective(
        {"ncclAlltoAll", send, receive, count, type, ncclSum, 0, comm, stream, bytes, bytes, CUCO_EMU_CALL_SITE()});
}

ncclResult_t ncclGather(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                        ncclComm_t comm, cudaStream_t stream)
{
    const std::size_t ranks = comm ? static_cast<std::size_t>(comm->ranks) : 1;
    const std::size_t bytes = count * element_bytes(type);
    void* target = comm && comm->rank == root ? receive : nullptr;
    return collective({"ncclGather", send, target, count, type, ncclSum, root, comm, stream, bytes, bytes * ranks,
                       CUCO_EMU_CALL_SITE()});
}

ncclResult_t ncclScatter(const void* send, void* receive, std::size_t count, ncclDataType_t type, int root,
                         ncclComm_t comm, cudaStream_t stream)
{
    const std::size_t ranks = comm ? static_cast<std::size_t>(comm->ranks) : 1;
    const std::size_t bytes = count * element_bytes(type);
    const void* source = comm && comm->rank == root ? send : nullptr;
    return collective({"ncclScatter", source, receive, count, type, ncclSum, root, comm, stream, bytes * ranks, bytes,
                       CUCO_EMU_CALL_SITE()});
}
