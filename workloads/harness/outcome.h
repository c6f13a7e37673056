// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report.h"

#include <optional>
#include <string>

namespace cuco_harness {

/// Nothing when it went well.
using Outcome = std::optional<Failure>;

/// A failure of the node or the harness itself, not of the candidate.
Failure environmentFailure(const std::string& message);

/// Bytes of the pattern around a rank's buffers have changed.
Failure guardFailure(const std::string& place, int rank, int64_t changed, int64_t first, size_t zone_bytes);

}  // namespace cuco_harness

/// Returns a failed outcome from the calling function.
#define CUCO_CHECK(outcome)                        \
    do {                                           \
        if (auto cuco_checked_outcome = (outcome)) \
            return cuco_checked_outcome;           \
    } while (0)
