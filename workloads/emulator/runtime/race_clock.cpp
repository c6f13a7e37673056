// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/race_clock.h"

#include <algorithm>

namespace cuco_emu {

std::uint32_t race_floor = race_hosts;

namespace {

constexpr RaceNode lane_bits = 0x3f, warp_bits = 0xfc0, block_bits = RaceNode{0x3ffffff} << 12;

std::uint64_t next_clock_number = 1;

std::uint32_t task_of(RaceNode node)
{
    return static_cast<std::uint32_t>(node >> 38);
}

bool is_forgotten(RaceNode node)
{
    return task_of(node) >= race_hosts && task_of(node) < race_floor;
}

/// Sorted items with each node once, without those that a whole around them makes superfluous.
std::vector<RaceClock::Item> tidied(std::vector<RaceClock::Item> items)
{
    std::ranges::sort(items, [](const auto& a, const auto& b) { return a.node < b.node; });
    std::vector<RaceClock::Item> kept;
    kept.reserve(items.size());
    RaceNode task = 0, block = 0, warp = 0;
    RaceTime task_time = 0, block_time = 0, warp_time = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        RaceClock::Item item = items[i];
        while (i + 1 < items.size() && items[i + 1].node == item.node)
            item.time = std::max(item.time, items[++i].time);
        if (item.time == 0 || is_forgotten(item.node))
            continue;
        const RaceNode its_task = item.node & ~(block_bits | warp_bits | lane_bits);
        const RaceNode its_block = item.node & ~(warp_bits | lane_bits), its_warp = item.node & ~lane_bits;
        const bool known = (its_task == task && item.time <= task_time) ||
                           (its_block == block && item.time <= block_time) ||
                           (its_warp == warp && item.time <= warp_time);
        if (known)
            continue;
        if ((item.node & lane_bits) == 0) {
            if ((item.node & warp_bits) != 0) {
                warp = item.node;
                warp_time = item.time;
            } else if ((item.node & block_bits) != 0) {
                block = item.node;
                block_time = item.time;
            } else {
                task = item.node;
                task_time = item.time;
            }
        }
        kept.push_back(item);
    }
    return kept;
}

}  // namespace

RaceClock::RaceClock(std::vector<Item> items) : items_(std::move(items)), number_(next_clock_number++) {}

RaceTime RaceClock::at(RaceNode node) const
{
    const auto found = std::ranges::lower_bound(items_, node, {}, &Item::node);
    return found != items_.end() && found->node == node ? found->time : 0;
}

bool RaceClock::covers(const RaceEpoch& epoch) const
{
    static std::uint64_t last_number = 0;
    static std::uint32_t last_task = 0;
    if (last_number == number_ && last_task == epoch.task)
        return true;
    const RaceTime task = at(task_node(epoch.task));
    if (task == race_for_ever) {
        last_number = number_;
        last_task = epoch.task;
        return true;
    }
    if (epoch.time < task || epoch.time < at(block_node(epoch.task, epoch.block)))
        return true;
    if (epoch.lanes == 0)
        return false;
    if (epoch.time < at(warp_node(epoch.task, epoch.block, epoch.warp)))
        return true;
    for (std::uint32_t rest = epoch.lanes; rest != 0; rest &= rest - 1)
        if (epoch.time >=
            at(lane_node(epoch.task, epoch.block, epoch.warp, static_cast<unsigned>(__builtin_ctz(rest)))))
            return false;
    return true;
}

ClockRef join(const ClockRef& a, const ClockRef& b)
{
    if (!b || a == b)
        return a;
    if (!a)
        return b;
    return join(a, b->items());
}

ClockRef join(const ClockRef& clock, std::vector<RaceClock::Item> more)
{
    if (clock)
        more.insert(more.end(), clock->items().begin(), clock->items().end());
    auto items = tidied(std::move(more));
    const auto same = [](const RaceClock::Item& a, const RaceClock::Item& b) {
        return a.node == b.node && a.time == b.time;
    };
    // Equal clocks stay the same object: that is what makes most joins cheap.
    if (clock && std::ranges::equal(items, clock->items(), same))
        return clock;
    return items.empty() ? nullptr : std::make_shared<const RaceClock>(std::move(items));
}

ClockRef join(const std::vector<ClockRef>& clocks)
{
    std::vector<RaceClock::Item> items;
    ClockRef first;
    for (const auto& clock : clocks) {
        if (!clock || clock == first)
            continue;
        if (!first)
            first = clock;
        else
            items.insert(items.end(), clock->items().begin(), clock->items().end());
    }
    return items.empty() ? first : join(first, std::move(items));
}

ClockRef compress(const ClockRef& clock, RaceNode block, std::size_t threads)
{
    if (!clock)
        return clock;
    std::size_t lanes = 0;
    RaceTime least = race_for_ever;
    for (const auto& item : clock->items())
        if ((item.node & ~(warp_bits | lane_bits)) == block && (item.node & lane_bits) != 0) {
            ++lanes;
            least = std::min(least, item.time);
        }
    return lanes > 1 && lanes == threads ? join(clock, {{block, least}}) : clock;
}

}  // namespace cuco_emu
