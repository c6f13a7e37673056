// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/machine.h"

#include <string>

namespace cuco_emu {

/// In words, for a thread that waits in an LSA barrier, and for a collective's kernel.
std::string describe_lsa_wait(const Thread& thread);
std::string describe_collective_wait(const Kernel& kernel);

}  // namespace cuco_emu
