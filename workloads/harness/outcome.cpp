// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "outcome.h"

namespace cuco_harness {

Failure environmentFailure(const std::string& message)
{
    Failure failure;
    failure.kind = "environment";
    failure.message = message;
    return failure;
}

Failure guardFailure(const std::string& place, int rank, int64_t changed, int64_t first, size_t zone_bytes)
{
    Failure failure;
    failure.kind = "out_of_bounds";
    failure.rank = rank;
    failure.message = "Something was written " + place + " of rank " + std::to_string(rank) + ": " +
                      std::to_string(changed) + " bytes of the guard zone have changed.";
    failure.detail =
        "The first is byte " + std::to_string(first) + " of the zone's " + std::to_string(zone_bytes) + ".";
    return failure;
}

}  // namespace cuco_harness
