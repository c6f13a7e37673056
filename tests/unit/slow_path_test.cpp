// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/submission.h"
#include "tests/support/slow_path_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cuco {
namespace {

using testing::answered;
using testing::answerOf;
using ::testing::Contains;
using ::testing::Each;
using testing::FakeEvaluator;
using testing::hashOf;
using ::testing::HasSubstr;
using testing::inventive;
using testing::isSummary;
using testing::lsa;
using ::testing::Not;
using testing::program;
using testing::summary;

std::string lastMessage(const ChatRequest& request)
{
    return request.messages.back().text;
}

class SlowPathTest : public ::testing::Test, protected testing::SlowPathRun {};

TEST_F(SlowPathTest, BeginsWithTheWorkloadsStrategiesAndLetsModelsWriteTheirChildren)
{
    EXPECT_EQ(run(inventive), RunState::finished) << snapshot().message;
    const auto candidates = snapshot().candidates;
    ASSERT_EQ(candidates.size(), 14u);
    EXPECT_EQ(candidates[0].strategy, "plain");
    EXPECT_EQ(candidates[1].strategy, "s1");
    for (const Candidate& child : children()) {
        EXPECT_EQ(child.proposer, "llm");
        EXPECT_FALSE(child.parents.empty());
        EXPECT_EQ(child.summary, "Does it otherwise.");
        EXPECT_EQ(child.directive.backend, "lsa");
        EXPECT_TRUE(child.evaluation->verified());
    }
}

TEST_F(SlowPathTest, TellsTheParentItsMeasurementsAndTheDesignSpaceInThePrompt)
{
    run(inventive);
    const ChatRequest first = client->requests().front();
    EXPECT_THAT(first.system, HasSubstr("Copy engines move data"));
    EXPECT_THAT(first.system, HasSubstr("ncclLsaBarrierSession"));
    const std::string& prompt = first.messages.front().text;
    EXPECT_THAT(prompt, HasSubstr("CUCO_TUNE(rows"));
    EXPECT_THAT(prompt, HasSubstr("Times are modelled, not measured."));
    EXPECT_THAT(prompt, HasSubstr("| small | 2 |"));
    EXPECT_THAT(prompt, HasSubstr("Nobody has tried"));
}

TEST_F(SlowPathTest, StoresWhyAParentWasChosenBeforeTheCallThatBelongsToIt)
{
    run(inventive);
    EXPECT_THAT(titles(), Contains(HasSubstr("Chose parent c")));
    EXPECT_THAT(titles(), Contains(HasSubstr("Asks m for a ")));
    const auto steps = this->steps();
    for (const auto& call : calls()) {
        const auto step = std::ranges::find(steps, call.step, &AgentStep::id);
        ASSERT_NE(step, steps.end());
        EXPECT_EQ(step->candidate_id, call.candidate_id);
    }
}

TEST_F(SlowPathTest, GivesAnAnswerBackWhoseCodeDoesNotHaveTheDirectiveItAnnounces)
{
    const std::string other = "backend=lsa placement=fused sync=tile issuer=cta chunk=0";
    run([&](const ChatRequest& request) -> ChatResult {
        if (request.messages.size() == 1 && !isSummary(request))
            return answerOf(answered(program(hashOf(request), 9.0), other));
        return inventive(request);
    });
    for (const Candidate& child : children())
        EXPECT_LT(child.evaluation->speedup().value_or(0), 5);
    const auto requests = client->requests();
    const auto again = std::ranges::find_if(requests, [](const auto& request) { return request.messages.size() == 3; });
    ASSERT_NE(again, requests.end());
    EXPECT_THAT(lastMessage(*again), HasSubstr("it announces " + other));
}

TEST_F(SlowPathTest, AsksAgainForACodeWithoutAnAnnouncedDirectiveAndForOneThatTheNodeCannotRun)
{
    const std::string gin = "backend=gin placement=sequential sync=world issuer=cta chunk=0";
    run([&](const ChatRequest& request) -> ChatResult {
        if (request.messages.size() == 1)
            return answerOf("```cpp\n" + program(hashOf(request), 9.0) + "```\n");
        if (request.messages.size() == 3)
            return answerOf(answered(program(hashOf(request), 9.0, gin), gin));
        return inventive(request);
    });
    std::string told;
    for (const auto& request : client->requests())
        told += lastMessage(request);
    EXPECT_THAT(told, HasSubstr("it does not state its directive before the code"));
    EXPECT_THAT(told, HasSubstr("backend=gin needs a network adapter"));
    for (const Candidate& child : children())
        EXPECT_EQ(child.directive.backend, "lsa");
}

TEST_F(SlowPathTest, NeverEvaluatesWhatIsTooAlikeToAnEarlierCandidateAndSaysWhich)
{
    const std::string twin = program(7, 3.0);
    run([&](const ChatRequest& request) -> ChatResult {
        if (request.messages.size() == 1 && !isSummary(request)) {
            std::string renamed = twin;
            return answerOf(answered(renamed.replace(renamed.find("kind"), 4, "sort")));
        }
        return inventive(request);
    });
    EXPECT_EQ(
        std::ranges::count_if(children(), [](const Candidate& child) { return child.evaluation->speedup() > 2.5; }), 1);
    std::string told;
    for (const auto& request : client->requests())
        told += lastMessage(request);
    EXPECT_THAT(told, HasSubstr("Your program is too alike to c"));
    for (const Candidate& child : children())
        EXPECT_NE(child.evaluation->verdict, Verdict::duplicate);
}

TEST_F(SlowPathTest, MovesATunableWhereNoAnswerCanBeUsedAndSaysSo)
{
    generations = 1;
    EXPECT_EQ(run([](const ChatRequest&) -> ChatResult { return answerOf("I would rather not."); }),
              RunState::finished);
    for (const Candidate& child : children())
        EXPECT_EQ(child.proposer, "tunable");
    EXPECT_THAT(titles(), Contains("A tunable is moved instead"));
}

TEST_F(SlowPathTest, PausesWithAWayOnWhenAProviderGivesTheSameAnswerForEver)
{
    generations = 8;
    const auto same = [](const ChatRequest&) -> ChatResult { return answerOf(answered(program(1, 2.0))); };
    EXPECT_EQ(run(same), RunState::paused);
    EXPECT_THAT(snapshot().message, HasSubstr("too alike to c"));
    EXPECT_THAT(snapshot().message, HasSubstr("choose another model"));
    const auto before = snapshot().candidates.size();
    EXPECT_EQ(run(inventive), RunState::finished) << snapshot().message;
    EXPECT_GT(snapshot().candidates.size(), before);
}

TEST_F(SlowPathTest, MendsWhatFailedLastWhileNothingVerifies)
{
    FakeEvaluator::Options options;
    options.is_wrong = [](const std::string& source) { return !source.contains("merit=5"); };
    settings.summary_interval = 0;
    run(
        [&](const ChatRequest& request) -> ChatResult {
            const unsigned hash = hashOf(request);
            const bool told = request.messages.front().text.contains("c[17] of rank 1 is 0, not 1.5.");
            return answerOf(
                answered(program(hash, told && request.messages.front().text.contains("Mend this one") ? 5 : 1)));
        },
        options);
    EXPECT_THAT(titles(), Contains(HasSubstr("Mends c")));
    EXPECT_TRUE(std::ranges::any_of(children(), [](const Candidate& child) { return child.evaluation->verified(); }));
}

TEST_F(SlowPathTest, AnIslandWhereEverythingFailsTakesParentsFromTheOthers)
{
    generations = 4;
    FakeEvaluator::Options options;
    options.is_wrong = [](const std::string& source) { return source.contains("strategy s1"); };  // island 1's seed
    EXPECT_EQ(run(inventive, options), RunState::finished);
    for (const Candidate& child : children()) {
        if (child.island == 1 && child.generation == 2) {
            EXPECT_NE(child.parents.front(), "c1");
        }
    }
}

TEST_F(SlowPathTest, NeverStartsFromARejectedCandidateAndTellsWhyItWasRejected)
{
    generations = 12;
    longest_delay = std::chrono::milliseconds(6);
    const auto controller = open(inventive);
    controller->start();
    while (snapshot().candidates.size() < 4)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(controller->reject("c0", "It races."));
    const int planned = static_cast<int>(snapshot().candidates.size()) + 4;  // those in flight were drawn before
    controller->wait();
    for (const Candidate& child : children()) {
        if (child.number > planned) {
            EXPECT_THAT(child.parents, Each(Not(std::string("c0")))) << child.id;
        }
    }
    EXPECT_THAT(client->requests().back().messages.front().text, HasSubstr("It races."));
}

TEST_F(SlowPathTest, UsesWhatAPersonWroteIntoTheScratchpad)
{
    generations = 1;
    {
        auto controller = open(inventive);
        ASSERT_TRUE(controller->editScratchpad("Try copy engines."));
        controller->start();
        controller->wait();
    }
    EXPECT_THAT(client->requests().back().messages.front().text, HasSubstr("Try copy engines."));
    EXPECT_THAT(titles(), Contains("Scratchpad edited after 0 candidates"));
}

TEST_F(SlowPathTest, KeepsAnIslandToItsBackendAndTellsItsPrompt)
{
    settings.islands = {{"lsa", "s2", "Prefer large chunks."}};
    run(inventive);
    EXPECT_EQ(snapshot().candidates.front().strategy, "s2");
    for (const auto& request : client->requests()) {
        if (request.messages.front().text.contains("Prefer large chunks.")) {
            EXPECT_THAT(request.messages.front().text, HasSubstr("`backend=lsa`"));
        }
    }
}

TEST_F(SlowPathTest, NamesAStrategyThatAnIslandAsksForInVain)
{
    settings.islands = {{"", "nowhere", ""}};
    const auto made =
        SlowPathProposer::create({workload, {}, PromptLibrary(DataPaths::find()->resources), {}, settings, 2, 1, ""});
    ASSERT_FALSE(made);
    EXPECT_THAT(describe(made.error()), HasSubstr("nowhere"));
}

TEST_F(SlowPathTest, HasSeveralProposalsInFlightAndStillTheSameOutcomeForASeed)
{
    generations = 6;
    longest_delay = std::chrono::milliseconds(4);
    FakeEvaluator::Options options;
    options.longest_delay = std::chrono::milliseconds(2);
    settings.further_models = {"n"};
    EXPECT_EQ(run(inventive, options), RunState::finished);
    EXPECT_GT(client->most_asking, 1);
    const std::string first = testing::outcomeOf(path), events = eventLog();
    EXPECT_THAT(events, HasSubstr("Asks m for a"));
    std::filesystem::remove(path);
    EXPECT_EQ(run(inventive, options), RunState::finished);
    EXPECT_EQ(testing::outcomeOf(path), first);
    EXPECT_TRUE(eventLog() == events);  // too long to be printed
}

TEST_F(SlowPathTest, EndsInTheSameStateWhenItIsStoppedAndResumedAndPaysNoCallTwice)
{
    generations = 6;
    longest_delay = std::chrono::milliseconds(2);
    settings.further_models = {"n"};
    EXPECT_EQ(run(inventive), RunState::finished);
    const std::string uninterrupted = testing::outcomeOf(path);
    std::filesystem::remove(path);
    for (int i = 0; i < 60 && (i == 0 || snapshot().state != RunState::finished); ++i) {
        const auto controller = open(inventive);
        controller->start();
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + 4 * i));
        controller->stop();
        controller->wait();
    }
    EXPECT_EQ(testing::outcomeOf(path), uninterrupted);
    std::map<std::string, int> paid;
    for (const auto& call : calls())
        if (!call.error_kind)
            ++paid[requestSha256(file()->llmCall(call.id)->request)];
    for (const auto& [request, count] : paid)
        EXPECT_EQ(count, 1) << request;
}

