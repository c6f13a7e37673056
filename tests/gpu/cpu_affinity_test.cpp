// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu/cpu_affinity.h"

#include <gmock/gmock.h>
#include <sched.h>

namespace cuco_harness {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuAffinity, ReadsListsAsTheSystemWritesThem)
{
    EXPECT_THAT(parseCpuList("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
    EXPECT_THAT(parseCpuList(""), IsEmpty());
    EXPECT_THAT(parseCpuList("2-1,x"), IsEmpty());
    EXPECT_LE(parseCpuList("0-99999999999999999999").size(), size_t(CPU_SETSIZE)) << "no more than there can be";
}

TEST(CpuAffinity, DealsWholeCoresThatNobodyShares)
{
    const std::vector<std::vector<int>> cores{{0, 8}, {1, 9}, {2, 10}, {3, 11}, {4, 12}, {5, 13}};
    const auto dealt = dealCores(cores, 2);
    EXPECT_THAT(dealt, ElementsAre(ElementsAre(1, 9, 2, 10), ElementsAre(3, 11, 4, 12)));
}

TEST(CpuAffinity, LeavesRanksAloneWhereCoresAreFew)
{
    EXPECT_THAT(dealCores({{0}, {1}, {2}}, 2), ElementsAre(IsEmpty(), IsEmpty()));
    EXPECT_THAT(dealCores({}, 2), ElementsAre(IsEmpty(), IsEmpty()));
    EXPECT_EQ(cpusOfRanks({"ffff:ff:1f.0", "ffff:ff:1f.1"}).size(), 2u) << "GPUs that the system does not list";
}

TEST(CpuAffinity, KeepsAThreadOnItsCpus)
{
    cpu_set_t before, after;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    int first = 0;
    while (!CPU_ISSET(first, &before))
        ++first;
    stayOn({first});
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_EQ(CPU_COUNT(&after), 1);
    EXPECT_TRUE(CPU_ISSET(first, &after));
    stayOn({});
    EXPECT_EQ(sched_getcpu(), first);
    sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace cuco_harness
