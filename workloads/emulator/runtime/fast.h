// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Loops over numbers that are worth vectors as wide as the processor has.
#if defined(__x86_64__)
#define CUCO_EMU_FAST __attribute__((optimize("O3"), target_clones("arch=haswell", "default")))
#else
#define CUCO_EMU_FAST __attribute__((optimize("O3")))
#endif
