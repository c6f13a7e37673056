// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/race_report.h"

#include "runtime/events.h"
#include "runtime/failure.h"
#include "runtime/loader.h"
#include "runtime/memory.h"

#include "cuco_emu_host.h"

#include <deque>
#include <set>
#include <utility>

/// What the race checker says of what it found. Lines cost a program's start each, so few races are reported, and
/// from outside the fiber that found them, whose stack is small.
namespace cuco_emu {
namespace {

constexpr std::size_t most_races = 4;

std::deque<RaceTask> race_tasks;
std::function<void(const Race&)> race_callback;

struct FoundRace {
    Race race;
    const void *first_site, *second_site;
};
std::vector<FoundRace> unreported_races;
/// Pairs in either order: which of the two came first is chance.
using RacePlace = std::pair<std::uintptr_t, bool>;
std::set<std::pair<RacePlace, RacePlace>> found_race_sites;
using RaceLine = std::pair<int, std::string>;
std::set<std::pair<RaceLine, RaceLine>> reported_race_lines;

template <class T>
std::pair<T, T> in_order(T a, T b)
{
    return b < a ? std::pair(std::move(b), std::move(a)) : std::pair(std::move(a), std::move(b));
}

/// Equal on all ranks, each of which has loaded a copy of its own.
std::uintptr_t place_in_source(std::uintptr_t site)
{
    const Module* module = module_at(reinterpret_cast<void*>(site));
    return module ? site - module->begin : 0;
}

const void* site_of(const RaceEntry& entry)
{
    const auto own = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(entry.site));
    return own || entry.task < race_hosts ? own : race_task(entry.task).site;
}

RaceSide describe_side(const RaceEntry& entry, std::uint32_t lanes)
{
    RaceSide side;
    side.access = entry.strong && !entry.is_volatile ? "atomic" : entry.write ? "write" : "read";
    if (entry.task < race_hosts) {
        side.rank = static_cast<int>(entry.task);
        side.where = entry.site == 0 ? "the harness, which reads the outputs" : "host code";
        return side;
    }
    const RaceTask& task = race_task(entry.task);
    side.rank = task.rank;
    side.where = task.name;
    side.in_kernel = task.kernel;
    if (!task.kernel) {
        if (task.name.starts_with("copy"))
            side.access = "copy";
        return side;
    }
    side.where = "kernel " + task.name;
    const auto& grid = task.grid;
    side.block[0] = static_cast<int>(entry.block % grid.x);
    side.block[1] = static_cast<int>(entry.block / grid.x % grid.y);
    side.block[2] = static_cast<int>(entry.block / grid.x / grid.y);
    const unsigned lane = lanes != 0 ? static_cast<unsigned>(__builtin_ctz(lanes)) : 0;
    const unsigned thread = static_cast<unsigned>(entry.warp) * 32 + lane;
    side.thread[0] = static_cast<int>(thread % task.block.x);
    side.thread[1] = static_cast<int>(thread / task.block.x % task.block.y);
    side.thread[2] = static_cast<int>(thread / task.block.x / task.block.y);
    return side;
}

}  // namespace

std::uint32_t next_race_task()
{
    return race_floor + static_cast<std::uint32_t>(race_tasks.size());
}

std::uint32_t new_race_task(int rank, const std::string& name, const void* site)
{
    const std::uint32_t number = next_race_task();
    if (number == last_race_task)
        fail({"environment", -1, "The run has more operations than the race checker can number.", "", 0});
    RaceTask task;
    task.rank = rank;
    task.name = name;
    task.site = site;
    race_tasks.push_back(std::move(task));
    return number;
}

RaceTask& race_task(std::uint32_t task)
{
    return race_tasks[task - race_floor];
}

void forget_race_tasks()
{
    race_tasks.clear();
}

void found_race(const RaceEntry& first, const RaceEntry& second, std::uintptr_t address, const RaceActor& actor,
                bool (*covers)(const RaceActor&, RaceEpoch, bool))
{
    const auto place = [](const RaceEntry& entry) {
        return std::pair(place_in_source(reinterpret_cast<std::uintptr_t>(site_of(entry))), entry.write != 0);
    };
    const auto places = in_order(place(first), place(second));
    if (reported_race_lines.size() + unreported_races.size() >= most_races || !found_race_sites.insert(places).second)
        return;
    // Of several lanes the first that is not ordered.
    std::uint32_t lanes = first.lanes;
    for (std::uint32_t rest = first.lanes; rest != 0; rest &= rest - 1) {
        RaceEpoch epoch = first.epoch();
        epoch.lanes = rest & -rest;
        if (!covers(actor, epoch, second.write != 0 || second.strong != 0)) {
            lanes = epoch.lanes;
            break;
        }
    }
    FoundRace found{{}, site_of(first), site_of(second)};
    const auto overlap = static_cast<unsigned>(first.bytes & second.bytes);
    const auto* byte = reinterpret_cast<const void*>(address + static_cast<unsigned>(__builtin_ctz(overlap)));
    const MemoryPlace memory = place_of(byte);
    found.race.memory = memory.name;
    found.race.memory_rank = memory.rank;
    found.race.byte = static_cast<std::int64_t>(memory.byte);
    found.race.first = describe_side(first, lanes);
    found.race.second = describe_side(second, second.lanes);
    if (unreported_races.empty())
        at(now(), report_races);
    unreported_races.push_back(std::move(found));
}

void report_races()
{
    const auto races = std::move(unreported_races);
    unreported_races.clear();
    for (FoundRace found : races) {
        found.race.first.line = source_line(found.first_site);
        found.race.second.line = source_line(found.second_site);
        const auto lines = in_order(RaceLine(found.race.first.line, found.race.first.access),
                                    RaceLine(found.race.second.line, found.race.second.access));
        if (race_callback && reported_race_lines.insert(lines).second)
            race_callback(found.race);
    }
}

void check_races(std::function<void(const Race&)> callback)
{
    race_callback = std::move(callback);
    race_checking = true;
}

void read_by_harness(const void* address, std::size_t bytes)
{
    if (race_checking)
        race_plain(address, bytes, false, nullptr);
}

}  // namespace cuco_emu
