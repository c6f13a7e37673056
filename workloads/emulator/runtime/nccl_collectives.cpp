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

/// Kernels of collectives, to find out what a stuck one waits for.
std::map<const Kernel*, std::string> waiting_kernels;

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

struct Running {
    std::shared_ptr<Clique> clique;
    Collective* collective;
};

void completed(void* self)
{
    const std::unique_ptr<Running> running(static_cast<Running*>(self));
    Collective& collective = *running->collective;
    perform(collective);
    for (auto& part : collective.parts) {
        const Allocation written = allocation_at(part.receive);
        if (written.bytes != 0)
            note_write(reinterpret_cast<void*>(written.begin), written.bytes, nullptr);
        waiting_kernels.erase(part.kernel);
        release_blocks(*part.kernel);
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

Kernel* waiting_kernel(const std::string& name, const CommandPtr& command, std::function<void()> resident)
{
    auto* kernel = new Kernel;
    kernel->name = name;
    kernel->rank = command->stream->rank;
    kernel->grid = {static_cast<unsigned>(std::max(1.0, machine().model.collective_sms)), 1, 1};
    kernel->block = {640, 1, 1};
    kernel->modelled_shared = 96 << 10;
    kernel->priority = command->stream->priority;
    kernel->hold = true;
    kernel->all_resident = std::move(resident);
    kernel->done = [command](const Kernel&) { finish(command); };
    return kernel;
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
    part.command = command;
    command->flow = static_cast<std::uint32_t>(number + 1);
    part.kernel = waiting_kernel(call.name, command, [clique, &collective, self] {
        collective.parts[self].ready = true;
        if (++collective.ready == static_cast<int>(collective.parts.size()))
            begin_transfer(clique, collective);
    });
    waiting_kernels[part.kernel] =
        " number " + std::to_string(number) + " waits for the other ranks of its communicator to call it";
    start_kernel(part.kernel);
}

ncclResult_t collective(const Call& call)
{
    Rank& rank = calling_rank(call.name, call.site);
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

// ---- sends and receives

struct PointToPoint {
    bool sends;
    void* buffer;
    std::size_t bytes;
    int peer;
    ncclComm_t comm;
    cudaStream_t stream;
};

struct Group {
    int depth = 0;
    std::vector<PointToPoint> operations;
};
std::map<Rank*, Group> groups;

struct Fused {
    Kernel* kernel = nullptr;
    std::size_t open = 0;
};

void transferred(void* self)
{
    const std::unique_ptr<Clique::Transfer> transfer(static_cast<Clique::Transfer*>(self));
    std::memmove(transfer->receive, transfer->send, transfer->bytes);
    note_write(transfer->receive, transfer->bytes, nullptr);
    transfer->sent();
    transfer->received();
}

/// Offers one side of a transfer; it begins when the other side is there too.
void offer(const std::shared_ptr<Clique>& clique, const PointToPoint& operation, std::function<void()> done)
{
    const int self = operation.comm->rank;
    const int from = operation.sends ? self : operation.peer, to = operation.sends ? operation.peer : self;
    auto& queue = clique->transfers[{from, to}];
    const bool matches = !queue.empty() && (queue.front()->send == nullptr) == operation.sends;
    if (!matches) {
        auto transfer = std::make_unique<Clique::Transfer>();
        transfer->from = from;
        transfer->to = to;
        queue.push_back(std::move(transfer));
    }
    auto& transfer = matches ? *queue.front() : *queue.back();
    if (operation.sends) {
        transfer.send = operation.buffer;
        transfer.sent = std::move(done);
    } else {
        transfer.receive = operation.buffer;
        transfer.received = std::move(done);
    }
    if (!matches) {
        transfer.bytes = operation.bytes;
        return;
    }
    if (transfer.bytes != operation.bytes)
        fail({"deadlock", self,
              "Rank " + std::to_string(from) + " and rank " + std::to_string(to) +
                  " send and receive different sizes: " + std::to_string(transfer.bytes) + " and " +
                  std::to_string(operation.bytes) + " bytes.",
              "", 0});
    auto* started = queue.front().release();
    queue.pop_front();
    const Model& model = machine().model;
    const auto rank_at = [&](int index) -> Rank& { return *clique->members[static_cast<std::size_t>(index)]->owner; };
    const double bytes = static_cast<double>(started->bytes);
    if (from != to) {
        started->work.need(rank_at(from).egress, bytes_time(bytes, model.point_to_point_gbps));
        started->work.need(rank_at(to).ingress, bytes_time(bytes, model.point_to_point_gbps));
    }
    started->work.need(rank_at(to).hbm, bytes_time(bytes, model.hbm_gbps));
    started->work.add_latency(from_us(model.collective_floor_us / 2));
    started->work.start(now(), transferred, started);
}

void start_fused(const std::vector<PointToPoint>& operations, const CommandPtr& command)
{
    auto fused = std::make_shared<Fused>();
    fused->open = operations.size();
    fused->kernel = waiting_kernel(command->name, command, [operations, fused] {
        for (const auto& operation : operations)
            offer(operation.comm->clique, operation, [fused] {
                if (--fused->open == 0) {
                    waiting_kernels.erase(fused->kernel);
                    release_blocks(*fused->kernel);
                }
            });
    });
    std::string peers;
    for (const auto& operation : operations)
        peers += std::string(peers.empty() ? "" : ", ") + (operation.sends ? "send to " : "receive from ") +
                 std::to_string(operation.peer);
    waiting_kernels[fused->kernel] = " waits for its peers (" + peers + ")";
    start_kernel(fused->kernel);
}

ncclResult_t submit_group(Rank& rank, std::vector<PointToPoint> operations)
{
    while (!operations.empty()) {
        const auto first = operations.front();
        std::vector<PointToPoint> together;
        std::erase_if(operations, [&](const PointToPoint& operation) {
            const bool same = operation.comm == first.comm && operation.stream == first.stream;
            if (same)
                together.push_back(operation);
            return same;
        });
        Stream* stream = find_stream(rank, first.stream);
        if (!stream)
            return ncclInvalidArgument;
        Operation operation;
        operation.name = together.size() > 1 ? "ncclSend/ncclRecv" : first.sends ? "ncclSend" : "ncclRecv";
        operation.activity = Activity::communication;
        operation.kernel = true;
        for (const auto& part : together)
            operation.bytes += part.sends ? part.bytes : 0;
        operation.start = [together](const CommandPtr& command) { start_fused(together, command); };
        submit(*stream, std::move(operation));
    }
    return ncclSuccess;
}

ncclResult_t point_to_point(const PointToPoint& operation, const char* name, const void* site)
{
    Rank& rank = calling_rank(name, site);
    if (!operation.comm || operation.comm->owner != &rank || operation.peer < 0 ||
        operation.peer >= operation.comm->ranks)
        return ncclInvalidArgument;
    check_range(operation.buffer, operation.bytes, !operation.sends, name, site);
    Group& group = groups[&rank];
    if (group.depth > 0) {
        group.operations.push_back(operation);
        return ncclSuccess;
    }
    host_costs(machine().model.collective_host_us);
    return submit_group(rank, {operation});
}

}  // namespace

std::string describe_collective_wait(const Kernel& kernel)
{
    const auto found = waiting_kernels.find(&kernel);
    return found == waiting_kernels.end() ? "" : found->second;
}

}  // namespace cuco_emu

using namespace cuco_emu;

ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type, ncclRedOp_t operation,
                        int root, ncclComm_t comm, cudaStream_t stream)
{
    const std::size_t bytes = count * element_bytes(type);
    void* target = comm && comm->rank == root ? receive : nullptr;
    return collective({"ncclReduce", send, target, count, type, operation, root, comm, stream, bytes, bytes,
                       CUCO_EMU_CALL_SITE()});
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
    return collective({"ncclAllReduce", send, receive, count, type, operation, 0, comm, stream, bytes, bytes,
                       CUCO_EMU_CALL_SITE()});
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
    return collective({"ncclAlltoAll", send, receive, count, type, ncclSum, 0, comm, stream, bytes, bytes,
                       CUCO_EMU_CALL_SITE()});
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

ncclResult_t ncclSend(const void* send, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    return point_to_point({true, const_cast<void*>(send), count * element_bytes(type), peer, comm, stream}, "ncclSend",
                          CUCO_EMU_CALL_SITE());
}

ncclResult_t ncclRecv(void* receive, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    return point_to_point({false, receive, count * element_bytes(type), peer, comm, stream}, "ncclRecv",
                          CUCO_EMU_CALL_SITE());
}

ncclResult_t ncclGroupStart()
{
    Rank& rank = calling_rank("ncclGroupStart", CUCO_EMU_CALL_SITE());
    ++groups[&rank].depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd()
{
    Rank& rank = calling_rank("ncclGroupEnd", CUCO_EMU_CALL_SITE());
    Group& group = groups[&rank];
    if (group.depth == 0)
        return ncclInvalidUsage;
    if (--group.depth > 0 || group.operations.empty())
        return ncclSuccess;
    host_costs(machine().model.collective_host_us);
    const auto operations = std::move(group.operations);
    group.operations.clear();
    return submit_group(rank, operations);
}
