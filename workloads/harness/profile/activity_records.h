// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch_watch.h"
#include "profile.h"

#include <cupti.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cuco_profile {

/// CUPTI's records of one window, as cuco_profile_record. Not for two threads at once.
class Records {
public:
    void begin(uint64_t now_ns);
    void add(const CUpti_Activity* record);
    void drop(uint64_t records) { dropped_ += records; }
    /// Cuts to the window, applies what was seen of the calls, sorts.
    void finish(uint64_t now_ns, const LaunchWatch& launches);
    cuco_profile_window window() const { return {records_.data(), records_.size(), dropped_}; }

private:
    struct OpenRange {
        uint64_t begin_ns;
        uint32_t thread;
        const char* name;
    };

    void push(cuco_profile_record record);
    void addMarker(const CUpti_ActivityMarker2& marker);
    const char* keep(const char* name);
    bool isMarked(const Call& call) const;

    uint64_t begin_ns_ = 0, dropped_ = 0;
    std::vector<cuco_profile_record> records_;
    std::unordered_set<std::string> names_;
    std::unordered_map<uint32_t, OpenRange> open_ranges_;  ///< by marker
    struct Stretch {
        uint64_t begin_ns, end_ns;
        uint32_t thread;
    };
    std::vector<Stretch> communication_;
};

}  // namespace cuco_profile
