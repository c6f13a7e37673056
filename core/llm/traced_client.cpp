// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/traced_client.h"

#include "core/base/clock.h"

namespace cuco {

namespace {

/// What is kept of a call that left by an exception.
ChatError abandonedError(std::string text)
{
    ChatError error;
    error.kind = ChatErrorKind::cut;
    error.error = {"The call was abandoned before its answer had ended", {}, {}};
    error.billable = true;
    error.partial.text = std::move(text);
    return error;
}

}  // namespace

ChatResult TracedClient::complete(const ChatRequest& request, const CallControl& control)
{
    const std::int64_t started_ms = unixTimeMs();
    const std::string provider = inner_->provider();
    const int running = sink_->callStarted(origin_, provider, request.model, started_ms);
    std::string text;
    const auto end = [&](const ChatResult& result) {
        LlmCall call = makeLlmCall(request, result, provider, prices_->find(provider, request.model), started_ms);
        call.agent = origin_.agent;
        call.step = origin_.step;
        call.candidate_id = origin_.candidate_id;
        call.request_sha256 = origin_.request_sha256;
        sink_->callEnded(running, std::move(call));
    };
    CallControl traced = control;
    traced.on_text = [&](std::string_view piece) {
        text += piece;
        sink_->callText(running, piece);
        if (control.on_text)
            control.on_text(piece);
    };
    ChatResult result{};
    try {
        result = inner_->complete(request, traced);
    } catch (...) {
        end(std::unexpected(abandonedError(std::move(text))));
        throw;
    }
    end(result);
    return result;
}

}  // namespace cuco
