// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/embedding.h"
#include "tests/support/slow_path_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace cuco {
namespace {

using testing::answered;
using testing::answerOf;
using testing::ComputedClient;
using ::testing::Each;
using testing::hashOf;
using ::testing::HasSubstr;
using testing::inventive;
using testing::isSummary;
using testing::program;

/// A direction for each `merit`: programs with the same one mean the same.
ChatResult byMerit(const ChatRequest& request)
{
    const double angle = testing::FakeEvaluator::speedupOf(request.messages.front().text);
    return answerOf(fmt::format("[{},{}]", std::cos(angle), std::sin(angle)));
}

class SlowPathEmbedding : public ::testing::Test, protected testing::SlowPathRun {
protected:
    SlowPathEmbedding() { settings.novelty.embedding_cosine = 1 - 1e-9; }

    RunState run(ComputedClient::Answer answer)
    {
        if (!embeddings)
            embeddings = std::make_shared<ComputedClient>(byMerit);
        return SlowPathRun::run(std::move(answer));
    }
    /// How often the run paid for each request.
    std::map<std::string, int> paid() const
    {
        std::map<std::string, int> counts;
        for (const auto& call : calls())
            if (!call.error_kind)
                ++counts[requestSha256(file()->llmCall(call.id)->request)];
        return counts;
    }
};

TEST_F(SlowPathEmbedding, NeverEvaluatesWhatMeansTheSameAsAnEarlierCandidate)
{
    run([](const ChatRequest& request) -> ChatResult {
        if (request.messages.size() == 1 && !isSummary(request))
            return answerOf(answered(program(hashOf(request), 3.0)));
        return inventive(request);
    });
    EXPECT_EQ(
        std::ranges::count_if(children(), [](const Candidate& child) { return child.evaluation->speedup() > 2.5; }), 1);
    EXPECT_TRUE(std::ranges::any_of(client->requests(), [](const ChatRequest& request) {
        return request.messages.back().text.contains("Your program is too alike to c");
    }));
}

TEST_F(SlowPathEmbedding, TracesEachEmbeddingAsACallOfTheProposalThatWantedIt)
{
    run(inventive);
    std::size_t embedded = 0;
    for (const auto& call : calls()) {
        if (call.agent != novelty_agent)
            continue;
        ++embedded;
        EXPECT_EQ(call.model, "e");
        EXPECT_NE(call.step, 0);
        EXPECT_FALSE(call.candidate_id.empty());
    }
    EXPECT_GE(embedded, snapshot().candidates.size() - 1);  // nobody is compared with the last one
    for (const auto& [request, count] : paid())
        EXPECT_EQ(count, 1) << request;
}

TEST_F(SlowPathEmbedding, PaysForNoVectorAgainWhenTheRunIsStoppedAndResumed)
{
    generations = 6;
    longest_delay = std::chrono::milliseconds(2);
    EXPECT_EQ(run(inventive), RunState::finished);
    const std::string uninterrupted = testing::outcomeOf(path);
    std::filesystem::remove(path);
    embeddings = std::make_shared<ComputedClient>(byMerit, std::chrono::milliseconds(1));
    for (int i = 0; i < 60 && (i == 0 || snapshot().state != RunState::finished); ++i) {
        const auto controller = open(inventive);
        controller->start();
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + 4 * i));
        controller->stop();
        controller->wait();
    }
    EXPECT_EQ(testing::outcomeOf(path), uninterrupted);
    for (const auto& [request, count] : paid())
        EXPECT_EQ(count, 1) << request;
}

TEST_F(SlowPathEmbedding, PausesWhereAVectorDoesNotComeAndGoesOnWhenItDoes)
{
    embeddings = std::make_shared<ComputedClient>([](const ChatRequest&) -> ChatResult {
        ChatError error;
        error.kind = ChatErrorKind::network;
        error.error = {"Nobody answers at 127.0.0.1.", {}, "Start the server."};
        return std::unexpected(error);
    });
    EXPECT_EQ(run(inventive), RunState::paused);
    EXPECT_THAT(snapshot().message, HasSubstr("Nobody answers"));
    embeddings = nullptr;
    EXPECT_EQ(run(inventive), RunState::finished) << snapshot().message;
}

TEST_F(SlowPathEmbedding, PausesWithASentenceWhereAVectorIsNoneOrHasAnotherLength)
{
    embeddings = std::make_shared<ComputedClient>([](const ChatRequest&) { return answerOf("[1,\"2\"]"); });
    EXPECT_EQ(run(inventive), RunState::paused);
    EXPECT_THAT(snapshot().message, HasSubstr("An embedding cannot be read"));
    std::filesystem::remove(path);
    embeddings = std::make_shared<ComputedClient>(
        [](const ChatRequest& request) { return answerOf(hashOf(request) % 2 == 0 ? "[1,2]" : "[1,2,3]"); });
    EXPECT_EQ(run(inventive), RunState::paused);
    EXPECT_THAT(snapshot().message, HasSubstr("one embedding model for a whole run"));
}

TEST_F(SlowPathEmbedding, ComparesLongSourcesByTheirTokensAlone)
{
    settings.novelty.embedded_bytes = 100;
    EXPECT_EQ(run(inventive), RunState::finished);
    for (const auto& call : calls())
        EXPECT_NE(call.agent, novelty_agent);
}

}  // namespace
}  // namespace cuco
