// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Two ranks on two GPUs run one candidate of gemm_allgather, timed without and with a trace; checks what came back.
//
//     profile_driver PLAIN.so TRACED.so SIZE OUT.json [expect-phases] [hold-cupti]
#include "candidate.h"
#include "rank_trace.h"
#include "rank_trace_lanes.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nccl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using namespace cuco_harness;

namespace {

constexpr int ranks = 2;
constexpr int timed_iterations = 20;
constexpr size_t text_bytes = 8u << 20;

/// Between the two processes.
struct Shared {
    std::atomic<int> arrived{0}, generation{0};
    ncclUniqueId id;
    double plain_us[ranks], idle_trace_us[ranks], traced_us[ranks];
    char text[ranks][text_bytes];
};

[[noreturn]] void fail(const char* what, int line)
{
    std::fprintf(stderr, "profile_driver: line %d: %s\n", line, what);
    _exit(1);
}
#define REQUIRE(condition)              \
    do {                                \
        if (!(condition))               \
            fail(#condition, __LINE__); \
    } while (0)

void meet(Shared& shared)
{
    const int generation = shared.generation;
    if (++shared.arrived == ranks) {
        shared.arrived = 0;
        ++shared.generation;
    }
    while (shared.generation == generation) {
    }
}

double nowUs()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) * 1e6 + double(now.tv_nsec) * 1e-3;
}

/// Another profiler that came first.
void holdCupti()
{
    void* cupti = nullptr;
    for (const char* name : {"libcupti.so", "libcupti.so.13", "libcupti.so.12"}) {
        if (!cupti)
            cupti = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    }
    REQUIRE(cupti);
    using Subscribe = int (*)(void**, void (*)(void*, int, unsigned, const void*), void*);
    static void* subscriber = nullptr;
    const auto subscribe = reinterpret_cast<Subscribe>(dlsym(cupti, "cuptiSubscribe"));
    REQUIRE(subscribe && subscribe(
                             &subscriber, [](void*, int, unsigned, const void*) {}, nullptr) == 0);
}

struct Candidate {
    void* object = nullptr;
    void* state = nullptr;
    int (*run)(void*, const cuco_io*, cudaStream_t) = nullptr;
    void (*teardown)(void*) = nullptr;

    Candidate(const char* path, const cuco_context& context)
    {
        object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!object)
            fail(dlerror(), __LINE__);
        const auto setup = reinterpret_cast<decltype(&cuco_setup)>(dlsym(object, "cuco_setup"));
        run = reinterpret_cast<decltype(run)>(dlsym(object, "cuco_run"));
        teardown = reinterpret_cast<decltype(teardown)>(dlsym(object, "cuco_teardown"));
        REQUIRE(setup && run && teardown);
        REQUIRE(setup(&context, &state) == 0);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
};

struct Rank {
    Shared& shared;
    int rank;
    cuco_io io{};
    cudaStream_t stream = nullptr;

    double iteration(const Candidate& candidate)
    {
        meet(shared);
        const double begin = nowUs();
        REQUIRE(candidate.run(candidate.state, &io, stream) == 0);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        return nowUs() - begin;
    }

    double median(const Candidate& candidate)
    {
        std::vector<double> times;
        for (int i = 0; i < timed_iterations + 3; ++i)
            times.push_back(iteration(candidate));
        times.erase(times.begin(), times.begin() + 3);
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    }
};

