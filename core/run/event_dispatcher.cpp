// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/event_dispatcher.h"

#include <utility>

namespace cuco {

EventDispatcher::EventDispatcher(RunObserver observer) : observer_(std::move(observer)), thread_([this] { deliver(); })
{
}

EventDispatcher::~EventDispatcher()
{
    {
        const std::scoped_lock guard(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void EventDispatcher::post(RunEvent event)
{
    {
        const std::scoped_lock guard(mutex_);
        queue_.push_back(std::move(event));
        ++posted_;
    }
    changed_.notify_all();
}

void EventDispatcher::flush()
{
    if (std::this_thread::get_id() == thread_.get_id())
        return;
    std::unique_lock lock(mutex_);
    const std::uint64_t until = posted_;
    changed_.wait(lock, [&] { return delivered_ >= until; });
}

void EventDispatcher::deliver()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return closing_ || !queue_.empty(); });
        if (queue_.empty())
            return;
        const RunEvent event = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        if (observer_)
            observer_(event);
        lock.lock();
        ++delivered_;
        changed_.notify_all();
    }
}

}  // namespace cuco
