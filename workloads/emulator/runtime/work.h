// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/events.h"

#include <array>
#include <cstdint>
#include <vector>

namespace cuco_emu {

/// A resource that serves one request after another.
struct Server {
    Time next_free = 0;

    Time reserve(Time start, Time duration)
    {
        next_free = (start > next_free ? start : next_free) + duration;
        return next_free;
    }
};

/// An amount of work that needs several servers at the same time, taken in quanta so that others get their
/// turns between. `floor` is how long it lasts on otherwise idle servers; `latency` comes once, at the end.
class Work {
public:
    void clear();
    void need(Server& server, Time duration);
    void at_least(Time duration) { floor_ = duration > floor_ ? duration : floor_; }
    void add_latency(Time duration) { latency_ += duration; }
    bool empty() const { return needs_.empty() && floor_ == 0 && latency_ == 0; }
    /// Calls action(object) when all is served. One at a time.
    void start(Time begin, Action action, void* object);

private:
    struct Need {
        Server* server;
        Time left;
    };
    static void step(void* self);

    std::vector<Need> needs_;
    Time floor_ = 0, latency_ = 0, begin_ = 0;
    std::int64_t steps_left_ = 0;
    Action action_ = nullptr;
    void* object_ = nullptr;
};

}  // namespace cuco_emu
