// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace cuco_harness {

/// In a process that is about to become another program: all but the standard ones and these.
void closeDescriptors(const std::vector<int>& kept = {});

}  // namespace cuco_harness
