// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job.h"
#include "wire.h"

namespace cuco_harness {

namespace observer_message {
constexpr char open = 'O', attach = 'A', detach = 'D', prepare = 'P', check = 'C', glance = 'I', guards = 'G',
               look = 'L', rates = 'R', occupy = 'B';
constexpr char done = 'K', failed = 'F';  ///< the two answers
}  // namespace observer_message

/// Answers the supervisor until it goes away.
void serveAsObserver(const Job& job, Channel channel);

}  // namespace cuco_harness
