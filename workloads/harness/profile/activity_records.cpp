// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "activity_records.h"

#include <algorithm>
#include <string_view>

namespace cuco_profile {
namespace {

constexpr size_t most_records = 2'000'000;
constexpr std::string_view communication_range = "cuco:communication";

// The newest layouts that the header has; CUPTI writes those of the version that this was built against.
#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
using Copy = CUpti_ActivityMemcpy6;
using Synchronization = CUpti_ActivitySynchronization2;
#else
using Kernel = CUpti_ActivityKernel9;
using Copy = CUpti_ActivityMemcpy5;
using Synchronization = CUpti_ActivitySynchronization;
#endif
using PeerCopy = CUpti_ActivityMemcpyPtoP4;
using Set = CUpti_ActivityMemset4;

const char* copyName(uint8_t kind)
{
    switch (kind) {
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
            return "copy host to device";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
            return "copy device to host";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
            return "copy device to device";
        case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
            return "copy to a peer";
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
            return "copy host to host";
        default:
            return "copy";
    }
}

const char* synchronizationName(CUpti_ActivitySynchronizationType type)
{
    switch (type) {
        case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
            return "wait for an event";
        case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
            return "wait for a stream";
        case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
            return "wait for the device";
        default:
            return nullptr;  // a stream that is told to wait: the host goes on
    }
}

template <class Record>
cuco_profile_record timed(const Record& record, cuco_profile_kind kind)
{
    cuco_profile_record result{};
    result.begin_ns = record.start;
    result.end_ns = record.end;
    result.kind = kind;
    result.stream = record.streamId;
    result.correlation = record.correlationId;
    return result;
}

template <class Record>
cuco_profile_record moved(const Record& record, cuco_profile_kind kind)
{
    cuco_profile_record result = timed(record, kind);
    result.bytes = record.bytes;
    result.device = record.deviceId;
    result.channel = record.channelID;
    if (record.channelType == CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY)
        result.flags |= cuco_profile_copy_engine;
    if (record.graphId != 0)
        result.flags |= cuco_profile_graph;
    return result;
}

}  // namespace

void Records::begin(uint64_t now_ns)
{
    begin_ns_ = now_ns;
    dropped_ = 0;
    records_.clear();
    names_.clear();
    open_ranges_.clear();
    communication_.clear();
}

const char* Records::keep(const char* name)
{
    return names_.emplace(name ? name : "").first->c_str();
}

void Records::push(cuco_profile_record record)
{
    if (records_.size() >= most_records)
        ++dropped_;
    else
        records_.push_back(record);
}

void Records::addMarker(const CUpti_ActivityMarker2& marker)
{
    if (marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) {
        open_ranges_[marker.id] = {marker.timestamp, marker.objectId.pt.threadId, keep(marker.name)};
        return;
    }
    const auto range = open_ranges_.find(marker.id);
    if (!(marker.flags & CUPTI_ACTIVITY_FLAG_MARKER_END) || range == open_ranges_.end())
        return;
    if (range->second.name == communication_range)
        communication_.push_back({range->second.begin_ns, marker.timestamp, range->second.thread});
    cuco_profile_record record{};
    record.kind = cuco_profile_range;
    record.begin_ns = range->second.begin_ns;
    record.end_ns = marker.timestamp;
    record.stream = range->second.thread;
    record.name = range->second.name;
    open_ranges_.erase(range);
    push(record);
}

void Records::add(const CUpti_Activity* activity)
{
    switch (activity->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
            const auto& kernel = *reinterpret_cast<const Kernel*>(activity);
            cuco_profile_record record = timed(kernel, cuco_profile_kernel);
            record.device = kernel.deviceId;
            record.name = keep(kernel.name);
            if (kernel.graphId != 0)
                record.flags |= cuco_profile_graph;
            return push(record);
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            const auto& copy = *reinterpret_cast<const Copy*>(activity);
            cuco_profile_record record = moved(copy, cuco_profile_copy);
            record.name = copyName(copy.copyKind);
            if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
                record.flags |= cuco_profile_peer | cuco_profile_on_device;
            if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
                record.flags |= cuco_profile_on_device;
            return push(record);
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY2: {
            const auto& copy = *reinterpret_cast<const PeerCopy*>(activity);
            cuco_profile_record record = moved(copy, cuco_profile_copy);
            record.name = copyName(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
            record.flags |= cuco_profile_peer | cuco_profile_on_device;
            return push(record);
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            cuco_profile_record record = moved(*reinterpret_cast<const Set*>(activity), cuco_profile_set);
            record.name = "fill";
            return push(record);
        }
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
            const auto& wait = *reinterpret_cast<const Synchronization*>(activity);
            cuco_profile_record record = timed(wait, cuco_profile_sync);
            record.name = synchronizationName(wait.type);
            return record.name ? push(record) : void();
        }
        case CUPTI_ACTIVITY_KIND_MARKER:
            return addMarker(*reinterpret_cast<const CUpti_ActivityMarker2*>(activity));
        default:
            return;
    }
}

bool Records::isMarked(const Call& call) const
{
    return std::any_of(communication_.begin(), communication_.end(), [&](const Stretch& stretch) {
        return stretch.thread == call.thread && stretch.begin_ns <= call.time_ns && call.time_ns <= stretch.end_ns;
    });
}

void Records::finish(uint64_t now_ns, const LaunchWatch& launches)
{
    const auto outside = [&](const cuco_profile_record& record) {
        return record.begin_ns == 0 || record.end_ns < record.begin_ns || record.begin_ns < begin_ns_ ||
               record.begin_ns > now_ns;
    };
    records_.erase(std::remove_if(records_.begin(), records_.end(), outside), records_.end());
    for (cuco_profile_record& record : records_) {
        const Call* call = launches.find(record.correlation);
        if (!call || record.kind == cuco_profile_sync || record.kind == cuco_profile_range)
            continue;
        if (isMarked(*call))
            record.flags |= cuco_profile_marked;
        if (call->to_peer && record.kind == cuco_profile_copy && !(record.flags & cuco_profile_peer)) {
            record.flags |= cuco_profile_peer;
            record.name = copyName(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
        }
    }
    std::stable_sort(records_.begin(), records_.end(), [](const cuco_profile_record& a, const cuco_profile_record& b) {
        return a.begin_ns < b.begin_ns;
    });
}

}  // namespace cuco_profile
