// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/work.h"

#include "runtime/machine.h"

#include <algorithm>

namespace cuco_emu {

void Work::clear()
{
    needs_.clear();
    floor_ = latency_ = 0;
}

void Work::need(Server& server, Time duration)
{
    if (duration > 0)
        needs_.push_back({&server, duration});
}

void Work::start(Time begin, Action action, void* object)
{
    Time longest = floor_;
    for (const auto& need : needs_)
        longest = std::max(longest, need.left);
    const Time quantum = from_us(machine().model.quantum_us);
    steps_left_ = std::max<std::int64_t>(1, (longest + quantum - 1) / quantum);
    action_ = action;
    object_ = object;
    begin_ = begin;
    if (begin > now())
        at(begin, step, this);
    else
        step(this);
}

void Work::step(void* self)
{
    auto& work = *static_cast<Work*>(self);
    const Time begin = now();
    const Time floor = work.floor_ / work.steps_left_;
    work.floor_ -= floor;
    Time end = begin + floor;
    for (auto& need : work.needs_) {
        const Time part = need.left / work.steps_left_;
        need.left -= part;
        end = std::max(end, need.server->reserve(begin, part));
    }
    if (--work.steps_left_ > 0) {
        at(end, step, self);
        return;
    }
    end += work.latency_;
    work.clear();
    at(end, work.action_, work.object_);
}

}  // namespace cuco_emu
