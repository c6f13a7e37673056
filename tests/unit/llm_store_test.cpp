// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/run_file.h"
#include "core/run/run_trace.h"
#include "core/run/text_search.h"
#include "core/run/text_store.h"
#include "tests/support/sql.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>
#include <random>

namespace cuco {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::readText;
using testing::TemporaryFolder;

std::string lines(std::uint64_t seed, int count)
{
    std::mt19937_64 random(seed);
    std::string text;
    for (int i = 0; i < count; ++i)
        text += fmt::format("    tile_{:x}[{}] += a[{}] * b[{}];\n", random(), i, random() % 997, random() % 991);
    return text;
}

LlmCall someCall(std::string prompt = "Make it faster.\n", std::string answer = "Use `ncclPutSignal`.")
{
    LlmCall call;
    call.agent = "slow path";
    call.candidate_id = "c7";
    call.provider = "anthropic";
    call.started_ms = 1'700'000'000'123;
    call.request.model = "claude-x";
    call.request.system = lines(1, 200);
    call.request.cache_system = true;
    call.request.messages = {{ChatRole::user, std::move(prompt), true}, {ChatRole::assistant, "Yes?", false}};
    call.request.temperature = 0.5;
    ChatResponse response;
    response.text = std::move(answer);
    response.stop_reason = StopReason::finished;
    response.model = "claude-x-1";
    response.request_id = "req_1";
    response.usage = {20, 9, 5, 7, 2, true};
    response.first_byte = std::chrono::microseconds(100);
    response.first_text = std::chrono::microseconds(200);
    response.total = std::chrono::microseconds(3000);
    response.attempts = 2;
    response.raw_request = dumpJson(toJson(call.request));
    response.raw_response = "data: {\"delta\":\"Use\"}\n\ndata: {\"delta\":\" `nccl\"}\n\n";
    call.result = std::move(response);
    call.cost_usd = 0.25;
    call.cost_source = "list price of 2025-12-01";
    return call;
}

LlmCall failedCall()
{
    LlmCall call = someCall();
    ChatError error;
    error.kind = ChatErrorKind::rate_limit;
    error.error = {"The provider wants fewer requests", "https://api", "Wait."};
    error.http_status = 429;
    error.retryable = true;
    error.retry_after = std::chrono::milliseconds(1500);
    error.partial.stop_reason = StopReason::unfinished;
    error.partial.raw_request = call.result->raw_request;
    error.partial.raw_response = "{\"error\":\"slow_down_please\"}";
    call.result = std::unexpected(error);
    call.cost_usd.reset();
    call.cost_source.clear();
    return call;
}

class LlmStoreTest : public ::testing::Test {
protected:
    std::unique_ptr<RunFile> create()
    {
        auto file = RunFile::create(path, {});
        EXPECT_TRUE(file) << describe(file.error());
        return std::move(*file);
    }
    std::unique_ptr<RunFile> open(RunFile::Access access = RunFile::Access::read)
    {
        auto file = RunFile::open(path, access);
        EXPECT_TRUE(file) << describe(file.error());
        return std::move(*file);
    }
    void sql(const std::string& statement) { testing::sql(path, statement); }
    /// As the program before format 2 left it.
    void makeFormat1()
    {
        sql("DROP TABLE remeasurements; DROP TABLE environments; DROP TABLE llm_calls; DROP TABLE text_pieces; "
            "DROP TABLE text_blocks; DROP TABLE proposed_texts; PRAGMA user_version = 1");
    }

