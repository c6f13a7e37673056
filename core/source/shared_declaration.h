// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/cuda_tokens.h"
#include "core/source/token_edits.h"

#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// Rewrites the declaration around the `__shared__` at `token` into per-block storage. At namespace scope the
/// variables become expressions, which are added to `renamed` for every later use. The result is the index of
/// the declaration's `;`. Faults: a declaration that does not end or names nothing.
std::expected<std::size_t, SourceFault> rewriteShared(const std::vector<CudaToken>& tokens, std::size_t token,
                                                      bool at_namespace_scope, TokenEdits& edits,
                                                      std::map<std::string_view, std::string>& renamed);

}  // namespace cuco
