// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "element_type.h"

#include <vector>

namespace cuco_harness {

/// How an output differs from the oracle's.
struct Comparison {
    double relative_l2 = 0;  ///< ‖out − ref‖ / ‖ref‖
    double max_error = 0;    ///< the largest |out − ref| over max(|ref|, rms of all ref)
    int64_t elements = 0, wrong_elements = 0;
    int64_t element = -1;  ///< the first wrong one; the worst one when only the l2 norm is out of bounds
    double expected = 0, got = 0;

    bool right(double l2_bound, double max_bound) const;
};

double elementAt(const char* bytes, ElementType type, int64_t index);

/// `bytes` holds reference.size() elements of `type`. An element is wrong when its error is above `max_bound` times
/// the reference's root mean square or, where that is more, its own reference: roundings grow with what they round, and
/// outputs with long tails have elements of many times the mean. What is no number is wrong.
Comparison compare(const std::vector<char>& bytes, ElementType type, const std::vector<float>& reference,
                   double l2_bound, double max_bound);

}  // namespace cuco_harness
