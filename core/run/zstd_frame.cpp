// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/zstd_frame.h"

#include <fmt/format.h>
#include <zstd.h>

namespace cuco {

Result<std::string> compressZstd(std::string_view bytes, int level)
{
    std::string frame(ZSTD_compressBound(bytes.size()), '\0');
    const std::size_t written = ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), level);
    if (ZSTD_isError(written))
        return failure(fmt::format("{} bytes could not be compressed ({})", bytes.size(), ZSTD_getErrorName(written)));
    frame.resize(written);
    return frame;
}

Result<std::string> decompressZstd(std::string_view frame, std::int64_t stated_bytes, std::int64_t most_bytes)
{
    if (stated_bytes < 0 || stated_bytes > most_bytes)
        return failure(fmt::format("it claims {} bytes", stated_bytes));
    // The frame's own claim is compared before anything is allocated after it.
    if (ZSTD_getFrameContentSize(frame.data(), frame.size()) != static_cast<unsigned long long>(stated_bytes))
        return failure("its sizes disagree");
    std::string bytes(static_cast<std::size_t>(stated_bytes), '\0');
    const std::size_t written = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
    if (ZSTD_isError(written))
        return failure(ZSTD_getErrorName(written));
    if (written != bytes.size())
        return failure("it is shorter than it claims");
    return bytes;
}

}  // namespace cuco
