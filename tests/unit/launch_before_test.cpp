// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/launch_before.h"

#include <gtest/gtest.h>

namespace cuco {
namespace {

constexpr const char* source = R"cuda(__global__ void first(int* p);
// second<<<1, 1>>>(p) is only spoken of.
int run(int* p, cudaStream_t stream)
{
    first<<<1, 32, 0, stream>>>(p);
    CUCO_TRY(cudaGetLastError());
    detail::second<3, int><<<dim3(2), 32,
        0, stream>>>(p);
    CUCO_TRY(cudaGetLastError());
    void* arguments[] = {&p};
    CUCO_TRY(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(third<float>), 1, 32, arguments, 0, stream));
    CUCO_TRY(cudaLaunchKernelEx(&config, fourth, p));
    const char* text = "fifth<<<1, 1>>>()";
}
)cuda";

TEST(LaunchBefore, IsTheOneThatACheckedCallFollows)
{
    EXPECT_FALSE(launchBefore(source, 4));
    EXPECT_EQ(launchBefore(source, 6)->kernel, "first");
    EXPECT_EQ(launchBefore(source, 6)->line, 5U);
    EXPECT_EQ(launchBefore(source, 9)->kernel, "second");
    EXPECT_EQ(launchBefore(source, 9)->line, 7U);
}

TEST(LaunchBefore, ReadsTheKernelOutOfCudasLaunchingCalls)
{
    EXPECT_EQ(launchBefore(source, 11)->kernel, "third");
    EXPECT_EQ(launchBefore(source, 12)->kernel, "fourth");
    EXPECT_EQ(launchBefore(source, 99)->kernel, "fourth");
}

TEST(LaunchBefore, FindsNothingInWhatIsNoSource)
{
    EXPECT_FALSE(launchBefore("", 1));
    EXPECT_FALSE(launchBefore("<<<", 1));
    EXPECT_FALSE(launchBefore("> > > <<<", 1));
    EXPECT_FALSE(launchBefore("cudaLaunchKernel(", 1));
    EXPECT_FALSE(launchBefore("f<<<1, 1>>>(); /* never closed", 1));
}

}  // namespace
}  // namespace cuco