TEST_F(SlowPathTest, ChoosesAmongModelsAndPrefersTheOneWhoseChildrenAreFaster)
{
    generations = 20;
    settings.further_models = {"strong"};
    settings.bandit.epsilon = 0.1;
    run([](const ChatRequest& request) -> ChatResult {
        if (isSummary(request))
            return answerOf(summary);
        const unsigned hash = hashOf(request);
        const double merit = request.model == "strong" ? 2 + (hash % 1000) / 100.0 : 0.5;
        return answerOf(answered(program(hash, merit)));
    });
    int strong = 0, all = 0;
    for (const auto& request : client->requests())
        if (!isSummary(request)) {
            ++all;
            strong += request.model == "strong" ? 1 : 0;
        }
    EXPECT_GT(strong, all / 2) << strong << " of " << all;
}

TEST_F(SlowPathTest, SetsTheNumbersOfWhatAModelWroteByARace)
{
    generations = 2;
    EXPECT_EQ(run(inventive), RunState::finished) << snapshot().message;
    for (const Candidate& child : children()) {
        EXPECT_EQ(child.tunables, (TunableValues{{"ctas", 16}})) << child.id;
        const std::string source = file()->source(child.id).value();
        EXPECT_THAT(source, HasSubstr("CUCO_TUNE(ctas, 16,"));
        EXPECT_EQ(sha256Hex(source), child.source_sha256);
        EXPECT_THAT(titles(), Contains("Raced 3 choices of the tunables of " + child.id));
    }
}