void runRank(Shared& shared, int rank, const char* plain_path, const char* traced_path, int64_t size, bool hold)
{
    if (hold)
        holdCupti();
    REQUIRE(cudaSetDevice(rank) == cudaSuccess);
    cudaDeviceProp device{};
    REQUIRE(cudaGetDeviceProperties(&device, rank) == cudaSuccess);
    if (rank == 0)
        REQUIRE(ncclGetUniqueId(&shared.id) == ncclSuccess);
    meet(shared);
    ncclComm_t comm = nullptr;
    REQUIRE(ncclCommInitRank(&comm, ranks, shared.id, rank) == ncclSuccess);

    const size_t matrix_bytes = size_t(size) * size_t(size) * 2;
    void *a = nullptr, *b = nullptr, *c = nullptr;
    REQUIRE(cudaMalloc(&a, matrix_bytes) == cudaSuccess && cudaMalloc(&b, matrix_bytes) == cudaSuccess);
    REQUIRE(ncclMemAlloc(&c, matrix_bytes) == ncclSuccess);
    REQUIRE(cudaMemset(a, 0x3c, matrix_bytes) == cudaSuccess && cudaMemset(b, 0x3c, matrix_bytes) == cudaSuccess);

    cuco_context context{};
    context.abi_version = CUCO_ABI_VERSION;
    context.rank = rank;
    context.ranks = ranks;
    context.comm = comm;
    context.shape[0] = context.shape[1] = context.shape[2] = size;
    context.device = rank;
    context.sm_count = device.multiProcessorCount;
    context.l2_bytes = device.l2CacheSize;
    context.symmetric_base = c;
    context.symmetric_bytes = matrix_bytes;
    const void* inputs[] = {a, b};
    void* outputs[] = {c};
    Rank self{shared, rank};
    self.io.inputs = inputs;
    self.io.outputs = outputs;
    REQUIRE(cudaStreamCreateWithFlags(&self.stream, cudaStreamNonBlocking) == cudaSuccess);

    Candidate plain(plain_path, context);
    shared.plain_us[rank] = self.median(plain);
    meet(shared);
    plain.teardown(plain.state);
    meet(shared);

    Candidate traced(traced_path, context);
    RankTrace trace;
    trace.useCandidate(traced.object);
    shared.idle_trace_us[rank] = self.median(traced);
    meet(shared);
    trace.measureAxis(comm);
    std::vector<double> times;
    std::string text;
    for (int i = 0; i < 7; ++i) {
        trace.begin();
        times.push_back(self.iteration(traced));
        text = trace.end(rank);
    }
    std::sort(times.begin(), times.end());
    shared.traced_us[rank] = times[times.size() / 2];
    REQUIRE(text.size() < text_bytes);
    std::memcpy(shared.text[rank], text.c_str(), text.size() + 1);
    meet(shared);
    traced.teardown(traced.state);
    meet(shared);
    ncclCommDestroy(comm);
}

int failures = 0;
void check(bool condition, const std::string& sentence)
{
    std::printf("  %s: %s\n", condition ? "ok" : "FAILED", sentence.c_str());
    failures += condition ? 0 : 1;
}

struct Span {
    uint64_t begin = UINT64_MAX, end = 0;

    void cover(const TraceInterval& interval)
    {
        begin = std::min(begin, interval.begin_ns);
        end = std::max(end, interval.end_ns);
    }
};

struct Summary {
    Span device;
    std::map<std::string, Span> kernels, phases;  ///< by the kernel's name
    size_t device_records = 0;
};

Summary summarise(const RankLanes& lanes, uint64_t origin)
{
    const char* activities[] = {"compute", "communication", "copy", "wait", "host"};
    Summary summary;
    for (const TraceLane& lane : lanes.lanes) {
        double us[5] = {};
        const bool in_kernel = lane.name.rfind("in-kernel", 0) == 0, host = lane.name.rfind("host", 0) == 0;
        for (const TraceInterval& i : lane.intervals) {
            us[int(i.activity)] += double(i.end_ns - i.begin_ns) * 1e-3;
            if (host)
                continue;
            summary.device.cover(i);
            (in_kernel ? summary.phases : summary.kernels)[i.name].cover(i);
            summary.device_records += in_kernel ? 0 : 1;
        }
        std::printf("  rank %d  %-28s %5zu ", lanes.rank, lane.name.c_str(), lane.intervals.size());
        for (int a = 0; a < 5; ++a) {
            if (us[a] > 0)
                std::printf(" %s %.1f µs", activities[a], us[a]);
        }
        const TraceInterval& first = lane.intervals.front();
        std::printf("  first %.1f–%.1f µs %.60s\n", double(first.begin_ns - origin) * 1e-3,
                    double(first.end_ns - origin) * 1e-3, first.name.c_str());
    }
    for (const std::string& note : lanes.notes)
        std::printf("  rank %d  note: %s\n", lanes.rank, note.c_str());
    return summary;
}

