// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/timeline_blob.h"

#include "core/base/json.h"

#include <fmt/format.h>
#include <zstd.h>
#include <nlohmann/json.hpp>

namespace cuco {

namespace {

constexpr std::int64_t most_json_bytes = 256 << 20;
constexpr int compression_level = 3;

std::unexpected<Error> damaged(std::string_view finding)
{
    return failure(fmt::format("The stored timeline is damaged ({})", finding), {}, "Evaluate the candidate again.");
}

}  // namespace

Result<TimelineBlob> compressTimeline(const Timeline& timeline)
{
    const std::string json = toJson(timeline).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (static_cast<std::int64_t>(json.size()) > most_json_bytes)
        return failure(fmt::format("A timeline of {} MiB is too large for a run file", json.size() >> 20), {},
                       "Profile a smaller shape.");
    TimelineBlob blob;
    blob.json_bytes = static_cast<std::int64_t>(json.size());
    blob.zstd.resize(ZSTD_compressBound(json.size()));
    const std::size_t written =
        ZSTD_compress(blob.zstd.data(), blob.zstd.size(), json.data(), json.size(), compression_level);
    if (ZSTD_isError(written))
        return failure(fmt::format("A timeline could not be compressed ({})", ZSTD_getErrorName(written)));
    blob.zstd.resize(written);
    return blob;
}

Result<Timeline> decompressTimeline(std::string_view zstd, std::int64_t json_bytes)
{
    if (json_bytes < 0 || json_bytes > most_json_bytes)
        return damaged(fmt::format("it claims {} bytes", json_bytes));
    // The frame's own claim is compared before anything is allocated after it.
    const unsigned long long claimed = ZSTD_getFrameContentSize(zstd.data(), zstd.size());
    if (claimed != static_cast<unsigned long long>(json_bytes))
        return damaged("its sizes disagree");
    std::string json(static_cast<std::size_t>(json_bytes), '\0');
    const std::size_t written = ZSTD_decompress(json.data(), json.size(), zstd.data(), zstd.size());
    if (ZSTD_isError(written))
        return damaged(ZSTD_getErrorName(written));
    if (written != json.size())
        return damaged("it is shorter than it claims");
    const auto document = parseJson(json, "a stored timeline");
    if (!document)
        return std::unexpected(document.error());
    return timelineFromJson(*document);
}

}  // namespace cuco
