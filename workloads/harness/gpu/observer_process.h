// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/host_share.h"
#include "job.h"
#include "wire.h"

namespace cuco_harness {

namespace observer_message {
constexpr char open = 'O', attach = 'A', detach = 'D', prepare = 'P', check = 'C', glance = 'I', guards = 'G',
               look = 'L', rates = 'R', occupy = 'B';
constexpr size_t regions_of_rank = 3;     ///< that `attach` brings: outputs, inputs, snapshot
constexpr char done = 'K', failed = 'F';  ///< the two answers
}  // namespace observer_message

/// Answers the supervisor until it goes away. Of what it is asked it does what concerns this host's ranks.
void serveAsObserver(const Job& job, const HostShare& share, Channel channel);

/// Which team a message about memory is of.
int teamOfAttach(const std::string& bytes);

}  // namespace cuco_harness