TEST_F(SlowPathTest, DoesNotTakeOtherNumbersForNewWhenTheMachineSetsThem)
{
    generations = 2;
    run([](const ChatRequest& request) -> ChatResult {
        if (isSummary(request) || request.messages.size() > 1)
            return inventive(request);
        std::string same = program(1, 2.0);
        return answerOf(
            answered(same.replace(same.find("(ctas, 8"), 8, fmt::format("(ctas, {}", hashOf(request) % 2 ? 4 : 32))));
    });
    EXPECT_EQ(std::ranges::count_if(
                  children(), [&](const Candidate& child) { return file()->source(child.id)->contains("kind = 1u"); }),
              1);
}

TEST_F(SlowPathTest, RacesNothingWhenToldSo)
{
    generations = 2;
    settings.raced_choices = 0;
    run(inventive);
    for (const Candidate& child : children())
        EXPECT_EQ(child.tunables, (TunableValues{{"ctas", 8}}));
}

TEST_F(SlowPathTest, EvaluatesWhatAPersonSubmitsWithoutGoingOnWithTheSearch)
{
    generations = 4;
    const auto controller = open(inventive);
    controller->start();
    while (snapshot().candidates.size() < 4)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    controller->pause();
    controller->wait();
    const auto before = snapshot().candidates;
    ASSERT_TRUE(controller->submit("c1", program(4711, 3.5), "Fewer barriers."));
    controller->wait();
    const auto after = snapshot();
    ASSERT_EQ(after.candidates.size(), before.size() + 1);
    const Candidate& made = after.candidates.back();
    EXPECT_EQ(made.proposer, "person");
    EXPECT_EQ(made.parents, std::vector<std::string>{"c1"});
    EXPECT_EQ(made.summary, "Fewer barriers.");
    EXPECT_EQ(made.tunables, (TunableValues{{"ctas", 8}}));
    EXPECT_TRUE(made.evaluation->verified());
    EXPECT_EQ(after.state, RunState::paused);
    controller->resume();
    controller->wait();
    EXPECT_EQ(snapshot().state, RunState::finished);
    EXPECT_EQ(snapshot().candidates.size(), 2u + 4u * 4u + 1u);
}

