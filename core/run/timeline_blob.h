// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/timeline.h"

#include <string>
#include <string_view>

namespace cuco {

/// A timeline as a run file stores it: its JSON, compressed by zstd.
struct TimelineBlob {
    std::string zstd;
    std::int64_t json_bytes = 0;
};

Result<TimelineBlob> compressTimeline(const Timeline& timeline);
/// Errors: no zstd frame, another size than stated, more than 256 MiB, no timeline in it.
Result<Timeline> decompressTimeline(std::string_view zstd, std::int64_t json_bytes);

}  // namespace cuco
