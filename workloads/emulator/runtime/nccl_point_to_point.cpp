// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/copies.h"
#include "runtime/failure.h"
#include "runtime/host.h"
#include "runtime/kernel.h"
#include "runtime/nccl_state.h"
#include "runtime/poll.h"

#include <cstring>

namespace cuco_emu {
namespace {

struct PointToPoint {
    bool sends;
    void* buffer;
    std::size_t bytes;
    int peer;
    ncclComm_t comm;
    cudaStream_t stream;
    const void* site;
    bool registered = false;
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
    if (race_checking) {
        race_in_command(*transfer->sender, transfer->send, transfer->bytes, false);
        race_in_command(*transfer->receiver, transfer->receive, transfer->bytes, true);
        transfer->receiver->race.learnt = join(transfer->receiver->race.learnt, transfer->sender->race.begin);
    }
    transfer->sent();
    transfer->received();
}

/// NCCL decides on each side, by that side's buffer alone, whether data goes straight from buffer to buffer: where only
/// one is registered, the receiver waits for what the sender puts elsewhere, and gets nothing.
void check_registration(const Clique::Transfer& transfer, const PointToPoint& operation)
{
    if (transfer.send_registered == transfer.receive_registered)
        return;
    const auto memory = [](bool registered) {
        return registered ? "in a window or otherwise registered" : "not registered";
    };
    fail({"crash", operation.comm->rank,
          "Rank " + std::to_string(transfer.from) + " sends from memory that is " + memory(transfer.send_registered) +
              ", and rank " + std::to_string(transfer.to) + " receives it in memory that is " +
              memory(transfer.receive_registered) + ": NCCL then delivers nothing. Register both buffers, or neither.",
          "", source_line(operation.site)});
}

/// Offers one side of a transfer; it begins when the other side is there too.
void offer(const std::shared_ptr<Clique>& clique, const PointToPoint& operation, const CommandPtr& command,
           std::function<void()> done)
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
        transfer.send_registered = operation.registered;
        transfer.sent = std::move(done);
        transfer.sender = command;
    } else {
        transfer.receive = operation.buffer;
        transfer.receive_registered = operation.registered;
        transfer.received = std::move(done);
        transfer.receiver = command;
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
    check_registration(transfer, operation);
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
    std::string peers;
    for (const auto& operation : operations)
        peers += std::string(peers.empty() ? "" : ", ") + (operation.sends ? "send to " : "receive from ") +
                 std::to_string(operation.peer);
    fused->kernel = waiting_kernel(command, " waits for its peers (" + peers + ")", [operations, fused, command] {
        for (const auto& operation : operations)
            offer(operation.comm->clique, operation, command, [fused] {
                if (--fused->open == 0)
                    end_waiting(*fused->kernel);
            });
    });
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
        operation.site = first.site;
        for (const auto& part : together)
            operation.bytes += part.sends ? part.bytes : 0;
        operation.start = [together](const CommandPtr& command) { start_fused(together, command); };
        submit(*stream, std::move(operation));
    }
    return ncclSuccess;
}

ncclResult_t point_to_point(PointToPoint operation, const char* name, const void* site)
{
    Rank& rank = calling_rank(name, site);
    if (rank.host.in_candidate)
        machine().host_collectives.insert(name);
    if (!operation.comm || operation.comm->owner != &rank || operation.peer < 0 ||
        operation.peer >= operation.comm->ranks)
        return ncclInvalidArgument;
    check_range(operation.buffer, operation.bytes, !operation.sends, name, site);
    operation.registered = registration_of(*operation.comm, operation.buffer, operation.bytes).registered;
    Group& group = groups[&rank];
    if (group.depth > 0) {
        group.operations.push_back(operation);
        return ncclSuccess;
    }
    host_costs(machine().model.collective_host_us);
    return submit_group(rank, {operation});
}

}  // namespace
}  // namespace cuco_emu

using namespace cuco_emu;

ncclResult_t ncclSend(const void* send, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    return point_to_point(
        {true, const_cast<void*>(send), count * element_bytes(type), peer, comm, stream, CUCO_EMU_CALL_SITE()},
        "ncclSend", CUCO_EMU_CALL_SITE());
}

ncclResult_t ncclRecv(void* receive, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    return point_to_point({false, receive, count * element_bytes(type), peer, comm, stream, CUCO_EMU_CALL_SITE()},
                          "ncclRecv", CUCO_EMU_CALL_SITE());
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
