// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/recording.h"

#include "core/base/json.h"
#include "core/llm/llm_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuco {

nlohmann::json toJson(const Recording& recording)
{
    nlohmann::json answers = nlohmann::json::array();
    for (const RecordedAnswer& recorded : recording) {
        nlohmann::json answer = {{"request_sha256", recorded.request_sha256}, {"provider", recorded.provider}};
        if (recorded.result)
            answer["response"] = toJson(*recorded.result);
        else
            answer["error"] = toJson(recorded.result.error());
        answers.push_back(std::move(answer));
    }
    return {{"format", 1}, {"answers", std::move(answers)}};
}

Result<Recording> recordingFromJson(const nlohmann::json& json, const std::string& where)
{
    int format = 0;
    JsonReader reader(json, where);
    reader.required("format", format);
    const nlohmann::json* answers = reader.array("answers");
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    if (format != 1)
        return failure(fmt::format("The recording has the format {}, which is not known.", format), where,
                       "Open it with a newer version of the program.");
    Recording recording;
    for (const nlohmann::json& answer : *answers) {
        RecordedAnswer recorded{{}, {}, ChatResponse{}};
        JsonReader fields(answer, where, fmt::format("answers[{}]", recording.size()));
        fields.required("request_sha256", recorded.request_sha256).optional("provider", recorded.provider);
        if (auto done = fields.finish(); !done)
            return std::unexpected(done.error());
        Result<void> read;
        if (fields.present("error")) {
            ChatError error;
            read = readError(answer["error"], where, error);
            recorded.result = std::unexpected(std::move(error));
        } else if (const nlohmann::json* response = fields.object("response")) {
            read = readAnswer(*response, where, *recorded.result);
        } else {
            read = fields.finish();
        }
        if (!read)
            return std::unexpected(read.error());
        recording.push_back(std::move(recorded));
    }
    return recording;
}

ChatResult RecordingClient::complete(const ChatRequest& request, const CallControl& control)
{
    ChatResult result = inner_->complete(request, control);
    RecordedAnswer recorded{requestSha256(request), inner_->provider(), result};
    const std::scoped_lock lock(mutex_);
    recording_.push_back(std::move(recorded));
    return result;
}

Recording RecordingClient::recording() const
{
    const std::scoped_lock lock(mutex_);
    return recording_;
}

std::optional<std::size_t> ReplayClient::take(const std::string& sha256)
{
    const std::scoped_lock lock(mutex_);
    if (order_ == Order::recorded) {
        if (next_ >= recording_.size() || recording_[next_].request_sha256 != sha256)
            return std::nullopt;
        return next_++;
    }
    std::size_t& next = next_of_request_[sha256];
    while (next < recording_.size() && recording_[next].request_sha256 != sha256)
        ++next;
    return next < recording_.size() ? std::optional(next++) : std::nullopt;
}

ChatResult ReplayClient::complete(const ChatRequest& request, const CallControl& control)
{
    if (control.stop.stop_requested())
        return std::unexpected(cancelledError());
    const std::string sha256 = requestSha256(request);
    const auto index = take(sha256);
    if (!index) {
        ChatError error;
        error.kind = ChatErrorKind::not_recorded;
        error.error = {fmt::format("The recording has no further answer to the request {}.", sha256.substr(0, 12)),
                       {},
                       "Replay with the settings, prompts and program version of the "
                       "recording, or record anew."};
        return std::unexpected(std::move(error));
    }
    const ChatResult& result = recording_[*index].result;
    if (result && control.on_text)
        control.on_text(result->text);
    return result;
}

}  // namespace cuco
