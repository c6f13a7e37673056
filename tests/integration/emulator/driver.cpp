// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0

/// Runs a fixture's `int fixture(int rank, int ranks)` on every rank and prints what came of it:
///     driver FIXTURE.so RANKS [MODEL [FLOP_SCALE BYTE_SCALE]]
#include "cuco_emu_host.h"

#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" {
/// What fixtures may use of the host's interface.
void driver_barrier()
{
    cuco_emu::barrier();
}
long long driver_now_ns()
{
    return cuco_emu::now_ns();
}
void driver_sleep_ns(long long ns)
{
    cuco_emu::sleep_ns(ns);
}
void driver_trace_begin()
{
    cuco_emu::trace_begin("fixture");
}
void driver_trace_end()
{
    std::printf("trace %s\n", cuco_emu::trace_end().c_str());
}
void driver_guard(void* begin, unsigned long bytes, int access)
{
    cuco_emu::set_access(begin, bytes, static_cast<cuco_emu::Access>(access), "guarded part");
}
}

void print_side(const cuco_emu::RaceSide& side)
{
    std::printf("  %s by rank %d in %s", side.access.c_str(), side.rank, side.where.c_str());
    if (side.in_kernel)
        std::printf(", block %d, thread %d", side.block[0], side.thread[0]);
    std::printf(", line %d\n", side.line);
}

int main(int argc, char** argv)
{
    std::string error;
    const int ranks = argc > 2 ? std::atoi(argv[2]) : 1;
    cuco_emu::on_failure([](const cuco_emu::Failure& failure) {
        std::printf("failure %s rank %d line %d\n%s\n%s\n", failure.kind.c_str(), failure.rank, failure.line,
                    failure.message.c_str(), failure.detail.c_str());
        std::fflush(stdout);
    });
    if ((argc > 3 && !cuco_emu::load_model(argv[3], &error)) || !cuco_emu::configure(ranks, &error)) {
        std::printf("error %s\n", error.c_str());
        return 2;
    }
    if (argc > 5)
        cuco_emu::set_scale(std::atof(argv[4]), std::atof(argv[5]));
    if (std::getenv("FIXTURE_RACES"))
        cuco_emu::check_races([](const cuco_emu::Race& race) {
            std::printf("race in %s of rank %d\n", race.memory.c_str(), race.memory_rank);
            print_side(race.first);
            print_side(race.second);
        });
    int bad = 0;
    cuco_emu::run([&](int rank) {
        void* module = cuco_emu::load_candidate(argv[1], rank, &error);
        auto* fixture = module ? reinterpret_cast<int (*)(int, int)>(cuco_emu::symbol(module, "fixture")) : nullptr;
        if (!fixture) {
            std::printf("error %s\n", error.c_str());
            std::exit(2);
        }
        cuco_emu::barrier();
        const int result = fixture(rank, ranks);
        if (result != 0)
            std::printf("rank %d returned %d\n", rank, result);
        bad += result != 0;
        cuco_emu::barrier();
        cuco_emu::unload_candidate(module);
    });
    std::printf("%s at %lld ns\n", bad ? "bad" : "good", static_cast<long long>(cuco_emu::now_ns()));
    return bad ? 1 : 0;
}
