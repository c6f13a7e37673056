// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace cuco_harness {

/// What a process reported, without the line that ends a report, and how it ended.
struct Reported {
    std::string text;
    bool complete = false;  ///< the end of the report was there
    int status = 0;         ///< as waitpid gives it
};

/// Does body(i, descriptor of its report) for i = 0 … count - 1, each in a process of its own, as many at a time as
/// there are processors, in order of i. After one that did not end its report, or told of a failure in it, no other
/// begins. What those that began have to say, in order.
std::vector<Reported> inProcesses(size_t count, const std::function<void(size_t, int)>& body);

}  // namespace cuco_harness
