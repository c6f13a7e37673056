// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/kernel_source.h"

#include <cstdint>
#include <vector>

namespace cuco {

/// A hash for each token of the evolve blocks, in order, that stays when only comments, white space, digit separators
/// or names change that the blocks themselves declare. Such a name becomes what it is declared as and the how-manieth
/// of its kind; a declaration of the same name again (another loop's `i`) begins a new one. All else is kept as
/// written: numbers, literals, operators, keywords, directives (#pragma unroll too), and every name that is not
/// declared in the blocks: types, built-ins, macros and functions of CUDA, NCCL and the frozen code.
///
/// What is a declaration is seen by its tokens alone (a type before the name; =, ;, comma, bracket or brace after it).
/// Where that fails a name is kept as written, so that a rename may pass for news but hardly news for a rename.
std::vector<std::uint64_t> normalisedTokens(const KernelSource& source);

/// FNV-1a, then mixed; the same on every machine.
std::uint64_t hashText(std::string_view text);
std::uint64_t mixHash(std::uint64_t hash, std::uint64_t value);

}  // namespace cuco
