// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/event_log.h"

#include "core/llm/recording.h"
#include "tests/support/slow_path_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuco {
namespace {

using testing::FakeEvaluator;
using ::testing::HasSubstr;
using testing::inventive;

/// Gives recorded answers, each after another time.
class LateReplay final : public ChatClient {
public:
    explicit LateReplay(Recording recording) : replay_(std::move(recording), ReplayClient::Order::by_request) {}
    std::string provider() const override { return replay_.provider(); }
    ChatResult complete(const ChatRequest& request, const CallControl& control) override
    {
        thread_local std::mt19937 random{std::random_device{}()};
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 5000));
        return replay_.complete(request, control);
    }

private:
    ReplayClient replay_;
};

class EventLog : public ::testing::Test, public testing::SlowPathRun {};

TEST_F(EventLog, IsTheSameForTheSameSeedAndRecordedAnswersHoweverLongTheyTake)
{
    generations = 8;
    longest_delay = std::chrono::milliseconds(3);
    settings.further_models = {"n"};
    FakeEvaluator::Options options;
    options.longest_delay = std::chrono::milliseconds(2);
    ASSERT_EQ(run(inventive, options), RunState::finished) << snapshot().message;
    const std::string first = eventLog();
    EXPECT_THAT(first, HasSubstr("Scratchpad after 8 candidates"));
    EXPECT_THAT(first, HasSubstr("Raced"));
    const Recording recording = file()->llmRecording().value();

    std::filesystem::remove(path);
    const auto controller = open(std::make_shared<LateReplay>(recording), options);
    controller->start();
    controller->wait();
    ASSERT_EQ(controller->state(), RunState::finished) << snapshot().message;
    EXPECT_TRUE(eventLog() == first);  // too long to be printed
}

TEST_F(EventLog, GoesByTheCandidatesAndHasEachCallUnderItsStep)
{
    ASSERT_EQ(run(inventive), RunState::finished);
    int last = -1;
    std::string step;
    std::size_t calls_seen = 0;
    const auto log = cuco::eventLog(*file()).value();
    for (const auto& event : log) {
        const int number = std::stoi(event.at("candidate").get<std::string>().substr(1));
        EXPECT_GE(number, last);
        last = number;
        if (event.at("event") == "step")
            step = event.at("title");
        if (event.at("event") != "call")
            continue;
        ++calls_seen;
        EXPECT_THAT(step, HasSubstr("Asks m for a"));
        EXPECT_EQ(event.at("answer_sha256").get<std::string>().size(), 64u);
    }
    EXPECT_EQ(calls_seen, calls().size());
}

TEST_F(EventLog, OfARunThatHasNotBegunIsEmpty)
{
    ASSERT_TRUE(RunFile::create(path, config()));
    EXPECT_TRUE(cuco::eventLog(*file()).value().empty());
}

}  // namespace
}  // namespace cuco
