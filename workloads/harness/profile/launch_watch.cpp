// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "launch_watch.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cuco_profile {
namespace {

constexpr size_t most_calls = 2'000'000;

// The driver's calls: the runtime's end there.
constexpr CUpti_CallbackId launches[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
                                         CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
                                         CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz};
constexpr CUpti_CallbackId copies[] = {
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz};

/// The two ends of a copy; false for another call.
bool endsOf(CUpti_CallbackId id, const void* parameters, CUdeviceptr& to, CUdeviceptr& from)
{
    switch (id) {
        case CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync:
        case CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz: {
            const auto& copy = *static_cast<const cuMemcpyAsync_params*>(parameters);
            to = copy.dst;
            from = copy.src;
            return true;
        }
        case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2:
        case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz: {
            const auto& copy = *static_cast<const cuMemcpyDtoDAsync_v2_params*>(parameters);
            to = copy.dstDevice;
            from = copy.srcDevice;
            return true;
        }
        default:
            return false;
    }
}

using PointerAttribute = CUresult (*)(void*, CUpointer_attribute, CUdeviceptr);

/// The GPU whose memory it is, or -1. The driver that is loaded answers; this library does not link it.
int deviceOf(CUdeviceptr pointer)
{
    static const auto attribute = [] {
        void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        return reinterpret_cast<PointerAttribute>(driver ? dlsym(driver, "cuPointerGetAttribute") : nullptr);
    }();
    CUmemorytype type{};
    int device = -1;
    if (!attribute || attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) != CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_DEVICE ||
        attribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer) != CUDA_SUCCESS)
        return -1;
    return device;
}

}  // namespace

CUptiResult LaunchWatch::subscribe(CUpti_CallbackFunc callback)
{
    return cuptiSubscribe(&subscriber_, callback, nullptr);
}

void LaunchWatch::enable(bool on)
{
    for (const CUpti_CallbackId id : launches)
        cuptiEnableCallback(on, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
    for (const CUpti_CallbackId id : copies)
        cuptiEnableCallback(on, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
}

void LaunchWatch::begin()
{
    {
        const std::lock_guard lock(mutex_);
        calls_.clear();
    }
    enable(true);
}

void LaunchWatch::end()
{
    enable(false);
}

const Call* LaunchWatch::find(uint32_t correlation) const
{
    const auto found = calls_.find(correlation);
    return found == calls_.end() ? nullptr : &found->second;
}

void LaunchWatch::onCall(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData* data)
{
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || data->callbackSite != CUPTI_API_ENTER)
        return;
    Call call;
    cuptiGetTimestamp(&call.time_ns);
    call.thread = uint32_t(syscall(SYS_gettid));
    CUdeviceptr to = 0, from = 0;
    if (endsOf(id, data->functionParams, to, from)) {
        const int target = deviceOf(to), source = deviceOf(from);
        call.to_peer = target >= 0 && source >= 0 && target != source;
    }
    const std::lock_guard lock(mutex_);
    if (calls_.size() < most_calls)
        calls_[data->correlationId] = call;
}

}  // namespace cuco_profile
