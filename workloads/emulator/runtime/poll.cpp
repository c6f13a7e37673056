// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/poll.h"

#include "runtime/failure.h"
#include "runtime/hooks.h"
#include "runtime/kernel.h"
#include "runtime/warp.h"

#include <algorithm>
#include <cstring>

namespace cuco_emu {
namespace {

constexpr int counted_polls = 256;             ///< looks with pauses between them that may be counted
constexpr int loud_polls = 64;                 ///< looks with other accesses between them until it counts as spinning
constexpr std::size_t idle_polls = 2'000'000;  ///< looks of all sleepers without any change until it is for ever

struct Sleeper {
    std::uintptr_t begin, end;
    Thread* thread;
    unsigned timer;
};
std::vector<Sleeper> sleepers;

void watch(const Sleeper& sleeper, bool on)
{
    if (!is_shadowed(reinterpret_cast<void*>(sleeper.begin)))
        return;
    for (auto at = sleeper.begin & ~std::uintptr_t{7}; at < sleeper.end; at += 8) {
        std::uint8_t& state = shadow_of(reinterpret_cast<void*>(at));
        state = static_cast<std::uint8_t>(on ? state | shadow_watched : state & ~shadow_watched);
    }
}

/// Removes sleepers that `chosen` picks and wakes them at the time that it gives.
template <class Chosen>
void wake_sleepers(Chosen chosen)
{
    const auto all = sleepers;
    sleepers.clear();
    for (const Sleeper& sleeper : all) {
        const Time when = chosen(sleeper);
        if (when < 0) {
            sleepers.push_back(sleeper);
            continue;
        }
        watch(sleeper, false);
        --sleeper.thread->warp->block->shared_pollers;
        ++sleeper.thread->timer;
        wake(*sleeper.thread, when);
    }
    if (sleepers.size() != all.size())
        for (const Sleeper& sleeper : sleepers)
            watch(sleeper, true);
    machine().pollers = sleepers.size();
}

Thread::Polled* seen_before(Thread& thread, const volatile void* address)
{
    for (auto& polled : thread.polled)
        if (polled.address == address)
            return &polled;
    return nullptr;
}

void read_value(std::uint64_t (&value)[2], const volatile void* address, unsigned bytes)
{
    value[0] = value[1] = 0;
    std::memcpy(value, const_cast<const void*>(address), std::min(bytes, 16u));
}

/// A thread that looks at the clock between its looks, or pauses and counts them, may give up some time: it is woken in
/// between.
void set_timer(Thread& thread, Thread::Polled& polled)
{
    const Time delay = thread.read_clock ? microsecond << std::min(polled.repeats, 7) : thread.paused;
    const unsigned timer = thread.timer;
    Block& block = *thread.warp->block;
    ++block.events;
    Thread* sleeping = &thread;
    at(now() + delay, [sleeping, timer] {
        Block& owner = *sleeping->warp->block;
        --owner.events;
        if (owner.live == 0)
            finish_block(owner);
        else if (sleeping->wait == Wait::poll && sleeping->timer == timer)
            wake_sleepers([&](const Sleeper& sleeper) { return sleeper.thread == sleeping ? now() : Time{-1}; });
    });
}

void sleep_until_written(Thread& thread, Thread::Polled& polled, unsigned bytes, const void* site)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(polled.address);
    const Sleeper sleeper{begin, begin + bytes, &thread, ++thread.timer};
    sleepers.push_back(sleeper);
    watch(sleeper, true);
    machine().pollers = sleepers.size();
    ++thread.warp->block->shared_pollers;
    thread.poll_address = polled.address;
    thread.poll_bytes = bytes;
    thread.call_site = site;
    if (thread.read_clock || (thread.paused > 0 && polled.repeats < counted_polls))
        set_timer(thread, polled);
    thread.read_clock = false;
    thread.paused = 0;
    wait_in(Wait::poll);
}

}  // namespace

void poll(const volatile void* address, unsigned bytes, const void* site)
{
    Thread& thread = *current_thread;
    const auto accesses = thread.warp->cost.total_accesses + thread.warp->cost.accesses;
    Thread::Polled* polled = seen_before(thread, address);
    std::uint64_t value[2];
    read_value(value, address, bytes);
    if (polled && thread.quiet && std::memcmp(polled->seen, value, sizeof value) == 0) {
        ++polled->repeats;
        const bool nothing_else = accesses - thread.accesses_at_poll <= 32;
        if (nothing_else || polled->repeats > loud_polls) {
            sleep_until_written(thread, *polled, bytes, site);
            read_value(value, address, bytes);
        }
    } else if (polled) {
        polled->repeats = 0;
        thread.idle_polls = 0;
    } else {
        polled = &thread.polled[thread.next_polled++ % 4];
        polled->repeats = 0;
        thread.idle_polls = 0;
    }
    polled->address = address;
    std::memcpy(polled->seen, value, sizeof value);
    thread.quiet = true;
    thread.accesses_at_poll = thread.warp->cost.total_accesses + thread.warp->cost.accesses;
}

void wrote(const volatile void* address, std::size_t bytes, Rank* writer)
{
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const auto end = begin + bytes;
    const auto hit = [&](const Sleeper& sleeper) { return sleeper.begin < end && begin < sleeper.end; };
    if (std::ranges::none_of(sleepers, hit))
        return;
    const Model& model = machine().model;
    const bool in_shared = slot_of(address) == shared_slot;
    wake_sleepers([&](const Sleeper& sleeper) -> Time {
        if (!hit(sleeper))
            return -1;
        const Rank* rank = sleeper.thread->warp->block->kernel->rank;
        const bool far = rank != writer;
        return now() + (in_shared ? 0 : random_delay(*rank)) +
               from_us(in_shared ? model.shared_latency_us
                       : far     ? model.lsa_signal_us
                                 : model.poll_local_us);
    });
}

bool stir_pollers()
{
    bool any = false;
    const std::size_t limit = std::clamp<std::size_t>(idle_polls / std::max<std::size_t>(1, sleepers.size()), 50, 2000);
    wake_sleepers([&](const Sleeper& sleeper) -> Time {
        if (++sleeper.thread->idle_polls > limit)
            return -1;
        any = true;
        return now();
    });
    return any;
}

}  // namespace cuco_emu

using namespace cuco_emu;

void cuco_emu_visible_begin(const volatile void* address, unsigned bytes, int reads, const void* site)
{
    if (!current_warp)
        return host_looks(address, site);
    settle_costs();
    observe(address, bytes, reads == 0, site);
    if (reads != 0)
        poll(address, bytes, site);
    else
        current_thread->quiet = false;
}

void cuco_emu_visible_end(const volatile void* address, unsigned bytes, int changed, int how, const void* site)
{
    if (race_checking)
        race_strong(address, bytes, how, site);
    if (!current_warp) {
        if (changed != 0)
            note_write(address, bytes, current_rank);
        return;
    }
    const Model& model = machine().model;
    const unsigned slot = slot_of(address);
    Rank* rank = current_warp->block->kernel->rank;
    if (changed != 0) {
        current_thread->quiet = false;
        note_write(address, bytes, rank);
    } else {
        const double us = slot == shared_slot                                              ? model.shared_latency_us
                          : slot < max_ranks && slot != static_cast<unsigned>(rank->index) ? model.peer_latency_us
                                                                                           : model.poll_local_us;
        current_warp->cost.latency = std::max(current_warp->cost.latency, from_us(us));
    }
}
