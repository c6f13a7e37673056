// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
//
// Loaded by the CUDA driver through CUDA_INJECTION64_PATH. Records nothing until the process opens a window.
#include "profile.h"

#include "activity_records.h"
#include "launch_watch.h"

#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

namespace cuco_profile {
namespace {

constexpr size_t buffer_bytes = 4u << 20;
constexpr uint32_t flush_period_ms = 200;

// CONCURRENT_KERNEL, never KERNEL, which would run kernels one after the other.
constexpr CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
                                        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,   CUPTI_ACTIVITY_KIND_MARKER};

/// The one profiler of the process. CUPTI's callbacks carry no pointer of ours for buffers, hence the global below;
/// it is never destroyed, because CUPTI's threads outlive static objects.
struct Profiler {
    std::mutex mutex;
    std::string problem = "the profiling library was loaded but not started by the CUDA driver";
    bool window_open = false;
    Records records;
    LaunchWatch launches;
    std::atomic<uint64_t> lost_buffers{0};
};

Profiler& profiler()
{
    static auto* the_one = new Profiler;
    return *the_one;
}

std::string textOf(CUptiResult result)
{
    const char* text = nullptr;
    cuptiGetResultString(result, &text);
    return text ? text : "error " + std::to_string(int(result));
}

void CUPTIAPI giveBuffer(uint8_t** buffer, size_t* bytes, size_t* most_records)
{
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(16, buffer_bytes));
    *bytes = *buffer ? buffer_bytes : 0;
    *most_records = 0;  // as many as fit
    if (!*buffer)
        ++profiler().lost_buffers;
}

void CUPTIAPI takeBuffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t valid)
{
    Profiler& p = profiler();
    {
        const std::lock_guard lock(p.mutex);
        CUpti_Activity* record = nullptr;
        while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
            if (p.window_open)
                p.records.add(record);
        }
        size_t dropped = 0;
        if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && p.window_open)
            p.records.drop(dropped);
    }
    std::free(buffer);
}

void CUPTIAPI onCall(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data)
{
    profiler().launches.onCall(domain, id, static_cast<const CUpti_CallbackData*>(data));
}

/// NVTX hands its ranges to the library that this variable names; a program's first range reads it.
void routeRangesToCupti()
{
    Dl_info library{};
    if (dladdr(reinterpret_cast<void*>(&cuptiActivityEnable), &library) && library.dli_fname)
        setenv("NVTX_INJECTION64_PATH", library.dli_fname, 0);
}

/// The sentence that says what is wrong, or nothing.
std::string start(Profiler& p)
{
    CUptiResult result = p.launches.subscribe(onCall);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return "another profiler (nsys, ncu or a framework's own) holds CUPTI in this process; run without it";
    if (result != CUPTI_SUCCESS)
        return "CUPTI refused a subscriber: " + textOf(result);
    cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    result = cuptiActivityRegisterCallbacks(giveBuffer, takeBuffer);
    if (result != CUPTI_SUCCESS)
        return "CUPTI refused buffers for its records: " + textOf(result);
    routeRangesToCupti();
    return "";
}

std::string setKinds(bool on)
{
    for (const CUpti_ActivityKind kind : kinds) {
        const CUptiResult result = on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind);
        if (on && result != CUPTI_SUCCESS)
            return "CUPTI does not record activity kind " + std::to_string(int(kind)) + ": " + textOf(result);
    }
    return "";
}

/// Says it once where the program's log is, for whoever looks there.
int fail(Profiler& p, std::string why)
{
    std::fprintf(stderr, "cuco profile: %s\n", why.c_str());
    p.problem = std::move(why);
    return -1;
}

void flushAtExit()
{
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

}  // namespace
}  // namespace cuco_profile

using namespace cuco_profile;

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void)
{
    Profiler& p = profiler();
    const std::lock_guard lock(p.mutex);
    p.problem = start(p);
    if (!p.problem.empty())
        fail(p, p.problem);
    else
        std::atexit(flushAtExit);
    return 1;  // the program runs on, whether it is recorded or not
}

extern "C" __attribute__((visibility("default"))) const char* cuco_profile_problem(void)
{
    return profiler().problem.c_str();
}

extern "C" __attribute__((visibility("default"))) int cuco_profile_begin(void)
{
    Profiler& p = profiler();
    if (!p.problem.empty() || p.window_open)
        return -1;
    // What is still in CUPTI's buffers belongs to no window; no lock is held, because buffers come back meanwhile.
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (std::string why = setKinds(true); !why.empty()) {
        setKinds(false);
        return fail(p, std::move(why));
    }
    cuptiActivityFlushPeriod(flush_period_ms);
    uint64_t now = 0;
    cuptiGetTimestamp(&now);
    const std::lock_guard lock(p.mutex);
    p.records.begin(now);
    p.lost_buffers = 0;
    p.window_open = true;
    p.launches.begin();
    return 0;
}

extern "C" __attribute__((visibility("default"))) int cuco_profile_end(cuco_profile_window* window)
{
    Profiler& p = profiler();
    if (!p.window_open)
        return -1;
    uint64_t now = 0;
    cuptiGetTimestamp(&now);
    p.launches.end();
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    cuptiActivityFlushPeriod(0);
    setKinds(false);
    const std::lock_guard lock(p.mutex);
    p.window_open = false;
    p.records.drop(p.lost_buffers);
    p.records.finish(now, p.launches);
    *window = p.records.window();
    return 0;
}
