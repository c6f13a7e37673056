// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cuco {

struct LaunchPlace {
    std::string kernel;    ///< as written, without template arguments
    std::size_t line = 0;  ///< 1-based, of the <<< or of the launching call
};

/// The last kernel launch in the text before the end of `line`: `kernel<<<…>>>` or cudaLaunchKernel and its like. By
/// tokens alone: it need not be what ran last. Nothing where there is none, or for a text that cannot be read.
std::optional<LaunchPlace> launchBefore(std::string_view source, std::size_t line);

}  // namespace cuco
