// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/model.h"

#include <cstdint>
#include <functional>

namespace cuco_emu {

/// The event queue. Events at the same time happen in the order in which they were added, so a run depends on
/// nothing but the program.
using Action = void (*)(void* object);

Time now();
void at(Time when, Action action, void* object);
void at(Time when, std::function<void()> action);

/// Runs events until `finished` says so. When no event is left before that, asks `idle` for more work and
/// goes on while it returns true; false from this function means that nothing can happen any more.
bool run_events(const std::function<bool()>& finished, const std::function<bool()>& idle);

/// Stack pointer of the flow that runs the events, to which every fiber returns.
extern void* scheduler_stack;

}  // namespace cuco_emu
