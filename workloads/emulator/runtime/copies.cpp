// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/copies.h"

#include "runtime/failure.h"
#include "runtime/loader.h"
#include "runtime/memory.h"
#include "runtime/poll.h"
#include "runtime/trace.h"

#include <algorithm>
#include <cstring>

namespace cuco_emu {

struct Copy {
    CopyShape shape;
    CommandPtr command;
    Work work;
    std::size_t engine = 0;
    Time begin = 0;
};

namespace {

void begin_on_free_engine(Rank& rank);

bool between_ranks(const CopyShape& shape)
{
    return shape.to_owner >= 0 && shape.from_owner >= 0 && shape.to_owner != shape.from_owner;
}

void copied(void* self)
{
    const std::unique_ptr<Copy> copy(static_cast<Copy*>(self));
    const CopyShape& shape = copy->shape;
    Rank& rank = *copy->command->stream->rank;
    for (std::size_t row = 0; row < shape.rows; ++row) {
        char* to = static_cast<char*>(shape.to) + row * shape.to_pitch;
        const char* from = static_cast<const char*>(shape.from) + row * shape.from_pitch;
        std::memmove(to, from, shape.width);
        if (race_checking) {
            race_in_command(*copy->command, from, shape.width, false);
            race_in_command(*copy->command, to, shape.width, true);
        }
    }
    if (shape.rows > 0)
        note_write(shape.to, (shape.rows - 1) * shape.to_pitch + shape.width, &rank);
    rank.engines[copy->engine].busy = false;
    trace_copy(rank, copy->engine, copy->begin, copy->command->name, between_ranks(shape), shape.bytes());
    finish(copy->command);
    begin_on_free_engine(rank);
}

void describe_work(Copy& copy)
{
    const Model& model = machine().model;
    const double bytes = static_cast<double>(copy.shape.bytes());
    const int to = copy.shape.to_owner, from = copy.shape.from_owner;
    const auto rank_at = [](int index) -> Rank& { return *machine().ranks[static_cast<std::size_t>(index)]; };
    copy.work.at_least(from_us(0.001));
    if (to >= 0)
        copy.work.need(rank_at(to).hbm, bytes_time(bytes, model.hbm_gbps));
    if (from >= 0)
        copy.work.need(rank_at(from).hbm, bytes_time(bytes, model.hbm_gbps));
    if (to >= 0 && from >= 0 && to != from) {
        copy.work.need(rank_at(from).egress, bytes_time(bytes, model.link_copy_gbps));
        copy.work.need(rank_at(to).ingress, bytes_time(bytes, model.link_copy_gbps));
    } else if (to >= 0 && from >= 0) {
        copy.work.at_least(bytes_time(bytes, model.local_copy_gbps));
    } else {
        copy.work.need(copy.command->stream->rank->host_link, bytes_time(bytes, model.host_link_gbps));
    }
}

void begin_on_free_engine(Rank& rank)
{
    while (!rank.waiting_copies.empty()) {
        const auto engine = std::ranges::find_if(rank.engines, [](const CopyEngine& e) { return !e.busy; });
        if (engine == rank.engines.end())
            return;
        Copy* copy = rank.waiting_copies.front();
        rank.waiting_copies.pop_front();
        engine->busy = true;
        copy->engine = static_cast<std::size_t>(engine - rank.engines.begin());
        copy->begin = now();
        describe_work(*copy);
        copy->work.start(now() + from_us(machine().model.copy_start_us), copied, copy);
    }
}

}  // namespace

int owner_of(const void* address, bool device_wanted)
{
    const unsigned slot = slot_of(address);
    if (slot < machine().ranks.size())
        return static_cast<int>(slot);
    const Module* module = device_wanted ? module_at(address) : nullptr;
    return module ? module->rank : -1;
}

void start_copy(const CopyShape& shape, const CommandPtr& command)
{
    Rank& rank = *command->stream->rank;
    auto* copy = new Copy;
    copy->shape = shape;
    copy->command = command;
    rank.waiting_copies.push_back(copy);
    begin_on_free_engine(rank);
}

void check_range(const void* begin, std::size_t bytes, bool write, const char* function, const void* site)
{
    if (!is_shadowed(begin) || range_accessible(begin, bytes, write))
        return;
    const char* what = write ? " writes " : " reads ";
    fail_in_host("out_of_bounds",
                 std::string(function) + what + std::to_string(bytes) + " bytes from " + describe_address(begin) +
                     " on, which do not all belong to it.",
                 site);
}

}  // namespace cuco_emu
