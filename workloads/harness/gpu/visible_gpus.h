// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cuco_harness {

/// Leaves CUDA the first `count` of the GPUs that it sees now, in this process and those that it starts: each one more
/// makes it start later, and memory that peers may reach is mapped on every one. Call it before CUDA is used.
void seeOnlyGpus(int count);

}  // namespace cuco_harness
