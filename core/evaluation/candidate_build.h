// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/evaluation/evaluation.h"
#include "core/nodes/node.h"
#include "core/nodes/toolchain.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace cuco {

/// Builds a candidate in a job folder of its own. Sets the evaluation's stage and, when it does not build or what was
/// built is not what it claims to be, its verdict. `backend`: of the directive; empty for what has none, which is not
/// looked into.
Result<std::shared_ptr<JobFolder>> compileCandidate(Node& node, Toolchain& toolchain, const std::string& source,
                                                    std::string_view backend, Evaluation& evaluation,
                                                    std::stop_token stop);

}  // namespace cuco
