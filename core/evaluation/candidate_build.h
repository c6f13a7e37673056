// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluation.h"
#include "core/nodes/node.h"
#include "core/nodes/toolchain.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace cuco {

/// Builds a candidate in a job folder of its own. Sets the evaluation's stage and, when it does not build or what was
/// built is not what it claims to be, its verdict. `backend`: of the directive; empty for what has none, which is not
/// looked into.
Result<std::shared_ptr<JobFolder>> compileCandidate(Node& node, Toolchain& toolchain, const std::string& source,
                                                    std::string_view backend, Evaluation& evaluation,
                                                    std::stop_token stop);

/// Builds a candidate for the profiler, beside the build of the candidate itself, until it is over or stopped or this
/// object ends.
class ProfiledBuild {
public:
    ProfiledBuild(Node& node, Toolchain& toolchain, std::string source, std::stop_token stop);

    static constexpr const char* file_name = "profiled.so";
    /// Waits for it, and puts what was built into a job's folder. Errors: why there is no profile.
    Result<void> putInto(const JobFolder& job);

private:
    Result<void> build(std::stop_token stop);

    Node& node_;
    Toolchain& toolchain_;
    const std::string source_;
    std::shared_ptr<JobFolder> folder_;  ///< of its own: two compilers cannot share one
    Result<void> built_;
    std::stop_source stop_source_;
    std::stop_callback<std::function<void()>> stopped_with_;
    std::jthread thread_;  ///< last: it uses the rest
};

}  // namespace cuco