void report(const Shared& shared, const char* out, const std::string& title, bool expect_phases, bool held)
{
    std::vector<std::string> texts;
    std::vector<RankLanes> all;
    for (int rank = 0; rank < ranks; ++rank) {
        texts.push_back(shared.text[rank]);
        const auto lanes = fromText(texts.back());
        check(lanes.has_value(), "rank " + std::to_string(rank) + "'s text is read again");
        if (!lanes)
            return;
        all.push_back(*lanes);
    }
    uint64_t origin = UINT64_MAX;
    for (const RankLanes& rank : all) {
        for (const TraceLane& lane : rank.lanes)
            origin = std::min(origin, lane.intervals.front().begin_ns);
    }
    std::vector<Summary> summaries;
    for (const RankLanes& rank : all)
        summaries.push_back(summarise(rank, origin));
    for (int rank = 0; rank < ranks; ++rank) {
        std::printf(
            "  rank %d  %.1f µs plain, %.1f µs built for profiling, %.1f µs in a window (%+.1f %%); dropped %llu\n",
            rank, shared.plain_us[rank], shared.idle_trace_us[rank], shared.traced_us[rank],
            100 * (shared.traced_us[rank] / shared.plain_us[rank] - 1),
            static_cast<unsigned long long>(all[size_t(rank)].dropped));
    }
    TracingCost cost{*std::max_element(shared.plain_us, shared.plain_us + ranks),
                     *std::max_element(shared.traced_us, shared.traced_us + ranks)};
    const std::string json = mergeRankTraces(texts, title, cost);
    std::ofstream(out) << json << '\n';

    const auto& [s0, s1] = std::tie(summaries[0], summaries[1]);
    for (const RankLanes& rank : all) {
        const std::string who = "rank " + std::to_string(rank.rank);
        check(rank.dropped == 0, who + " dropped nothing");
        if (held) {
            check(!rank.has_cupti && !rank.notes.empty() && rank.notes.back().find("holds CUPTI") != std::string::npos,
                  who + " says that another profiler holds CUPTI");
        } else {
            check(rank.has_cupti && summaries[size_t(rank.rank)].device_records > 0, who + " has CUPTI's records");
        }
        if (expect_phases)
            check(!summaries[size_t(rank.rank)].phases.empty(), who + " has phases inside kernels");
    }
    const int64_t common =
        int64_t(std::min(s0.device.end, s1.device.end)) - int64_t(std::max(s0.device.begin, s1.device.begin));
    check(common * 10 > int64_t(s0.device.end - s0.device.begin) * 7, "both ranks' work lies side by side on one axis");
    for (const Summary& s : held ? std::vector<Summary>() : summaries) {
        for (const auto& [name, phases] : s.phases) {
            const auto kernel = s.kernels.find(name);
            check(kernel != s.kernels.end(), "the phases of " + name + " were matched with a kernel");
            if (kernel == s.kernels.end())
                continue;
            const auto before = int64_t(phases.begin - kernel->second.begin);
            const auto after = int64_t(kernel->second.end - phases.end);
            std::printf("  its phases begin %.2f µs after CUPTI's begin and end %.2f µs before its end\n",
                        double(before) * 1e-3, double(after) * 1e-3);
            check(before > -2000 && before < 20000 && after > -2000 && after < 20000, "phases lie inside their kernel");
        }
    }
    const size_t at = json.find("\"axis_error_ns\":");
    check(at != std::string::npos, "the axis error is known");
    if (at != std::string::npos) {
        const double error_us = std::atof(json.c_str() + at + 16) * 1e-3;
        std::printf("  axis error between the ranks, by device barriers: %.3f µs\n", error_us);
        for (size_t i = 0; i < all[0].moments_ns.size() && i < all[1].moments_ns.size(); ++i)
            std::printf("%s%.2f", i ? ", " : "  moments apart, µs: ",
                        double(int64_t(all[1].moments_ns[i] - all[0].moments_ns[i])) * 1e-3);
        std::printf("\n");
        check(error_us < 5, "the axis error is below 5 µs");
    }
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc < 5)
        return 2;
    bool expect_phases = false, hold = false;
    for (int i = 5; i < argc; ++i) {
        expect_phases = expect_phases || std::strcmp(argv[i], "expect-phases") == 0;
        hold = hold || std::strcmp(argv[i], "hold-cupti") == 0;
    }
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 3;
    auto& shared = *new (memory) Shared;
    pid_t children[ranks];
    for (int rank = 0; rank < ranks; ++rank) {
        children[rank] = fork();
        if (children[rank] == 0) {
            runRank(shared, rank, argv[1], argv[2], std::atoll(argv[3]), hold);
            std::exit(0);
        }
    }
    // One rank that dies leaves the other waiting: it is ended too.
    bool failed = false;
    for (int left = ranks; left > 0; --left) {
        int status = 0;
        wait(&status);
        if ((!WIFEXITED(status) || WEXITSTATUS(status) != 0) && !failed) {
            failed = true;
            for (const pid_t child : children)
                kill(child, SIGKILL);
        }
    }
    if (failed)
        return 1;
    report(shared, argv[4], std::string("gemm_allgather ") + argv[3] + ", " + std::to_string(ranks) + " ranks",
           expect_phases, hold);
    return failures == 0 ? 0 : 1;
}
