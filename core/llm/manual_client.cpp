// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/manual_client.h"

#include "core/base/files.h"
#include "core/base/unique_fd.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace cuco {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t most_answer_bytes = 10u << 20;
constexpr int most_prompts = 1'000'000;

ChatError folderError(const Error& error)
{
    ChatError failed;
    failed.kind = ChatErrorKind::program;
    failed.error = error;
    if (failed.error.remedy.empty())
        failed.error.remedy = "Choose a folder that exists and may be written to.";
    return failed;
}

/// Takes the first number that no prompt has, for several threads and processes
/// at once.
Result<fs::path> writePrompt(const fs::path& folder, const std::string& text)
{
    for (int number = 1; number < most_prompts; ++number) {
        const fs::path path = folder / fmt::format("{:04}.prompt.md", number);
        const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file.open() && errno == EEXIST)
            continue;
        if (!file.open())
            return failure(fmt::format("The prompt cannot be written: {}.", std::generic_category().message(errno)),
                           path.string());
        if (auto written = writeFileAtomically(path, text); !written)
            return std::unexpected(written.error());
        return path;
    }
    return failure("The folder is full of prompts.", folder.string(), "Choose an empty folder.");
}

void finish(ChatResponse& response, std::string text, Clock::time_point start, const CallControl& control)
{
    response.text = response.raw_response = std::move(text);
    response.stop_reason = StopReason::finished;
    response.first_byte = response.first_text = response.total =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
    if (control.on_text)
        control.on_text(response.text);
}

ChatError unanswered(ChatErrorKind kind, Error error, ChatResponse partial)
{
    ChatError failed;
    failed.kind = kind;
    failed.error = std::move(error);
    failed.partial = std::move(partial);
    return failed;
}

}  // namespace

std::string promptText(const ChatRequest& request)
{
    std::string text;
    if (!request.system.empty())
        text += "# system\n\n" + request.system + "\n\n";
    for (const ChatMessage& message : request.messages)
        text += fmt::format("# {}\n\n{}\n\n", toString(message.role), message.text);
    return text;
}

ChatResult ManualClient::complete(const ChatRequest& request, const CallControl& control)
{
    const auto start = Clock::now();
    const auto end = control.deadline.value_or(start + settings_.patience);
    ChatResponse response;
    response.raw_request = promptText(request);
    const auto prompt = writePrompt(settings_.folder, response.raw_request);
    if (!prompt)
        return std::unexpected(folderError(prompt.error()));
    std::string stem = prompt->filename().string();
    stem.resize(stem.find('.'));
    const fs::path answer = settings_.folder / (stem + ".answer.md");

    std::string seen;
    while (true) {
        if (!sleepUntil(std::min(end, Clock::now() + settings_.look_every), control.stop))
            return std::unexpected(cancelledError());
        std::error_code ignored;
        if (fs::exists(answer, ignored)) {
            auto text = readFile(answer, most_answer_bytes);
            if (!text)
                return std::unexpected(folderError(text.error()));
            if (!text->empty() && *text == seen)
                break;
            seen = std::move(*text);
        }
        if (Clock::now() >= end) {
            Error error{"Nobody has answered the prompt in time.", prompt->string(),
                        fmt::format("Write the answer to {} and start again.", answer.filename().string())};
            return std::unexpected(unanswered(ChatErrorKind::deadline, std::move(error), std::move(response)));
        }
    }
    finish(response, std::move(seen), start, control);
    return response;
}

ChatResult ExchangeClient::complete(const ChatRequest& request, const CallControl& control)
{
    const auto start = Clock::now();
    ChatResponse response;
    response.raw_request = promptText(request);
    auto outcome = exchange_->ask(response.raw_request, control.stop, control.deadline.value_or(start + patience_));
    switch (outcome.end) {
        case ManualExchange::End::answered:
            break;
        case ManualExchange::End::stopped:
            return std::unexpected(cancelledError());
        case ManualExchange::End::given_up:
            return std::unexpected(
                unanswered(ChatErrorKind::cancelled,
                           {"The prompt was left without an answer.", {}, "Continue the run to be asked again."},
                           std::move(response)));
        case ManualExchange::End::late:
            return std::unexpected(
                unanswered(ChatErrorKind::deadline,
                           {"Nobody has answered the prompt in time.", {}, "Continue the run to be asked again."},
                           std::move(response)));
    }
    finish(response, std::move(outcome.text), start, control);
    return response;
}

}  // namespace cuco
