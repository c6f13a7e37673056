// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host.h"

#include "runtime/failure.h"
#include "runtime/fiber.h"
#include "runtime/memory.h"
#include "runtime/poll.h"
#include "runtime/system_calls.h"
#include "runtime/warp.h"

#include "cuco_emu_host.h"

#include <algorithm>
#include <ctime>

namespace cuco_emu {

thread_local Rank* current_rank = nullptr;
thread_local Warp* current_warp = nullptr;
thread_local Thread* current_thread = nullptr;

namespace {

constexpr Time longest_delay = 300 * microsecond;

const std::function<void(int)>* host_body = nullptr;
int hosts_in_barrier = 0;

void host_main(void* self)
{
    auto& rank = *static_cast<Rank*>(self);
    (*host_body)(rank.index);
    rank.host.finished = true;
    --machine().open_hosts;
    switch_fiber(&rank.host.stack_pointer, scheduler_stack);
}

void resume_host(void* self)
{
    auto& rank = *static_cast<Rank*>(self);
    rank.host.waits_for.clear();
    rank.host.call_site = nullptr;
    current_rank = &rank;
    watched_system_calls = rank.host.in_candidate;
    switch_fiber(&scheduler_stack, rank.host.stack_pointer);
    watched_system_calls = 0;
    current_rank = nullptr;
}

void leave_host(Rank& rank)
{
    switch_fiber(&rank.host.stack_pointer, scheduler_stack);
}

bool all_idle()
{
    const Machine& node = machine();
    if (node.deadline > 0 && now() > node.deadline)
        fail({"timeout", -1, "The work takes more modelled time than is allowed.",
              "modelled time since the ranks last met: " +
                  std::to_string((now() - node.deadline + node.time_limit) / microsecond) + " us",
              0});
    return node.open_hosts == 0 && node.open_commands == 0;
}

void set_up_rank(Rank& rank, int index)
{
    const Model& model = machine().model;
    rank.index = index;
    rank.host.race.task = static_cast<std::uint32_t>(index);
    rank.host.race.rank = static_cast<std::int16_t>(index);
    rank.sms.resize(static_cast<std::size_t>(model.sm_count));
    rank.engines.resize(static_cast<std::size_t>(model.copy_engines));
    rank.legacy_stream.rank = rank.thread_stream.rank = &rank;
    rank.legacy_stream.legacy = true;
    rank.legacy_stream.name = "stream 0";
    rank.thread_stream.name = "per-thread stream";
    rank.thread_stream.number = rank.next_stream++;
}

}  // namespace

Machine& machine()
{
    static Machine instance;
    return instance;
}

bool load_model(const std::string& path, std::string* error)
{
    Model model;
    if (!read_model(path, model, error))
        return false;
    machine().model = model;
    return true;
}

std::string device_name()
{
    return machine().model.device_name;
}

bool configure(int ranks, std::string* error)
{
    if (ranks < 1 || ranks > static_cast<int>(max_ranks)) {
        *error = "The emulator runs 1 to 16 ranks, not " + std::to_string(ranks) + ".";
        return false;
    }
    if (!machine().ranks.empty()) {
        *error = "The emulator is configured already.";
        return false;
    }
    if (!reserve_arena(error))
        return false;
    for (int i = 0; i < ranks; ++i) {
        machine().ranks.push_back(std::make_unique<Rank>());
        set_up_rank(*machine().ranks.back(), i);
    }
    return true;
}

void forget_time()
{
    machine().timeless = true;
}

void set_scale(double flop_scale, double byte_scale)
{
    machine().flop_scale = flop_scale;
    machine().byte_scale = byte_scale;
}

void disturb(std::uint64_t seed)
{
    machine().disturbance = seed;
    machine().delays = 0;
}

Time random_delay(const Rank& rank)
{
    Machine& node = machine();
    if (node.disturbance == 0)
        return 0;
    const auto scatter = [](std::uint64_t x) {  // the finaliser of SplitMix64
        x += 0x9e3779b97f4a7c15ull;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
        return x ^ (x >> 31);
    };
    // Some ranks are much slower than others, so that who waits too little is early by more than its own work takes.
    const auto slowness = scatter(node.disturbance ^ scatter(static_cast<std::uint64_t>(rank.index))) % 64;
    const auto longest = longest_delay / 64 * static_cast<Time>(slowness + 1);
    return static_cast<Time>(scatter(node.disturbance + ++node.delays) % static_cast<std::uint64_t>(longest));
}

void set_time_limit_ns(std::int64_t nanoseconds)
{
    machine().time_limit = nanoseconds * nanosecond;
}

void run(const std::function<void(int)>& body)
{
    catch_signals();
    watch_system_calls();
    host_body = &body;
    machine().deadline = now() + machine().time_limit;
    for (auto& rank : machine().ranks) {
        Host& host = rank->host;
        if (!host.stack)
            host.stack = static_cast<char*>(commit(host_stack_slot, host_stack_bytes, 64 << 10));
        if (!host.stack)
            fail({"environment", -1, "The emulator has no memory for the stacks of the ranks.", "", 0});
        host.finished = false;
        ++machine().open_hosts;
        host.stack_pointer = prepare_fiber(host.stack + host_stack_bytes, host_main, rank.get());
        at(now(), resume_host, rank.get());
    }
    if (!run_events(all_idle, stir_pollers))
        fail_with_deadlock();
}

void host_sleep(Time duration)
{
    Rank& rank = *current_rank;
    rank.host.waits_for = "for its own call to return";
    at(now() + duration, resume_host, &rank);
    leave_host(rank);
}

void host_wait(const std::string& reason, const void* site)
{
    Rank& rank = *current_rank;
    rank.host.waits_for = reason;
    rank.host.call_site = site;
    leave_host(rank);
}

void wake_host(Rank& rank, Time when)
{
    at(when, resume_host, &rank);
}

Rank& calling_rank(const char* function, const void* site)
{
    if (current_warp)
        fail_in_kernel("not_emulable", std::string("A kernel calls ") + function + ", which only host code may call.",
                       *current_thread, site);
    if (current_rank && current_rank->host.loading)
        fail({"tampering", current_rank->index,
              std::string(function) + " was called while the candidate was loaded, by a static constructor.", "",
              source_line(site)});
    if (!current_rank)
        fail({"not_emulable", -1,
              std::string(function) + " was called on a second host thread; the emulator runs one a rank.", "",
              source_line(site)});
    return *current_rank;
}

void barrier()
{
    Rank& rank = *current_rank;
    machine().deadline = now() + machine().time_limit;
    if (++hosts_in_barrier < static_cast<int>(machine().ranks.size())) {
        host_wait("for the other ranks in the harness's barrier", nullptr);
    } else {
        hosts_in_barrier = 0;
        if (race_checking) {
            std::vector<Rank*> all;
            for (auto& other : machine().ranks)
                all.push_back(other.get());
            race_hosts_meet(all);
        }
        for (auto& other : machine().ranks)
            if (other.get() != &rank)
                wake_host(*other, now());
    }
}

std::string host_collectives()
{
    std::string names;
    for (const auto& name : machine().host_collectives)
        names += (names.empty() ? "" : " ") + name;
    return names;
}

std::int64_t now_ps()
{
    return now();
}
std::int64_t now_ns()
{
    return now() / nanosecond;
}
void sleep_ns(std::int64_t nanoseconds)
{
    host_sleep(nanoseconds * nanosecond);
}

void enter_candidate(const void* frame, const void* result)
{
    current_rank->host.frame = static_cast<const char*>(frame);
    current_rank->host.result = static_cast<const char*>(result);
    current_rank->host.in_candidate = true;
    watched_system_calls = 1;
}
void leave_candidate()
{
    watched_system_calls = 0;
    current_rank->host.in_candidate = false;
    report_refused_call();
}

void set_access(const void* begin, std::size_t bytes, Access access, const std::string& name)
{
    set_range_access(begin, bytes, access != Access::none, access == Access::read_write, name);
}

}  // namespace cuco_emu

using namespace cuco_emu;

void cuco_emu_nanosleep(unsigned nanoseconds)
{
    if (!current_warp)
        return host_sleep(Time{nanoseconds} * nanosecond);
    Cost& cost = current_warp->cost;
    const Time duration = Time{nanoseconds} * nanosecond;
    current_thread->paused = duration;
    if (cost.latency < duration)
        cost.latency = duration;
}

std::int64_t cuco_emu_clock_ns()
{
    if (!current_warp)
        return now() / nanosecond;
    if (!current_warp->cost.empty())
        settle_costs();
    current_thread->read_clock = true;
    return now() / nanosecond;
}

/// Takes the C library's place: on a device clock() counts cycles.
extern "C" clock_t clock()
{
    return static_cast<clock_t>(cuco_emu_clock_cycles());
}

long long cuco_emu_clock_cycles()
{
    return static_cast<long long>(static_cast<double>(cuco_emu_clock_ns()) * machine().model.clock_ghz);
}
