// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/timeline_blob.h"
#include "tests/support/run_file_fixture.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace cuco {
namespace {

using testing::someTimeline;

TEST(TimelineBlob, RefusesSizesThatDisagree)
{
    const auto blob = compressTimeline(someTimeline());
    ASSERT_TRUE(blob);
    EXPECT_TRUE(decompressTimeline(blob->zstd, blob->json_bytes));
    EXPECT_FALSE(decompressTimeline(blob->zstd, blob->json_bytes + 1));
    EXPECT_FALSE(decompressTimeline(blob->zstd, -1));
    EXPECT_FALSE(decompressTimeline(blob->zstd, std::int64_t{1} << 40));
    EXPECT_FALSE(decompressTimeline(blob->zstd.substr(0, blob->zstd.size() / 2), blob->json_bytes));
    EXPECT_FALSE(decompressTimeline("no zstd at all", 14));
    EXPECT_FALSE(decompressTimeline("", 0));
}

}  // namespace
}  // namespace cuco
