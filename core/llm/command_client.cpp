// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/command_client.h"

#include "core/base/json.h"
#include "core/base/subprocess.h"
#include "core/llm/llm_json.h"
#include "core/llm/secret.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace cuco {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_log = 600;

ChatError programError(ChatErrorKind kind, std::string what, const std::string& program, std::string remedy)
{
    ChatError error;
    error.kind = kind;
    error.error = {std::move(what), program, std::move(remedy)};
    return error;
}

std::optional<ChatError> failureOf(const CommandOutcome& outcome, const std::string& program, const std::string& err)
{
    if (outcome.cancelled)
        return cancelledError();
    if (outcome.timed_out)
        return programError(ChatErrorKind::deadline, "The program had not answered in time and was ended.", program,
                            "Allow more time, or ask for a shorter answer.");
    if (outcome.output_truncated)
        return programError(ChatErrorKind::too_large, "The program wrote more than is read.", program,
                            "It must write the answer and nothing else.");
    if (outcome.succeeded())
        return std::nullopt;
    const std::string end = outcome.signal != 0 ? fmt::format("was ended by signal {}", outcome.signal)
                                                : fmt::format("failed with exit code {}", outcome.exit_code);
    const std::string last = validUtf8(err.substr(err.size() - std::min(err.size(), longest_log)));
    return programError(ChatErrorKind::program,
                        fmt::format("The program {}{}", end, last.empty() ? "." : ". It said: " + last), program,
                        "Run it by hand with a request on its standard input.");
}

}  // namespace

ChatResult CommandClient::complete(const ChatRequest& request, const CallControl& control)
{
    if (settings_.argv.empty())
        return std::unexpected(programError(ChatErrorKind::bad_request, "No program is named.", {},
                                            "Name the program that answers, and its arguments."));
    if (control.stop.stop_requested())
        return std::unexpected(cancelledError());
    const std::string& program = settings_.argv.front();
    Command command;
    command.argv = settings_.argv;
    command.environment = scrubbedEnvironment();
    std::vector<Secret> secrets;
    for (const std::string& variable : settings_.pass_variables) {
        if (Secret value = Secret::fromEnvironment(variable); !value.empty()) {
            command.environment[variable] = value.reveal();
            secrets.push_back(std::move(value));
        }
    }
    command.input = dumpJson(toJson(request));
    command.limits.output_bytes = settings_.output_bytes;
    command.limits.wall = settings_.limit;
    if (control.deadline)
        command.limits.wall = std::max(std::chrono::milliseconds(1),
                                       std::chrono::ceil<std::chrono::milliseconds>(*control.deadline - Clock::now()));
    const auto redacted = [&secrets](std::string text) {
        for (const Secret& secret : secrets)
            text = secret.redact(text);
        return text;
    };

    const auto ran = runCommand(command, control.stop);
    if (!ran)
        return std::unexpected(
            programError(ChatErrorKind::program, ran.error().what, program, "Check the program's path."));
    ChatResponse response;
    response.raw_request = redacted(command.input);
    response.raw_response = redacted(ran->out);
    response.first_byte = response.first_text = response.total = ran->wall;
    const auto failed = [&response](ChatError error) {
        error.billable = true;  // a program may call a provider
        const StopReason reason = error.partial.stop_reason;
        error.partial = std::move(response);
        error.partial.stop_reason = reason;
        return std::unexpected(std::move(error));
    };
    if (auto error = failureOf(*ran, program, redacted(ran->err)))
        return failed(std::move(*error));
    if (settings_.json_answer) {
        const auto json = parseJson(response.raw_response, program);
        const Result<void> read =
            json ? readAnswer(*json, program, response) : Result<void>(std::unexpected(json.error()));
        if (!read)
            return failed(programError(ChatErrorKind::malformed, read.error().what, program,
                                       "It must write one JSON object with \"text\"."));
    } else {
        response.text = response.raw_response;
        response.stop_reason = StopReason::finished;
    }
    if (control.on_text)
        control.on_text(response.text);
    return response;
}

}  // namespace cuco