    TemporaryFolder folder;
    std::filesystem::path path = folder / "run.cuco";
};

TEST_F(LlmStoreTest, ReadsBackEachCallAsItWasWritten)
{
    std::vector<LlmCall> calls{someCall(), failedCall(), someCall("\xff\x01 not UTF-8", "")};
    calls[2].result->raw_request =
        "with a \x01"
        "0\x01 mark of its own";
    calls[2].result->raw_response.clear();
    {
        auto file = create();
        AgentStep step;
        step.agent = "slow path";
        calls[0].step = file->addSteps({step}).value().front().id;
        for (std::size_t i = 0; i < calls.size(); ++i)
            EXPECT_EQ(file->addLlmCall(calls[i]).value(), static_cast<int>(i) + 1);
    }
    auto file = open();
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto read = file->llmCall(static_cast<int>(i) + 1);
        ASSERT_TRUE(read) << describe(read.error());
        EXPECT_TRUE(dumpJson(toJson(*read)) == dumpJson(toJson(calls[i]))) << "call " << i + 1;
        EXPECT_TRUE(answerOf(read->result).raw_request == answerOf(calls[i].result).raw_request) << "call " << i + 1;
        EXPECT_EQ(read->request.messages[0].text, calls[i].request.messages[0].text);
    }
    EXPECT_THAT(file->llmCall(4).error().what, HasSubstr("no call 4"));
}

TEST_F(LlmStoreTest, SummarisesCallsWithoutTheirTexts)
{
    auto file = create();
    ASSERT_TRUE(file->addLlmCall(someCall()));
    ASSERT_TRUE(file->addLlmCall(failedCall()));
    const auto calls = file->llmCalls().value();
    ASSERT_EQ(calls.size(), 2u);
    EXPECT_EQ(calls[0].id, 1);
    EXPECT_EQ(calls[0].model, "claude-x");
    EXPECT_EQ(calls[0].response_model, "claude-x-1");
    EXPECT_EQ(calls[0].candidate_id, "c7");
    EXPECT_EQ(calls[0].usage.cache_write, 7);
    EXPECT_TRUE(calls[0].usage.reported);
    EXPECT_EQ(calls[0].cost_usd, 0.25);
    EXPECT_EQ(calls[0].total.count(), 3000);
    EXPECT_EQ(calls[0].attempts, 2);
    EXPECT_FALSE(calls[0].error_kind);
    EXPECT_EQ(calls[1].error_kind, ChatErrorKind::rate_limit);
    EXPECT_THAT(calls[1].error, HasSubstr("fewer requests"));
    EXPECT_FALSE(calls[1].cost_usd);
    LlmTotals totals = totalsOf(calls[0]);
    totals += totalsOf(calls[1]);
    EXPECT_EQ(totals.calls, 2);
    EXPECT_EQ(totals.failed, 1);
    EXPECT_EQ(totals.input_tokens, 32);
    EXPECT_EQ(totals.unpriced, 1);
}

TEST_F(LlmStoreTest, FindsPartsOfWordsInMessagesAnswersAndErrors)
{
    auto file = create();
    ASSERT_TRUE(file->addLlmCall(someCall(lines(2, 500) + "the RingAttention_kernel\n" + lines(3, 500))));
    ASSERT_TRUE(file->addLlmCall(someCall("Second", "with an Answer of its own")));
    ASSERT_TRUE(file->addLlmCall(failedCall()));
    const auto find = [&](const std::string& text) { return file->searchLlmCalls(text).value(); };
    EXPECT_THAT(find("gattention_KER"), ElementsAre(1));
    EXPECT_THAT(find("an answer OF"), ElementsAre(2));
    EXPECT_THAT(find("fewer requests"), ElementsAre(3));
    EXPECT_THAT(find("slow_down"), ElementsAre(3));
    EXPECT_THAT(find("tile_"), ElementsAre(1, 2, 3));  // the system text, stored once
    EXPECT_THAT(find("no such text"), IsEmpty());
}

