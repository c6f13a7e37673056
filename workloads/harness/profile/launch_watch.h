// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace cuco_profile {

/// A call that put work on the device.
struct Call {
    uint64_t time_ns = 0;
    uint32_t thread = 0;
    bool to_peer = false;  ///< a copy between memory of two GPUs
};

/// Sees launches and copies as they are called, for what CUPTI's records do not tell: the NVTX range around a launch,
/// and where a copy's two ends lie. A peer's memory that is mapped into this process, as NCCL's windows are, makes
/// CUPTI speak of a copy within the device.
class LaunchWatch {
public:
    CUptiResult subscribe(CUpti_CallbackFunc callback);
    void begin();
    void end();
    /// Of the last window; null when no such call was seen.
    const Call* find(uint32_t correlation) const;

    void onCall(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData* data);

private:
    void enable(bool on);

    CUpti_SubscriberHandle subscriber_ = nullptr;
    std::mutex mutex_;
    std::unordered_map<uint32_t, Call> calls_;
};

}  // namespace cuco_profile
