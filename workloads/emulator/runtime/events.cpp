// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/events.h"

#include <queue>
#include <vector>

namespace cuco_emu {

void* scheduler_stack = nullptr;

namespace {

struct DueAction {
    Time when;
    std::uint64_t order;
    Action action;
    void* object;
    bool operator>(const DueAction& other) const
    {
        return when != other.when ? when > other.when : order > other.order;
    }
};

std::priority_queue<DueAction, std::vector<DueAction>, std::greater<>> queue;
std::uint64_t next_order = 0;
Time current = 0;

}  // namespace

Time now()
{
    return current;
}

void at(Time when, Action action, void* object)
{
    queue.push({when < current ? current : when, next_order++, action, object});
}

void at(Time when, std::function<void()> action)
{
    const Action call = [](void* object) {
        auto* function = static_cast<std::function<void()>*>(object);
        (*function)();
        delete function;
    };
    at(when, call, new std::function<void()>(std::move(action)));
}

bool run_events(const std::function<bool()>& finished, const std::function<bool()>& idle)
{
    while (!finished()) {
        if (queue.empty()) {
            if (!idle())
                return false;
            continue;
        }
        const DueAction event = queue.top();
        queue.pop();
        current = event.when;
        event.action(event.object);
    }
    return true;
}

}  // namespace cuco_emu