TEST_F(LlmStoreTest, StoresOnceWhatComesAgain)
{
    const auto bytesOf = [&](int calls) {
        std::filesystem::remove(path);
        {
            auto file = create();
            std::string prompt = lines(5, 1000);
            for (int i = 0; i < calls; ++i) {
                prompt.replace(prompt.find('\n', prompt.size() / 2) + 1, 0, fmt::format("// change {}\n", i));
                EXPECT_TRUE(file->addLlmCall(someCall(prompt)));
            }
        }
        return std::filesystem::file_size(path);
    };
    const auto one = bytesOf(1), fifty = bytesOf(51);
    EXPECT_LT(fifty - one, 50 * 12'000) << "of 50 prompts of " << lines(5, 1000).size() << " bytes";
}

TEST_F(LlmStoreTest, CutsTextsAtLinesThatAnInsertionDoesNotMove)
{
    const std::string text = lines(6, 2000);
    const auto pieces = cutIntoPieces(text);
    std::string joined;
    for (const TextPiece& piece : pieces) {
        joined += piece.text;
        EXPECT_EQ(piece.text.back(), '\n');
    }
    EXPECT_TRUE(joined == text);
    EXPECT_GT(pieces.size(), 8u);
    const std::string changed = "// one more line\n" + text;
    const auto others = cutIntoPieces(changed);
    EXPECT_EQ(others.back().text, pieces.back().text);
    EXPECT_EQ(others.back().sha256, pieces.back().sha256);
    EXPECT_THAT(cutIntoPieces(""), IsEmpty());
    EXPECT_THAT(cutIntoPieces("no end"), ElementsAre(::testing::Field(&TextPiece::text, "no end")));
}

TEST(TextSearchTest, FindsWhatAPlainSearchOfTheLowerCaseTextFinds)
{
    std::mt19937 random(7);
    const auto word = [&](std::size_t most) {
        std::string text(random() % most, ' ');
        for (char& c : text)
            c = "aAbB_1"[random() % 6];
        return text;
    };
    const auto lower = [](std::string text) {
        for (char& c : text)
            c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return text;
    };
    for (int i = 0; i < 20'000; ++i) {
        const std::string in = word(i % 100 == 0 ? 10'000 : 40), what = word(6);
        const std::size_t from = random() % (in.size() + 2);
        ASSERT_EQ(TextSearch(what).find(in, from), lower(in).find(lower(what), from)) << in << " / " << what;
    }
}

TEST_F(LlmStoreTest, ReadsAnOlderFileWithoutChangingItAndWritesItInTheNewFormat)
{
    create();
    makeFormat1();
    const std::string before = readText(path);
    auto reader = open();
    EXPECT_TRUE(reader->snapshot());
    EXPECT_THAT(reader->llmCalls().value(), IsEmpty());
    EXPECT_THAT(reader->searchLlmCalls("x").value(), IsEmpty());
    EXPECT_THAT(reader->llmRecording().value(), IsEmpty());
    EXPECT_FALSE(reader->llmCall(1));
    EXPECT_EQ(readText(path), before);
    auto writer = open(RunFile::Access::write);
    ASSERT_TRUE(writer->addLlmCall(someCall()));
    EXPECT_EQ(reader->llmCalls().value().size(), 1u) << "the reader that was there before";
}

TEST_F(LlmStoreTest, KeepsACallWhoseStepIsNotThere)
{
    auto file = create();
    LlmCall call = someCall();
    call.step = 99;
    ASSERT_TRUE(file->addLlmCall(call));
    EXPECT_EQ(file->llmCalls().value().front().step, 0);
}

TEST_F(LlmStoreTest, NumbersStepsThatComeBeforeTheirCandidate)
{
    auto file = create();
    AgentStep step;
    step.title = "Asks for a child";
    const int first = file->addSteps({step}).value().front().id;
    step.parent = first;
    EXPECT_EQ(file->addSteps({step, step}).value()[1].id, first + 2);
    step.parent = 50;
    EXPECT_FALSE(file->addSteps({step}));
    EXPECT_EQ(file->steps().value().size(), 3u);
}

TEST_F(LlmStoreTest, NamesTheCallThatIsDamaged)
{
    create()->addLlmCall(someCall()).value();
    const std::string whole = readText(path);
    for (const char* statement :
         {"UPDATE llm_calls SET texts = '[[1],[2]]'", "UPDATE llm_calls SET texts = '[[1],[1],[1],[1],[1],[777]]'",
          "UPDATE llm_calls SET document = '{}'", "UPDATE text_pieces SET offset = 1000000000",
          "UPDATE text_pieces SET bytes = -5", "UPDATE text_blocks SET zstd = x'00112233'",
          "UPDATE text_blocks SET bytes = 9223372036854775807",
          "UPDATE llm_calls SET texts = '[[1],[1],[1],[1],[1],[1],[1]]'"}) {
        testing::writeText(path, whole);
        sql(statement);
        auto file = open();
        EXPECT_TRUE(file->llmCalls()) << statement;
        const auto call = file->llmCall(1);
        ASSERT_FALSE(call) << statement;
        EXPECT_THAT(describe(call.error()), HasSubstr("all 1")) << statement;
        static_cast<void>(file->searchLlmCalls("tile_"));
    }
    for (const char* statement : {"UPDATE llm_calls SET stop_reason = 'tired'", "UPDATE llm_calls SET attempts = -1",
                                  "UPDATE llm_calls SET input_tokens = 9223372036854775807"}) {
        testing::writeText(path, whole);
        sql(statement);
        EXPECT_THAT(open()->llmCalls().error().what, HasSubstr("call 1")) << statement;
    }
}

TEST_F(LlmStoreTest, IsNoBombWhenOneTextRepeatsALargePieceManyTimes)
{
    create()->addLlmCall(someCall(std::string(8 << 20, 'x'))).value();
    sql("UPDATE llm_calls SET texts = (SELECT '[[],[' || substr(replace(hex(zeroblob(1000)), '00', id || ','), 1, 1000 "
        "* (length(id) + 1) - 1) || '],[],[],[],[]]' FROM text_pieces ORDER BY bytes DESC LIMIT 1)");
    const auto call = open()->llmCall(1);
    ASSERT_FALSE(call);
    EXPECT_THAT(call.error().what, HasSubstr("256 MiB"));
}

TEST_F(LlmStoreTest, AnswersAnsweredCallsAgain)
{
    auto file = create();
    file->addLlmCall(someCall()).value();
    file->addLlmCall(failedCall()).value();
    ReplayClient replay(file->llmRecording().value(), ReplayClient::Order::recorded);
    const auto answer = replay.complete(someCall().request, {});
    ASSERT_TRUE(answer) << describe(answer.error().error);
    EXPECT_EQ(answer->text, "Use `ncclPutSignal`.");
    EXPECT_EQ(answer->usage.output, 9);
    const auto error = replay.complete(failedCall().request, {});
    ASSERT_FALSE(error);
    EXPECT_EQ(error.error().kind, ChatErrorKind::rate_limit);
    EXPECT_EQ(replay.complete(someCall().request, {}).error().kind, ChatErrorKind::not_recorded);
}

/// Answers in two pieces, and kills the process when the caller has the answer.
class ScriptedClient final : public ChatClient {
public:
    std::function<ChatResult(const CallControl&)> script;
    std::string provider() const override { return "scripted"; }
    ChatResult complete(const ChatRequest&, const CallControl& control) override { return script(control); }
};

ChatResult answerInTwoPieces(const CallControl& control)
{
    control.on_text("Hello, ");
    control.on_text("node");
    ChatResponse response;
    response.text = "Hello, node";
    response.stop_reason = StopReason::finished;
    response.usage = {10, 2, 0, 0, 0, true};
    return response;
}

TEST_F(LlmStoreTest, TracesACallFromItsStartToItsStoredEnd)
{
    auto file = create();
    std::vector<RunEvent> events;
    RunTrace trace(*file, [&](const RunEvent& event) { events.push_back(event); });
    ScriptedClient client;
    client.script = answerInTwoPieces;
    AgentStep step;
    step.agent = "judge";
    step.candidate_id = "c3";
    const int id = trace.addStep(step).value();
    ModelPrices prices;
    prices.add({"scripted", "*", 1'000'000, 1'000'000, 0, 0, 0, "user"});
    std::string heard;
    CallControl control;
    control.on_text = [&](std::string_view piece) { heard += piece; };
    ASSERT_TRUE(TracedClient(client, trace, prices, {"judge", id, "c3"}).complete(someCall().request, control));
    EXPECT_EQ(heard, "Hello, node");

    ASSERT_EQ(events.size(), 5u);
    EXPECT_GT(std::get<StepsAdded>(events[0]).steps[0].time_ms, 0);
    const auto& started = std::get<LlmCallStarted>(events[1]);
    EXPECT_EQ(started.origin.step, id);
    EXPECT_EQ(started.model, "claude-x");
    EXPECT_EQ(std::get<LlmText>(events[2]).text, "Hello, ");
    EXPECT_EQ(std::get<LlmText>(events[3]).running, started.running);
    const auto& ended = std::get<LlmCallEnded>(events[4]);
    EXPECT_EQ(ended.running, started.running);
    EXPECT_EQ(ended.summary.id, 1);
    EXPECT_EQ(ended.summary.step, id);
    EXPECT_EQ(ended.summary.cost_usd, 12);
    EXPECT_EQ(file->llmCall(1).value().result->text, "Hello, node");
}

TEST_F(LlmStoreTest, StoresErrorsCancelledAndAbandonedCallsOnceEach)
{
    auto file = create();
    RunTrace trace(*file, [](const RunEvent&) {});
    ScriptedClient client;
    const ModelPrices prices;
    TracedClient traced(client, trace, prices, {"judge", 0, ""});
    client.script = [](const CallControl&) -> ChatResult { return failedCall().result; };
    EXPECT_FALSE(traced.complete(someCall().request, {}));
    client.script = [](const CallControl& control) -> ChatResult {
        control.on_text("Hel");
        ChatError error = cancelledError();
        error.partial.text = "Hel";
        return std::unexpected(error);
    };
    EXPECT_FALSE(traced.complete(someCall().request, {}));
    client.script = answerInTwoPieces;
    CallControl control;
    control.on_text = [](std::string_view) { throw std::runtime_error("no more"); };
    EXPECT_THROW(static_cast<void>(traced.complete(someCall().request, control)), std::runtime_error);
    const auto calls = file->llmCalls().value();
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_EQ(calls[0].error_kind, ChatErrorKind::rate_limit);
    EXPECT_EQ(calls[1].error_kind, ChatErrorKind::cancelled);
    EXPECT_EQ(calls[2].error_kind, ChatErrorKind::cut);
    EXPECT_EQ(file->llmCall(2).value().result.error().partial.text, "Hel");
    EXPECT_EQ(file->llmCall(3).value().result.error().partial.text, "Hello, ");
}

TEST_F(LlmStoreTest, HasAPaidAnswerWhenTheProgramIsKilledRightAfterIt)
{
    create();
    const pid_t child = ::fork();
    if (child == 0) {
        auto file = RunFile::open(path, RunFile::Access::write);
        RunTrace trace(**file, [](const RunEvent&) {});
        ScriptedClient client;
        client.script = answerInTwoPieces;
        const ModelPrices prices;
        const auto result = TracedClient(client, trace, prices, {"judge", 0, ""}).complete(someCall().request, {});
        ::kill(::getpid(), SIGKILL);
        ::_exit(result ? 1 : 2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(open()->llmCall(1).value().result->text, "Hello, node");
}

TEST_F(LlmStoreTest, GivesTheAnswerOnAndReportsItWhenItCannotBeStored)
{
    create();
    auto reader = open();
    std::vector<RunEvent> events;
    RunTrace trace(*reader, [&](const RunEvent& event) { events.push_back(event); });
    ScriptedClient client;
    client.script = answerInTwoPieces;
    const ModelPrices prices;
    EXPECT_TRUE(TracedClient(client, trace, prices, {"judge", 0, ""}).complete(someCall().request, {}));
    ASSERT_GE(events.size(), 2u);
    EXPECT_EQ(std::get<Logged>(events[events.size() - 2]).entry.level, "error");
    EXPECT_EQ(std::get<LlmCallEnded>(events.back()).summary.id, 0);
}

}  // namespace
}  // namespace cuco
