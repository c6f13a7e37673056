// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#ifndef CUCO_EMULATED
#include "rank_trace.h"

#include "device_trace_layout.h"
#include "rank_trace_axis.h"
#include "rank_trace_lanes.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace cuco_harness {
namespace {

constexpr int anchors = 8;
constexpr int barrier_moments = 16;
// The first barrier also waits for the ranks' launches and for code to arrive.
constexpr int settling_moments = 4;
constexpr size_t most_chunks = 1u << 20;

uint64_t realtimeNs()
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return uint64_t(now.tv_sec) * 1'000'000'000u + uint64_t(now.tv_nsec);
}

/// The functions of profile/profile.h in the library that the CUDA driver has loaded, or why there are none.
struct Profile {
    int (*begin)() = nullptr;
    int (*end)(cuco_profile_window*) = nullptr;
    const char* (*problem)() = nullptr;
    std::string missing;

    void find()
    {
        const char* path = std::getenv("CUDA_INJECTION64_PATH");
        if (!path || !*path) {
            missing = "CUPTI's records are missing: CUDA_INJECTION64_PATH does not name libcuco_profile.so";
            return;
        }
        // Only what the driver loaded counts; its functions are not in the global scope.
        void* library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
        if (!library) {
            missing = std::string("CUPTI's records are missing: the CUDA driver could not load ") + path;
            return;
        }
        begin = reinterpret_cast<decltype(begin)>(dlsym(library, "cuco_profile_begin"));
        end = reinterpret_cast<decltype(end)>(dlsym(library, "cuco_profile_end"));
        problem = reinterpret_cast<decltype(problem)>(dlsym(library, "cuco_profile_problem"));
        if (!begin || !end || !problem) {
            begin = nullptr;
            missing = std::string("CUPTI's records are missing: another profiler is injected, ") + path;
        }
    }

    bool open()
    {
        if (begin && begin() == 0)
            return true;
        if (begin)
            missing = std::string("CUPTI's records are missing: ") + problem();
        return false;
    }
};

/// How far the records' clock is ahead of %globaltimer, from kernels that read the one and whose bounds are known by
/// the other: each narrows what is possible.
class ClockOffset {
public:
    void narrow(uint64_t begin_ns, uint64_t end_ns, const AxisStamps& stamps)
    {
        const auto low = int64_t(begin_ns - stamps.first), high = int64_t(end_ns - stamps.last);
        low_ = known_ ? std::max(low_, low) : low;
        high_ = known_ ? std::min(high_, high) : high;
        known_ = true;
    }
    bool known() const { return known_; }
    uint64_t map(uint64_t globaltimer) const { return globaltimer + uint64_t(low_ + (high_ - low_) / 2); }

private:
    bool known_ = false;
    int64_t low_ = 0, high_ = 0;
};

std::vector<cuco_profile_record> take(const cuco_profile_window& window)
{
    return {window.records, window.records + window.count};
}

bool isCalled(const cuco_profile_record& record, const char* kernel)
{
    return record.kind == cuco_profile_kernel && std::strcmp(record.name, kernel) == 0;
}

}  // namespace

struct RankTrace::State {
    Profile profile;
    bool searched = false, window_open = false;
    cuco_device_trace_info device{};
    bool has_device_trace = false;
    std::vector<uint64_t> moments_ns;
    std::vector<std::string> notes, axis_notes;
    uint64_t dropped = 0;
    uint64_t begin_ns = 0;  ///< of what is wanted of the window

    void warmUp()
    {
        AxisStamps ignored;
        stampAnchor(ignored);
        // The driver loads the library when CUDA starts, which is by now.
        if (!searched)
            profile.find();
        searched = true;
    }

    /// Runs anchors and ends the window. What they leave in it is not part of `records`.
    ClockOffset closeWindow(std::vector<cuco_profile_record>& records)
    {
        const uint64_t end = realtimeNs();
        ClockOffset by_host, by_cupti;
        std::vector<AxisStamps> stamps;
        for (int i = 0; i < anchors; ++i) {
            AxisStamps anchor;
            const uint64_t before = realtimeNs();
            if (!stampAnchor(anchor))
                break;
            by_host.narrow(before, realtimeNs(), anchor);
            stamps.push_back(anchor);
        }
        cuco_profile_window window{};
        if (window_open && profile.end(&window) == 0) {
            dropped += window.dropped;
            records = take(window);
            size_t next = 0;
            for (const auto& record : records) {
                if (isCalled(record, axis_anchor_kernel) && record.begin_ns >= end && next < stamps.size())
                    by_cupti.narrow(record.begin_ns, record.end_ns, stamps[next++]);
            }
            if (next != stamps.size())
                by_cupti = {};
            records.erase(std::remove_if(records.begin(), records.end(),
                                         [&](const cuco_profile_record& record) {
                                             return record.begin_ns < begin_ns || record.begin_ns >= end;
                                         }),
                          records.end());
        }
        window_open = false;
        return by_cupti.known() ? by_cupti : by_host;
    }

