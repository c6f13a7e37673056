// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/anthropic_client.h"
#include "core/llm/openai_client.h"
#include "core/llm/retrying_client.h"
#include "core/run/otlp_export.h"
#include "core/run/run_trace.h"
#include "tests/support/loopback_server.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <csignal>

namespace cuco {
namespace {

using testing::answer;
using testing::LoopbackConnection;
using testing::LoopbackServer;
using testing::stream;

constexpr const char* planted_key = "sk-planted-in-a-run-91c04e";
constexpr const char* key_variable = "CUCO_TEST_SECRET_KEY";

/// A server that tells the client its own key, as some do in their errors.
std::string echo(const std::string& text)
{
    return R"({"error":{"type":"authentication_error","message":")" + text + " " + planted_key + "\"}}";
}

TEST(LlmSecret, IsInNoByteOfAnyFileOfARun)
{
    ::setenv(key_variable, planted_key, 1);
    ::setenv("no_proxy", "localhost,127.0.0.1", 1);
    std::signal(SIGPIPE, SIG_IGN);
    const std::string begin =
        "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":2}}}\n\n";
    const auto text = [](const std::string& piece) {
        return "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" +
               piece + "\"}}\n\n";
    };
    const std::string end =
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}"
        "\n\ndata: {\"type\":\"message_stop\"}\n\n";
    const LoopbackServer server({stream({begin, text("Hello"), end}), answer(401, echo("wrong key")),
                                 stream({begin, text("cut")}, false), answer(429, echo("too many")),
                                 answer(500, echo("broken")), answer(200, "no JSON " + std::string(planted_key))});
    const testing::TemporaryFolder folder;
    const auto path = folder / "run.cuco";
    {
        auto file = RunFile::create(path, {});
        ASSERT_TRUE(file) << describe(file.error());
        RunTrace trace(**file, [&](const RunEvent& event) {
            if (const auto* logged = std::get_if<Logged>(&event))
                static_cast<void>((*file)->addLog(logged->entry));
            if (const auto* ended = std::get_if<LlmCallEnded>(&event))
                static_cast<void>((*file)->addLog({1, "info", "A call ended. " + ended->summary.error}));
        });
        HttpLimits limits;
        limits.total = std::chrono::seconds(5);
        AnthropicClient client({server.url(), key_variable, limits});
        const ModelPrices prices;
        AgentStep step;
        step.agent = "judge";
        const int step_id = trace.addStep(step).value();
        TracedClient traced(client, trace, prices, {"judge", step_id, "c1"});
        ChatRequest request;
        request.model = "m";
        request.messages = {{.text = "Say hello."}};
        for (int call = 0; call < 6; ++call)
            static_cast<void>(traced.complete(request, {}));
        EXPECT_EQ(testing::readText(path.string() + "-wal").find(planted_key), std::string::npos);
    }
    for (const std::string& request : server.requests())
        EXPECT_NE(request.find(planted_key), std::string::npos) << "the client did send it";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
        EXPECT_EQ(testing::readText(entry.path()).find(planted_key), std::string::npos) << entry.path();

    // What is compressed in them.
    auto file = RunFile::open(path, RunFile::Access::read);
    ASSERT_TRUE(file) << describe(file.error());
    const auto calls = (*file)->llmCalls().value();
    ASSERT_EQ(calls.size(), 6u);
    EXPECT_FALSE(calls[0].error_kind);
    EXPECT_EQ(calls[1].error_kind, ChatErrorKind::wrong_key);
    EXPECT_EQ(calls[2].error_kind, ChatErrorKind::cut);
    for (const LlmCallSummary& call : calls) {
        const auto whole = (*file)->llmCall(call.id);
        ASSERT_TRUE(whole) << describe(whole.error());
        EXPECT_FALSE(answerOf(whole->result).raw_request.empty());
        EXPECT_FALSE(answerOf(whole->result).raw_response.empty());
        EXPECT_EQ(dumpJson(toJson(*whole)).find(planted_key), std::string::npos) << "call " << call.id;
    }
    EXPECT_TRUE((*file)->searchLlmCalls("planted-in-a-run").value().empty());
    EXPECT_EQ(dumpJson(toOtlp(**file, {.with_content = true}).value()).find(planted_key), std::string::npos);
    ::unsetenv(key_variable);
}

}  // namespace
}  // namespace cuco
