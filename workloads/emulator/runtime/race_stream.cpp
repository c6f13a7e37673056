// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/race.h"
#include "runtime/race_report.h"
#include "runtime/race_shadow.h"
#include "runtime/race_variable.h"
#include "runtime/streams.h"

namespace cuco_emu {
namespace {

/// All hosts have met with `known`: when that is everything that was ever started, nothing before it can race.
void forget_what_is_known(const ClockRef& known)
{
    const std::uint32_t end = next_race_task();
    for (std::uint32_t task = race_floor; task < end; ++task)
        if (!known || !known->covers({task, 0, race_for_ever - 1, 0, 0}))
            return;
    forget_all_races();
    forget_race_variables();
    forget_race_tasks();
    race_floor = end;
}

}  // namespace

void race_enqueue(Command& command, const Stream& stream)
{
    command.race.before = stream.race_waits;
    if (current_rank && !current_warp)
        command.race.before = join(command.race.before, published(current_rank->host.race));
}

void race_begin(Command& command)
{
    const Stream& stream = *command.stream;
    Rank& rank = *stream.rank;
    command.race.task = new_race_task(rank.index, command.name, command.race.site);
    std::vector<ClockRef> earlier{command.race.before, command.race.learnt, stream.race_end};
    if (stream.legacy) {
        earlier.push_back(rank.thread_stream.race_end);
        for (const auto& other : rank.streams)
            if ((other->flags & cudaStreamNonBlocking) == 0)
                earlier.push_back(other->race_end);
    } else if ((stream.flags & cudaStreamNonBlocking) == 0) {
        earlier.push_back(rank.legacy_stream.race_end);
    }
    command.race.begin = join(earlier);
}

void race_end(Command& command)
{
    command.race.end =
        join(join(command.race.begin, command.race.learnt), {{task_node(command.race.task), race_for_ever}});
    command.stream->race_end = command.race.end;
}

void race_after(Command& command, const Command* earlier)
{
    if (earlier)
        command.race.learnt = join(command.race.learnt, earlier->race.end);
}

void race_stream_waits(Stream& stream, const Command* earlier)
{
    if (earlier)
        stream.race_waits = join(stream.race_waits, earlier->race.end);
}

void race_host_waits(Rank& rank, const Command* ended)
{
    if (ended)
        rank.host.race.known = join(rank.host.race.known, ended->race.end);
}

void race_host_waits(Rank& rank, const Stream& drained)
{
    rank.host.race.known = join({rank.host.race.known, drained.race_end, drained.race_waits});
}

void race_hosts_meet(const std::vector<Rank*>& ranks)
{
    std::vector<ClockRef> all;
    for (Rank* rank : ranks)
        all.push_back(published(rank->host.race));
    const auto known = join(all);
    for (Rank* rank : ranks)
        rank->host.race.known = known;
    if (ranks.size() == machine().ranks.size())
        forget_what_is_known(known);
}

}  // namespace cuco_emu