TEST_F(SlowPathTest, TakesASubmissionUpWhileItIsSearchingAndAfterItHasFinished)
{
    generations = 4;
    longest_delay = std::chrono::milliseconds(5);
    const auto controller = open(inventive);
    controller->start();
    while (snapshot().candidates.size() < 4)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_TRUE(controller->submit("c0", program(4711, 3.5), "first"));
    controller->wait();
    EXPECT_EQ(snapshot().state, RunState::finished);
    EXPECT_EQ(snapshot().candidates.size(), 2u + 4u * 4u + 1u);
    ASSERT_TRUE(controller->submit("c0", program(4712, 3.6), "second"));
    controller->wait();
    EXPECT_EQ(snapshot().state, RunState::finished);
    EXPECT_EQ(snapshot().candidates.back().summary, "second");
}

TEST_F(SlowPathTest, LosesNoSubmissionThatWasStoredBeforeTheProgramEnded)
{
    generations = 1;
    run(inventive);
    {
        auto writer = RunFile::open(path, RunFile::Access::write).value();
        const Submission submission{"c0", program(4711, 3.5), "kept"};
        ASSERT_TRUE(writer->addSubmission(toStep(submission), submission.source));
    }
    EXPECT_EQ(run(inventive), RunState::finished);
    EXPECT_EQ(snapshot().candidates.back().summary, "kept");
    run(inventive);
    EXPECT_EQ(std::ranges::count(snapshot().candidates, std::string("person"), &Candidate::proposer), 1);
}

TEST_F(SlowPathTest, RefusesASubmissionThatCanBeNoCandidate)
{
    generations = 1;
    run(inventive);
    const auto controller = open(inventive);
    EXPECT_THAT(controller->submit("c99", program(1, 1), "").error().what, HasSubstr("no candidate c99"));
    EXPECT_THAT(controller->submit("c0", "int main() {}", "").error().what, HasSubstr("can be no candidate"));
    EXPECT_EQ(snapshot().candidates.size(), 6u);
}

TEST(SlowPathSettings, AreReadBackAsWritten)
{
    SlowPathSettings settings;
    settings.phases.explore_share = 0.1;
    settings.archive.capacity = 7;
    settings.novelty.attempts = 2;
    settings.migration.interval = 3;
    settings.bandit.decay = 0.5;
    settings.summary_interval = 4;
    settings.further_models = {"a", "b"};
    settings.islands = {{"gin", "s1", "words"}};
    const auto read = slowPathSettingsFromJson(toJson(settings), "run.json");
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(toJson(*read), toJson(settings));
}

TEST(SlowPathSettings, HaveASentenceForWhatContradictsItself)
{
    const auto sentence = [](const SlowPathSettings& settings) {
        const auto valid = validate(settings, 2);
        return valid ? std::string() : describe(valid.error());
    };
    EXPECT_EQ(sentence({}), "");
    SlowPathSettings settings;
    settings.archive.capacity = 2;
    EXPECT_THAT(sentence(settings), HasSubstr("3 inspirations are to come from an archive of 2"));
    settings = {};
    settings.islands.resize(3);
    EXPECT_THAT(sentence(settings), HasSubstr("3 islands are described, but the run has 2"));
    settings = {};
    settings.islands = {{"mpi", "", ""}};
    EXPECT_THAT(sentence(settings), HasSubstr("slow_path.islands[0].backend is \"mpi\""));
    settings = {};
    settings.answers_a_proposal = 0;
    EXPECT_THAT(sentence(settings), HasSubstr("slow_path.answers_a_proposal is 0"));
}

}  // namespace
}  // namespace cuco
