// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/kernel_source.h"

#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace cuco {

/// CUDA C++ as C++ for the emulator: kernel launches (`<<<>>>`) and `__shared__` declarations rewritten
/// by tokens, everything else untouched and every token still on its own line, so that the compiler's
/// messages name the user's lines. `file_name` appears in a leading #line directive.
/// Faults: an unterminated launch, comment or string, with its line.
std::expected<std::string, SourceFault> rewriteForEmulation(std::string_view cuda_source, std::string_view file_name);

/// What the CPU cannot run (inline PTX, TMA, wgmma, multimem), with the line of the first use.
std::optional<SourceFault> findNotEmulable(std::string_view cuda_source);

}  // namespace cuco
