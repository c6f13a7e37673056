// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/import.h"

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/trace/import_chrome.h"
#include "core/trace/import_nsys.h"
#include "core/trace/json_scanner.h"

#include <fmt/format.h>
#include <zlib.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace cuco {

namespace {

constexpr std::uint64_t most_bytes = 2ULL << 30;
constexpr const char* formats_read =
    "Readable are timelines of CUCo's own, Chrome, Perfetto and PyTorch traces in JSON (also gzip'd), and nsys reports "
    "exported with `nsys export --type sqlite`.";

/// Whether the text is an object with `key` and does not begin its "traceEvents" before.
bool isOwnTimeline(std::string_view text)
{
    JsonScanner scan(text);
    std::string_view key;
    if (scan.peek() != '{' || !scan.enterObject()) {
        return false;
    }
    while (scan.nextKey(key)) {
        if (key == "lanes") {
            return true;
        }
        if (key == "traceEvents" || !scan.skip()) {
            return false;
        }
    }
    return false;
}

Result<std::string> unpacked(std::string_view packed, const std::string& where, const ImportWatch& watch)
{
    z_stream stream{};
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream, MAX_WBITS + gzip_only) != Z_OK) {
        return failure("The trace cannot be unpacked: no memory is left", where);
    }
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
    std::string text;
    std::string part(4u << 20, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    std::size_t left = packed.size();
    int code = Z_OK;
    while (code != Z_STREAM_END) {
        if (watch.stop.stop_requested()) {
            return failure("Reading the trace was cancelled", where);
        }
        if (stream.avail_in == 0) {
            stream.avail_in = static_cast<uInt>(std::min<std::size_t>(left, 1u << 30));
            left -= stream.avail_in;
        }
        stream.next_out = reinterpret_cast<Bytef*>(part.data());
        stream.avail_out = static_cast<uInt>(part.size());
        code = inflate(&stream, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END) {
            return failure(code == Z_BUF_ERROR ? "The gzip'd trace ends in the middle" : "The gzip'd trace is broken",
                           where, "Write or copy the file again.");
        }
        text.append(part.data(), part.size() - stream.avail_out);
        if (text.size() > most_bytes) {
            return failure("The trace unpacks to more than 2 GiB", where, "Record a shorter stretch.");
        }
    }
    return text;
}

Result<Timeline> importJson(std::string_view text, const std::string& where, const ImportWatch& watch)
{
    if (text.starts_with("\xEF\xBB\xBF")) {
        text.remove_prefix(3);
    }
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        return failure("The trace is empty", where, formats_read);
    }
    if (text[first] != '{' && text[first] != '[') {
        return failure("The file is no trace: it is neither JSON nor a database", where, formats_read);
    }
    if (isOwnTimeline(text)) {
        const auto json = parseJson(text, where);
        if (!json) {
            return std::unexpected(json.error());
        }
        auto timeline = timelineFromJson(*json);
        if (!timeline && timeline.error().where.empty()) {
            timeline.error().where = where;
        }
        return timeline;
    }
    return importChromeEvents(text, where, watch);
}

}  // namespace

Result<Timeline> importTrace(const std::filesystem::path& path, const ImportWatch& watch)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) {
        return failure("There is no such file", path.string(), "Check the path.");
    }
    std::string head(16, '\0');
    std::ifstream(path, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
    if (head.starts_with("SQLite format 3")) {
        return importNsys(path, watch);
    }
    auto text = readFile(path, most_bytes);
    if (!text) {
        return std::unexpected(std::move(text.error()));
    }
    if (head.starts_with("\x1f\x8b")) {
        text = unpacked(*text, path.string(), watch);
        if (!text) {
            return std::unexpected(std::move(text.error()));
        }
    }
    auto timeline = importJson(*text, path.string(), watch);
    if (timeline && watch.progress) {
        watch.progress(1);
    }
    return timeline;
}

}  // namespace cuco
