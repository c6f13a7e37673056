// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/race_clock.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/// What the race checker remembers of memory: for each 8 bytes the accesses that a later one may conflict with.
namespace cuco_emu {

/// An access to some bytes of a cell.
struct RaceEntry {
    std::uint32_t task = 0, block = 0;
    RaceTime time = 0;
    std::uint32_t lanes = 0;      ///< none: any thread of the block
    std::uint64_t site : 48 = 0;  ///< return address in the candidate
    std::uint64_t bytes : 8 = 0;  ///< as bits
    std::uint64_t warp : 5 = 0;
    std::uint64_t write : 1 = 0;
    std::uint64_t strong : 1 = 0;  ///< atomic or volatile: two such ones never race
    std::uint64_t is_volatile : 1 = 0;

    RaceEpoch epoch() const { return {task, block, time, static_cast<std::uint8_t>(warp), lanes}; }
};

/// In the order in which they happened.
class RaceCell {
public:
    std::uint32_t size() const { return count_; }
    RaceEntry& operator[](std::uint32_t i) { return i < near_count ? near_[i] : (*far_)[i - near_count]; }
    void add(const RaceEntry& entry);
    void remove(std::uint32_t i);
    void move_to_end(std::uint32_t i);
    void clear();
    /// Joins strong accesses and reads of the same block into one each, so that a cell stays small.
    void merge_blocks();

private:
    static constexpr std::uint32_t near_count = 2;

    RaceEntry near_[near_count];
    std::uint32_t count_ = 0;
    std::vector<RaceEntry>* far_ = nullptr;
};

/// The cell of an address of device, pinned or shared memory, or of a candidate's variable.
RaceCell& race_cell(std::uintptr_t address);
/// Forgets what was done to a piece of memory, which is new.
void forget_races_in(std::uintptr_t begin, std::size_t bytes);
/// The same for all memory.
void forget_all_races();

}  // namespace cuco_emu
