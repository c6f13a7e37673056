// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/source_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

namespace cuco {
namespace {

std::string sourceOf(const std::string& id)
{
    return "// EVOLVE-BLOCK-START\nint " + id + ";\n// EVOLVE-BLOCK-END\n";
}

TEST(SourceCache, ReadsASourceOnceWhileItIsInUse)
{
    std::map<std::string, int> reads;
    const auto read = [&](const std::string& id) -> Result<std::string> {
        ++reads[id];
        return sourceOf(id);
    };
    SourceCache cache(2 * sourceOf("a").size());
    EXPECT_EQ((*cache.get("a", read))->text(), sourceOf("a"));
    EXPECT_EQ((*cache.get("b", read))->text(), sourceOf("b"));
    EXPECT_EQ((*cache.get("a", read))->text(), sourceOf("a"));
    EXPECT_EQ((*cache.get("c", read))->text(), sourceOf("c"));  // b was not asked for longest
    EXPECT_EQ((*cache.get("a", read))->text(), sourceOf("a"));
    EXPECT_EQ((*cache.get("b", read))->text(), sourceOf("b"));
    EXPECT_EQ(reads, (std::map<std::string, int>{{"a", 1}, {"b", 2}, {"c", 1}}));
}

TEST(SourceCache, KeepsASourceThatIsLargerThanItself)
{
    int reads = 0;
    const auto read = [&](const std::string& id) -> Result<std::string> {
        ++reads;
        return sourceOf(id);
    };
    SourceCache cache(1);
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(cache.get("a", read));
    EXPECT_EQ(reads, 1);
}

TEST(SourceCache, SaysWhyASourceIsNotThere)
{
    SourceCache cache(1'000);
    const auto missing = cache.get("a", [](const std::string&) { return failure("The run file is gone"); });
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().what, "The run file is gone");
    const auto foreign = cache.get("c7", [](const std::string&) -> Result<std::string> { return "int main() {}"; });
    ASSERT_FALSE(foreign);
    EXPECT_TRUE(foreign.error().what.starts_with("The source of c7 cannot be read: ")) << foreign.error().what;
    EXPECT_TRUE(cache.get("a", [](const std::string& id) -> Result<std::string> { return sourceOf(id); }));
}

TEST(SourceCache, ServesSeveralThreads)
{
    SourceCache cache(3 * sourceOf("a0").size());
    const auto read = [](const std::string& id) -> Result<std::string> { return sourceOf(id); };
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread)
            threads.emplace_back([&] {
                for (int i = 0; i < 500; ++i) {
                    const std::string id = "a" + std::to_string(i % 7);
                    const auto source = cache.get(id, read);
                    wrong += source && (*source)->text() == sourceOf(id) ? 0 : 1;
                }
            });
    }
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace cuco
