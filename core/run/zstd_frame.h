// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace cuco {

Result<std::string> compressZstd(std::string_view bytes, int level);
/// Errors: no zstd frame, another size than stated, more than `most_bytes`; the sentence has no place or remedy.
Result<std::string> decompressZstd(std::string_view frame, std::int64_t stated_bytes, std::int64_t most_bytes);

}  // namespace cuco
