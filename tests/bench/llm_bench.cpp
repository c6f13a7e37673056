// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a call costs beyond the server: a loopback server answers at once, so that all of the time is that of the client
// and the socket; exchangeAlone is the part of HTTP.
#include "core/llm/anthropic_client.h"
#include "core/llm/openai_client.h"
#include "tests/support/loopback_server.h"

#include <benchmark/benchmark.h>

#include <cstdlib>

namespace cuco {
namespace {

using testing::LoopbackConnection;
using testing::LoopbackServer;

constexpr int deltas = 200;

const std::string& anthropicStream()
{
    static const std::string text = [] {
        std::string events = "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1}}}\n\n";
        for (int i = 0; i < deltas; ++i)
            events +=
                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
                "{\"type\":\"text_delta\",\"text\":\"cudaStream\"}}\n\n";
        return events +
               "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
               "{\"output_tokens\":200}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
    }();
    return text;
}

ChatRequest requestOf(std::int64_t prompt_bytes, bool stream)
{
    ChatRequest request;
    request.model = "m";
    request.messages = {{.text = std::string(static_cast<std::size_t>(prompt_bytes), 'x')}};
    request.stream = stream;
    return request;
}

void call(benchmark::State& state, ChatClient& client, const ChatRequest& request)
{
    for ([[maybe_unused]] auto iteration : state) {
        if (const auto result = client.complete(request, {}); !result) {
            state.SkipWithError(describe(result.error().error).c_str());
            break;
        }
    }
}

ChatServer server(const LoopbackServer& loopback)
{
    ::setenv("no_proxy", "127.0.0.1", 1);
    return {loopback.url(), "", {}};
}

void anthropicStreamed(benchmark::State& state)
{
    const LoopbackServer loopback({testing::stream({anthropicStream()})});
    AnthropicClient client(server(loopback));
    call(state, client, requestOf(state.range(0), true));
}

void openAiWhole(benchmark::State& state)
{
    const LoopbackServer loopback({testing::answer(
        200, R"({"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}})")});
    OpenAiClient client({.server = server(loopback)});
    call(state, client, requestOf(state.range(0), false));
}

/// The transport alone: the same prompt and answer, of which nothing is understood.
void exchangeAlone(benchmark::State& state)
{
    const LoopbackServer loopback({testing::stream({anthropicStream()})});
    HttpTransport transport;
    HttpRequest request;
    request.url = server(loopback).base_url;
    request.body = std::string(static_cast<std::size_t>(state.range(0)), 'x');
    for ([[maybe_unused]] auto iteration : state)
        benchmark::DoNotOptimize(transport.post(request, {}, {}, std::nullopt));
}

BENCHMARK(exchangeAlone)->Arg(1 << 10)->Arg(100 << 10)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(anthropicStreamed)->Arg(1 << 10)->Arg(100 << 10)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(openAiWhole)->Arg(1 << 10)->Arg(100 << 10)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace cuco

BENCHMARK_MAIN();
