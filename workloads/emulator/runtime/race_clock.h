// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

/// Vector clocks of the race checker.
///
/// A task is a kernel launch, a copy, a library call, or the host thread of a rank. Instead of one component for each
/// CUDA thread a clock has components for whatever met as a whole: a launch, a block, a warp, or a single lane. A
/// component with value v says: all that happened there at a time below v is known.
namespace cuco_emu {

using RaceTime = std::uint32_t;
inline constexpr RaceTime race_for_ever = ~RaceTime{0};  ///< of a task that has ended

/// Names a launch, or a block, warp or lane of it. In order of value each part comes right behind its whole.
using RaceNode = std::uint64_t;
inline RaceNode task_node(std::uint32_t task)
{
    return RaceNode{task} << 38;
}
inline RaceNode block_node(std::uint32_t task, std::uint32_t block)
{
    return task_node(task) | RaceNode{(block + 1) & 0x3ffffff} << 12;
}
inline RaceNode warp_node(std::uint32_t task, std::uint32_t block, unsigned warp)
{
    return block_node(task, block) | RaceNode{warp + 1} << 6;
}
inline RaceNode lane_node(std::uint32_t task, std::uint32_t block, unsigned warp, unsigned lane)
{
    return warp_node(task, block, warp) | RaceNode{lane + 1};
}
inline constexpr std::uint32_t last_race_task = (1u << 26) - 1;

/// Who did something, and when: some lanes of one warp at the same time.
struct RaceEpoch {
    std::uint32_t task = 0, block = 0;
    RaceTime time = 0;
    std::uint8_t warp = 0;
    std::uint32_t lanes = 1;  ///< none: any thread of the block
};

class RaceClock;
using ClockRef = std::shared_ptr<const RaceClock>;  ///< null knows nothing

class RaceClock {
public:
    struct Item {
        RaceNode node;
        RaceTime time;
    };

    explicit RaceClock(std::vector<Item> items);

    bool covers(const RaceEpoch& epoch) const;
    const std::vector<Item>& items() const { return items_; }

private:
    RaceTime at(RaceNode node) const;

    std::vector<Item> items_;  ///< by node
    std::uint64_t number_;     ///< tells clocks apart that lie at the same address one after the other
};

ClockRef join(const ClockRef& a, const ClockRef& b);
ClockRef join(const std::vector<ClockRef>& clocks);
ClockRef join(const ClockRef& clock, std::vector<RaceClock::Item> more);
/// Replaces lanes of a block by the block when all `threads` of them are there.
ClockRef compress(const ClockRef& clock, RaceNode block, std::size_t threads);

/// Tasks below this one are known to everybody, except the hosts, which are the first `race_hosts` tasks.
extern std::uint32_t race_floor;
inline constexpr std::uint32_t race_hosts = 16;

}  // namespace cuco_emu
