// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/embedding_index.h"

#include "core/population/parent_selection.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>

namespace cuco {
namespace {

using ::testing::HasSubstr;

std::vector<float> atAngle(double radians, float length = 1)
{
    return {length * static_cast<float>(std::cos(radians)), length * static_cast<float>(std::sin(radians))};
}

TEST(EmbeddingIndex, TakesVectorsOfNearlyOneDirectionForDuplicatesWhateverTheirLength)
{
    EmbeddingIndex index;
    ASSERT_TRUE(index.add("c1", atAngle(0.5)));
    const double limit = std::acos(0.995);
    const auto inside = index.duplicateOf(atAngle(0.5 + 0.99 * limit, 30));
    ASSERT_TRUE(inside && *inside);
    EXPECT_EQ((*inside)->id, "c1");
    EXPECT_NEAR((*inside)->similarity, std::cos(0.99 * limit), 1e-6);
    EXPECT_FALSE(*index.duplicateOf(atAngle(0.5 + 1.01 * limit)));
}

TEST(EmbeddingIndex, FindsTheNearestAsALinearSearchDoes)
{
    EmbeddingIndex index(NoveltySettings{.embedding_cosine = 0.1});
    std::vector<std::vector<float>> vectors;
    ProposalRandom random(1, 1);
    const auto draw = [&] {
        std::vector<float> vector(16);
        for (float& value : vector)
            value = static_cast<float>(random.uniform() - 0.5);
        return vector;
    };
    for (int i = 0; i < 500; ++i) {
        vectors.push_back(draw());
        ASSERT_TRUE(index.add(std::to_string(i), vectors.back()));
    }
    for (int round = 0; round < 50; ++round) {
        const auto query = draw();
        double best = -1;
        std::size_t nearest = 0;
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            double dot = 0, a = 0, b = 0;
            for (std::size_t k = 0; k < query.size(); ++k) {
                dot += static_cast<double>(query[k]) * vectors[i][k];
                a += static_cast<double>(query[k]) * query[k];
                b += static_cast<double>(vectors[i][k]) * vectors[i][k];
            }
            if (dot / std::sqrt(a * b) > best) {
                best = dot / std::sqrt(a * b);
                nearest = i;
            }
        }
        const auto match = *index.duplicateOf(query);
        ASSERT_TRUE(match);
        EXPECT_EQ(match->id, std::to_string(nearest));
        EXPECT_NEAR(match->similarity, best, 1e-5);
    }
}

TEST(EmbeddingIndex, ForgetsTheOldestWhenItIsFull)
{
    EmbeddingIndex index(NoveltySettings{.embedded_sources = 3});
    for (int i = 0; i < 10'000; ++i) {
        ASSERT_TRUE(index.add(std::to_string(i), atAngle(0.5 * (i % 12))));
        ASSERT_LE(index.size(), 3u);
    }
    EXPECT_FALSE(*index.duplicateOf(atAngle(0.5 * (9'996 % 12))));
    EXPECT_EQ((*index.duplicateOf(atAngle(0.5 * (9'997 % 12))))->id, "9997");
}

TEST(EmbeddingIndex, SaysWhatIsWrongWithAVector)
{
    EmbeddingIndex index;
    EXPECT_THAT(index.add("c1", {}).error().what, HasSubstr("all zero"));
    EXPECT_THAT(index.add("c1", std::array{0.f, 0.f}).error().what, HasSubstr("all zero"));
    EXPECT_THAT(index.add("c1", std::array{1.f, std::numeric_limits<float>::quiet_NaN()}).error().what,
                HasSubstr("not finite"));
    ASSERT_TRUE(index.add("c1", std::array{1.f, 0.f}));
    EXPECT_EQ(index.add("c2", std::array{1.f}).error().what, "An embedding has 1 numbers where the others have 2");
    EXPECT_THAT(index.duplicateOf(std::array{1.f, 0.f, 0.f}).error().remedy, HasSubstr("one embedding model"));
    EXPECT_EQ(index.size(), 1u);
}

}  // namespace
}  // namespace cuco
