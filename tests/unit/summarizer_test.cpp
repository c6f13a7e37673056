// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/summarizer.h"

#include "tests/support/slow_path_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>

namespace cuco {
namespace {

using testing::answerOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::inventive;
using testing::isSummary;
using ::testing::Not;

/// A search with 8 proposals in its window: the summary of the first 8 candidates begins with c15 and is read from c23
/// on.
class SummarizerTest : public ::testing::Test, public testing::SlowPathRun {
protected:
    SummarizerTest()
    {
        configured.islands = 2;
        configured.children = 4;
    }
    std::vector<ChatRequest> summaries() const
    {
        auto requests = client->requests();
        std::erase_if(requests, [](const ChatRequest& request) { return !isSummary(request); });
        return requests;
    }
    void awaitCandidates(std::size_t count) const
    {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (snapshot().candidates.size() < count && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    /// The numbers of those whose prompt says what the notes say.
    std::vector<int> readers() const
    {
        std::vector<int> numbers;
        for (const auto& summary : calls())
            if (summary.agent == slow_path_agent &&
                file()->llmCall(summary.id)->request.messages.front().text.contains("Large chunks help."))
                numbers.push_back(std::stoi(summary.candidate_id.substr(1)));
        std::ranges::sort(numbers);
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        return numbers;
    }
};

TEST_F(SummarizerTest, SumsUpEveryEightCandidatesForThoseProposedAWindowLater)
{
    generations = 4;  // c0 … c33
    EXPECT_EQ(run(inventive), RunState::finished);
    EXPECT_THAT(titles(), Contains("Scratchpad after 8 candidates"));
    EXPECT_THAT(titles(), Contains("Scratchpad after 16 candidates"));
    const auto read = readers();
    ASSERT_FALSE(read.empty());
    EXPECT_EQ(read.front(), 23);
    EXPECT_EQ(read.back(), 33);
}

TEST_F(SummarizerTest, MakesNoSummaryThatNobodyWouldRead)
{
    generations = 4;
    run(inventive);
    EXPECT_EQ(summaries().size(), 2u);  // that of 24 candidates would be read by c39 first
    EXPECT_THAT(titles(), Not(Contains("Scratchpad after 24 candidates")));
}

/// Keeps summaries waiting until it is opened.
class Gate {
public:
    ChatResult operator()(const ChatRequest& request)
    {
        if (isSummary(request)) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return open_; });
        }
        return inventive(request);
    }
    void open()
    {
        const std::scoped_lock guard(mutex_);
        open_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};

TEST_F(SummarizerTest, LetsProposalsGoOnWhileASummaryIsMade)
{
    generations = 3;
    Gate gate;
    const auto controller = open(std::ref(gate));
    controller->start();
    // All who read older notes are proposed meanwhile, and nobody else.
    awaitCandidates(23);
    EXPECT_EQ(snapshot().candidates.size(), 23u);
    gate.open();
    controller->wait();
    EXPECT_EQ(controller->state(), RunState::finished);
    EXPECT_EQ(snapshot().candidates.size(), 26u);
    EXPECT_EQ(readers().front(), 23);
}

TEST_F(SummarizerTest, MakesSeveralAtOnceWhereManyAreProposedAtOnce)
{
    configured.children = 8;  // with 16 in the window c39 reads the summary of 8 candidates first
    generations = 4;
    Gate gate;
    const auto controller = open(std::ref(gate));
    controller->start();
    awaitCandidates(39);
    EXPECT_EQ(summaries().size(), 2u);
    gate.open();
    controller->wait();
    EXPECT_EQ(controller->state(), RunState::finished);
    // That of 24 was made of the notes that its first proposal read, and of all since.
    const auto requests = summaries();
    const auto third = std::ranges::find_if(requests, [](const ChatRequest& request) {
        const std::string& text = request.messages.front().text;
        return text.contains("c23 (from") && !text.contains("c24 (from");
    });
    ASSERT_NE(third, requests.end());
    const std::string& prompt = third->messages.front().text;
    EXPECT_THAT(prompt, HasSubstr("Large chunks help."));
    EXPECT_THAT(prompt, HasSubstr("c8 (from"));
    EXPECT_THAT(prompt, Not(HasSubstr("c7 (from")));
}

TEST_F(SummarizerTest, PausesWhereASummaryDoesNotComeAndAsksAgainWhenTheRunGoesOn)
{
    generations = 4;
    std::atomic<bool> there = false;
    const auto controller = open([&](const ChatRequest& request) -> ChatResult {
        if (!isSummary(request) || there)
            return inventive(request);
        ChatError error;
        error.kind = ChatErrorKind::network;
        error.error = {"Nobody answers at 127.0.0.1.", {}, "Start the server."};
        return std::unexpected(error);
    });
    controller->start();
    controller->wait();
    EXPECT_EQ(controller->state(), RunState::paused);
    EXPECT_THAT(snapshot().message, HasSubstr("Nobody answers"));
    EXPECT_EQ(snapshot().candidates.size(), 23u);
    EXPECT_EQ(summaries().size(), 1u);  // not asked for by each proposal
    there = true;
    controller->resume();
    controller->wait();
    EXPECT_EQ(controller->state(), RunState::finished) << snapshot().message;
    EXPECT_THAT(titles(), Contains("Scratchpad after 16 candidates"));
}

TEST_F(SummarizerTest, KeepsTheNotesAsTheyWereWhenAnAnswerHasNoFindings)
{
    generations = 4;
    EXPECT_EQ(run([](const ChatRequest& request) {
                  return isSummary(request) ? answerOf("I have nothing to say.") : inventive(request);
              }),
              RunState::finished);
    EXPECT_THAT(titles(), Contains("The answer could not be read"));
    EXPECT_TRUE(readers().empty());
    EXPECT_EQ(summaries().size(), 2u);
}

TEST(MetaSummary, ReadsTheLatestCandidatesNotesWhateverWasStoredFirst)
{
    const auto versions = [](std::vector<Scratchpad> notes) {
        std::vector<std::shared_ptr<const Scratchpad>> shared;
        for (auto& version : notes)
            shared.push_back(std::make_shared<const Scratchpad>(std::move(version)));
        return shared;
    };
    const auto swapped = versions({{16, false, "of 16"}, {8, false, "of 8"}});
    EXPECT_EQ(scratchpadFor(swapped, 7), "");
    EXPECT_EQ(scratchpadFor(swapped, 8), "of 8");
    EXPECT_EQ(scratchpadFor(swapped, 23), "of 16");
    const auto edited = versions({{8, false, "of 8"}, {12, true, "a person's"}, {16, false, "of 16"}});
    EXPECT_EQ(scratchpadFor(edited, 0), "a person's");
    EXPECT_EQ(scratchpadFor(edited, 8), "a person's");
    EXPECT_EQ(scratchpadFor(edited, 16), "of 16");
}

TEST(MetaSummary, TakesFindingsAndAtMostFiveRecommendations)
{
    const auto read = readMetaSummary(
        "Here.\n# Summaries\n- c1: x\n## Findings\n- a\n# Recommendations\n1. a\n2. b\n3. c\n4. d\n5. e\n6. f\n");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->summaries, "- c1: x\n");
    EXPECT_THAT(read->scratchpad, HasSubstr("## Findings\n- a\n"));
    EXPECT_THAT(read->scratchpad, HasSubstr("5. e\n"));
    EXPECT_THAT(read->scratchpad, Not(HasSubstr("6. f")));
    EXPECT_FALSE(readMetaSummary("I have nothing to say."));
    EXPECT_FALSE(readMetaSummary("# Findings\n\n# Recommendations\n1. a\n"));
}

}  // namespace
}  // namespace cuco
