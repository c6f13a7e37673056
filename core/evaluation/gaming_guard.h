// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/design/directive.h"
#include "core/evaluation/evaluation.h"
#include "core/source/kernel_source.h"

#include <optional>
#include <string_view>

namespace cuco {

/// Something that no honest candidate does.
struct GamingFault {
    Verdict verdict = Verdict::tampering;
    SourceFault fault;
};

/// Looks for it in the evolve blocks: macros that change frozen code, calls that reach around the contract, host
/// collectives against the directive. Reads tokens, so comments and literals say nothing. Only the first net: what is
/// hidden from it is caught by what it does.
std::optional<GamingFault> findGaming(const KernelSource& source, const Directive& directive);

/// NCCL's collectives and point-to-point operations that the host starts.
bool isHostCollective(std::string_view name);

}  // namespace cuco
