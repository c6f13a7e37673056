// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cuco_harness {

/// The path of the program that runs.
std::string ownProgram();

}  // namespace cuco_harness
