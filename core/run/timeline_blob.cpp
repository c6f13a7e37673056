// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/timeline_blob.h"

#include "core/base/json.h"
#include "core/run/zstd_frame.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuco {

namespace {

constexpr std::int64_t most_json_bytes = 256 << 20;
constexpr int compression_level = 3;

}  // namespace

Result<TimelineBlob> compressTimeline(const Timeline& timeline)
{
    const std::string json = toJson(timeline).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (static_cast<std::int64_t>(json.size()) > most_json_bytes)
        return failure(fmt::format("A timeline of {} MiB is too large for a run file", json.size() >> 20), {},
                       "Profile a smaller shape.");
    auto zstd = compressZstd(json, compression_level);
    if (!zstd)
        return std::unexpected(zstd.error());
    return TimelineBlob{std::move(*zstd), static_cast<std::int64_t>(json.size())};
}

Result<Timeline> decompressTimeline(std::string_view zstd, std::int64_t json_bytes)
{
    const auto json = decompressZstd(zstd, json_bytes, most_json_bytes);
    if (!json)
        return failure(fmt::format("The stored timeline is damaged ({})", json.error().what), {},
                       "Evaluate the candidate again.");
    const auto document = parseJson(*json, "a stored timeline");
    if (!document)
        return std::unexpected(document.error());
    return timelineFromJson(*document);
}

}  // namespace cuco
