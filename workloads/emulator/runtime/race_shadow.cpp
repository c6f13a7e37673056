// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/race_shadow.h"

#include "runtime/memory.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace cuco_emu {
namespace {

constexpr unsigned race_page_shift = 12;
constexpr std::uintptr_t race_page_bytes = std::uintptr_t{1} << race_page_shift;

struct RacePage {
    std::uint64_t generation = 0;
    RaceCell cells[race_page_bytes / 8];
};

std::vector<std::unique_ptr<RacePage>> slot_race_pages[shared_slot + 1];
std::unordered_map<std::uintptr_t, std::unique_ptr<RacePage>> other_race_pages;
std::uint64_t race_generation = 1;

std::unique_ptr<RacePage>* find_race_page(std::uintptr_t address, bool make)
{
    const unsigned slot = slot_of(reinterpret_cast<void*>(address));
    if (slot > shared_slot) {
        const auto number = address >> race_page_shift;
        if (make)
            return &other_race_pages[number];
        const auto found = other_race_pages.find(number);
        return found == other_race_pages.end() ? nullptr : &found->second;
    }
    auto& pages = slot_race_pages[slot];
    const std::size_t index = ((address - arena_base) & ((std::uintptr_t{1} << slot_shift) - 1)) >> race_page_shift;
    if (index >= pages.size()) {
        if (!make)
            return nullptr;
        pages.resize(index + 64);
    }
    return &pages[index];
}

}  // namespace

void RaceCell::add(const RaceEntry& entry)
{
    if (count_ < near_count) {
        near_[count_] = entry;
    } else {
        if (!far_)
            far_ = new std::vector<RaceEntry>;
        far_->push_back(entry);
    }
    ++count_;
}

void RaceCell::remove(std::uint32_t i)
{
    for (; i + 1 < count_; ++i)
        (*this)[i] = (*this)[i + 1];
    if (--count_ >= near_count)
        far_->pop_back();
}

void RaceCell::move_to_end(std::uint32_t i)
{
    const RaceEntry entry = (*this)[i];
    remove(i);
    add(entry);
}

void RaceCell::clear()
{
    delete far_;
    far_ = nullptr;
    count_ = 0;
}

void RaceCell::merge_blocks()
{
    for (std::uint32_t i = 0; i < count_; ++i) {
        for (std::uint32_t j = i + 1; j < count_;) {
            RaceEntry &kept = (*this)[i], other = (*this)[j];
            const bool alike = kept.task == other.task && kept.block == other.block && kept.bytes == other.bytes &&
                               kept.write == other.write && kept.strong == other.strong && (kept.strong || !kept.write);
            if (!alike) {
                ++j;
                continue;
            }
            kept.time = std::max(kept.time, other.time);
            kept.lanes = 0;
            remove(j);
        }
    }
}

RaceCell& race_cell(std::uintptr_t address)
{
    static std::uintptr_t last_number = 0;
    static RacePage* last_page = nullptr;
    const auto number = address >> race_page_shift;
    if (!last_page || last_number != number) {
        auto& page = *find_race_page(address, true);
        if (!page)
            page = std::make_unique<RacePage>();
        last_page = page.get();
        last_number = number;
    }
    RacePage& page = *last_page;
    if (page.generation != race_generation) {
        for (auto& cell : page.cells)
            cell.clear();
        page.generation = race_generation;
    }
    return page.cells[(address & (race_page_bytes - 1)) >> 3];
}

void forget_races_in(std::uintptr_t begin, std::size_t bytes)
{
    for (auto at = begin & ~std::uintptr_t{7}; at < begin + bytes;) {
        auto* page = find_race_page(at, false);
        const auto page_end = (at | (race_page_bytes - 1)) + 1;
        if (page && *page)
            for (auto cell = at; cell < std::min(page_end, begin + bytes); cell += 8)
                (*page)->cells[(cell & (race_page_bytes - 1)) >> 3].clear();
        at = page_end;
    }
}

void forget_all_races()
{
    ++race_generation;
}

}  // namespace cuco_emu