    std::vector<PhaseRecord> readPhases(const ClockOffset& offset)
    {
        cuco_trace_head head{};
        if (cudaMemcpy(&head, device.head, sizeof head, cudaMemcpyDeviceToHost) != cudaSuccess) {
            cudaGetLastError();
            notes.push_back("the phases inside kernels could not be read");
            return {};
        }
        const size_t claimed = std::min<size_t>(head.claimed, device.chunk_count);
        dropped += head.dropped;
        std::vector<cuco_trace_chunk> chunks(claimed);
        if (claimed > 0 && cudaMemcpy(chunks.data(), device.chunks, claimed * sizeof chunks[0],
                                      cudaMemcpyDeviceToHost) != cudaSuccess) {
            cudaGetLastError();
            notes.push_back("the phases inside kernels could not be read");
            return {};
        }
        std::vector<PhaseRecord> phases;
        for (const cuco_trace_chunk& chunk : chunks) {
            for (const cuco_trace_record& record : chunk.records) {
                if (record.begin == 0 || record.phase < cuco_phase_compute || record.phase > cuco_phase_copy)
                    continue;
                const uint64_t begin = offset.map(record.begin);
                phases.push_back({begin, begin + record.duration_ns, record.phase, chunk.sm, chunk.grid});
            }
        }
        return phases;
    }
};

RankTrace::RankTrace() : state_(std::make_unique<State>()) {}
RankTrace::~RankTrace() = default;

void RankTrace::useCandidate(void* object)
{
    State& s = *state_;
    s.has_device_trace = false;
    const auto describe =
        object ? reinterpret_cast<cuco_device_trace_function>(dlsym(object, CUCO_DEVICE_TRACE_SYMBOL)) : nullptr;
    if (!describe)
        return;
    cuco_device_trace_info info{};
    s.has_device_trace = describe(&info) == 0 && info.version == CUCO_DEVICE_TRACE_VERSION && info.head &&
                         info.chunks && info.chunk_count <= most_chunks;
    s.device = info;
}

void RankTrace::measureAxis(ncclComm* comm)
{
    State& s = *state_;
    s.warmUp();
    s.moments_ns.clear();
    s.axis_notes.clear();
    s.begin_ns = 0;
    s.window_open = s.profile.open();
    AxisStamps stamps;
    std::string why;
    const bool stamped = stampBarriers(comm, barrier_moments, stamps, why);
    std::vector<cuco_profile_record> records;
    const uint64_t dropped = s.dropped;
    const ClockOffset offset = s.closeWindow(records);
    s.dropped = dropped;
    if (!stamped || !offset.known()) {
        s.axis_notes.push_back("the error between the ranks' axes is not known: " +
                               (stamped ? std::string("the GPU's clock could not be read") : why));
        return;
    }
    for (size_t i = settling_moments; i < stamps.moments.size(); ++i)
        s.moments_ns.push_back(offset.map(stamps.moments[i]));
    // CUPTI's own end of that kernel is such a moment too.
    for (const auto& record : records) {
        if (isCalled(record, axis_barrier_kernel))
            s.moments_ns.push_back(record.end_ns);
    }
}

void RankTrace::begin()
{
    State& s = *state_;
    s.warmUp();
    s.notes.clear();
    s.dropped = 0;
    if (s.has_device_trace &&
        (cudaMemset(s.device.head, 0, sizeof(cuco_trace_head)) != cudaSuccess ||
         cudaMemset(s.device.chunks, 0, s.device.chunk_count * sizeof(cuco_trace_chunk)) != cudaSuccess)) {
        cudaGetLastError();
        s.has_device_trace = false;
        s.notes.push_back("the candidate's device trace is no memory of this GPU");
    }
    cudaDeviceSynchronize();
    s.window_open = s.profile.open();
    // CUPTI prepares its buffers at a window's first launch, which shall not be the candidate's.
    s.warmUp();
    s.begin_ns = realtimeNs();
}

void RankTrace::markStart()
{
    state_->begin_ns = realtimeNs();
}

std::string RankTrace::end(int rank)
{
    State& s = *state_;
    RankLanes lanes;
    lanes.rank = rank;
    lanes.has_cupti = s.window_open;
    std::vector<cuco_profile_record> records;
    const ClockOffset offset = s.closeWindow(records);
    std::vector<PhaseRecord> phases;
    if (s.has_device_trace && offset.known())
        phases = s.readPhases(offset);
    lanes.lanes = lanesOf(records, phases);
    lanes.dropped = s.dropped;
    lanes.start_ns = s.begin_ns;
    lanes.moments_ns = s.moments_ns;
    lanes.notes = s.notes;
    lanes.notes.insert(lanes.notes.end(), s.axis_notes.begin(), s.axis_notes.end());
    if (!lanes.has_cupti)
        lanes.notes.push_back(s.profile.missing);
    if (lanes.dropped > 0)
        lanes.notes.push_back(std::to_string(lanes.dropped) + " records were dropped");
    return toText(lanes);
}

}  // namespace cuco_harness
#endif
