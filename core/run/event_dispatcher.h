// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/run_event.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace cuco {

/// Calls the observer on a thread of its own, in the order of `post`, so that whoever posts may hold a lock.
class EventDispatcher {
public:
    explicit EventDispatcher(RunObserver observer);
    ~EventDispatcher();  ///< delivers what was posted, then ends

    void post(RunEvent event);
    /// Returns when everything posted before was delivered; at once when called from the observer.
    void flush();

private:
    void deliver();

    RunObserver observer_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<RunEvent> queue_;
    std::uint64_t posted_ = 0, delivered_ = 0;
    bool closing_ = false;
    std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace cuco
