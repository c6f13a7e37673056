// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/visible_gpus.h"

#include <gtest/gtest.h>
#include <cstdlib>
#include <string>

namespace cuco_harness {
namespace {

std::string seenOf(const char* before, int count)
{
    if (before)
        setenv("CUDA_VISIBLE_DEVICES", before, 1);
    else
        unsetenv("CUDA_VISIBLE_DEVICES");
    seeOnlyGpus(count);
    return std::getenv("CUDA_VISIBLE_DEVICES");
}

TEST(VisibleGpus, AreTheFirstOfAllWhereNothingIsSaid)
{
    EXPECT_EQ(seenOf(nullptr, 1), "0");
    EXPECT_EQ(seenOf(nullptr, 4), "0,1,2,3");
}

TEST(VisibleGpus, AreTheFirstOfThoseThatTheUserHasChosen)
{
    EXPECT_EQ(seenOf("5,3,7", 2), "5,3");
    EXPECT_EQ(seenOf("GPU-aa,GPU-bb", 1), "GPU-aa");
    EXPECT_EQ(seenOf("5,3", 2), "5,3");
    EXPECT_EQ(seenOf("5,3", 4), "5,3") << "no more than the user leaves";
    EXPECT_EQ(seenOf("", 2), "") << "none";
}

}  // namespace
}  // namespace cuco_harness
