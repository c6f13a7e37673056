// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cuco_harness {

/// `harness ranks FIRST_RANK ALL_RANKS FIRST_DEVICE DEVICES PAGE LAUNCHER SOCKET…`: this host's share, and the
/// descriptors of the timing page, of the launcher's own socket and of one socket a rank. Starts a process a rank and
/// waits for them all; tells the supervisor how each ended.
int launchRanks(const std::vector<std::string>& arguments);

}  // namespace cuco_harness
