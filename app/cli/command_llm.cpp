// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "core/base/files.h"
#include "core/run/otlp_export.h"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path file, out;
    std::string format = "otlp";
    int id = 0;
    bool json = false, with_content = false;
};

std::string formatCost(const std::optional<double>& cost_usd)
{
    return cost_usd ? fmt::format("{:.4f}", *cost_usd) : "–";
}

nlohmann::json toDocument(const LlmCallSummary& call)
{
    return {{"id", call.id},
            {"step", call.step},
            {"candidate", call.candidate_id},
            {"agent", call.agent},
            {"provider", call.provider},
            {"model", call.model},
            {"started_ms", call.started_ms},
            {"first_text_us", call.first_text.count()},
            {"total_us", call.total.count()},
            {"attempts", call.attempts},
            {"input_tokens", call.usage.input},
            {"output_tokens", call.usage.output},
            {"cache_read_tokens", call.usage.cache_read},
            {"cache_write_tokens", call.usage.cache_write},
            {"reasoning_tokens", call.usage.reasoning},
            {"usage_reported", call.usage.reported},
            {"cost_usd", call.cost_usd ? nlohmann::json(*call.cost_usd) : nlohmann::json(nullptr)},
            {"cost_source", call.cost_source},
            {"stop_reason", toString(call.stop_reason)},
            {"error_kind", call.error_kind ? nlohmann::json(toString(*call.error_kind)) : nlohmann::json(nullptr)},
            {"error", call.error}};
}

int exportCalls(const Options& options)
{
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    const auto document = toOtlp(**file, {options.with_content});
    if (!document)
        return reportError(document.error());
    if (auto written = writeFileAtomically(options.out, dumpJson(*document)); !written)
        return reportError(written.error());
    return exit_success;
}

int listCalls(const Options& options)
{
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    const auto calls = (*file)->llmCalls();
    if (!calls)
        return reportError(calls.error());
    if (options.json) {
        nlohmann::json list = nlohmann::json::array();
        for (const LlmCallSummary& call : *calls)
            list.push_back(toDocument(call));
        printJson({{"calls", std::move(list)}});
        return exit_success;
    }
    std::vector<std::vector<std::string>> rows{
        {"id", "candidate", "agent", "model", "input", "output", "USD", "seconds", "ended"}};
    LlmTotals sum;
    for (const LlmCallSummary& call : *calls) {
        const LlmTotals one = totalsOf(call);
        sum += one;
        rows.push_back({std::to_string(call.id), call.candidate_id, call.agent, call.model,
                        std::to_string(one.input_tokens), std::to_string(one.output_tokens), formatCost(call.cost_usd),
                        fmt::format("{:.1f}", static_cast<double>(call.total.count()) / 1e6),
                        toString(call.stop_reason) + (call.error_kind ? ": " + toString(*call.error_kind) : "")});
    }
    printTable(rows);
    fmt::print("\n{} call{}, {} failed, {} input and {} output tokens, ${:.4f}{}\n", sum.calls,
               sum.calls == 1 ? "" : "s", sum.failed, sum.input_tokens, sum.output_tokens, sum.cost_usd,
               sum.unpriced > 0 ? fmt::format(" and {} calls whose cost is not known", sum.unpriced) : "");
    return exit_success;
}

int showCall(const Options& options)
{
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    const auto call = (*file)->llmCall(options.id);
    if (!call)
        return reportUsage(describe(call.error()));
    if (options.json) {
        printJson(toJson(*call));
        return exit_success;
    }
    const auto section = [](const std::string& name, const std::string& text) {
        fmt::print("=== {}\n{}{}", name, text, text.ends_with('\n') ? "" : "\n");
    };
    fmt::print("{} {} ({})\n", call->agent, call->request.model, call->provider);
    if (!call->request.system.empty())
        section("system", call->request.system);
    for (const ChatMessage& message : call->request.messages)
        section(toString(message.role), message.text);
    const ChatResponse& answer = answerOf(call->result);
    if (call->result || !answer.text.empty())
        section("answer", answer.text);
    if (!call->result)
        section("error", describe(call->result.error().error));
    return exit_success;
}

}  // namespace

void addLlmCommand(CLI::App& app, Session& session)
{
    auto* llm = app.add_subcommand("llm", "Calls of language models");
    llm->require_subcommand(1);
    auto options = std::make_shared<Options>();
    const auto add = [&](const char* name, const char* help, int (*perform)(const Options&)) {
        auto* command = llm->add_subcommand(name, help);
        command->add_option("FILE.cuco", options->file, "The run")->required();
        command->callback([&session, options, perform] { session.exit_code = perform(*options); });
        return command;
    };
    auto* exporting = add("export", "Write the calls for another program", exportCalls);
    exporting->add_option("--format", options->format, "otlp: spans of OpenTelemetry, as JSON")
        ->check(CLI::IsMember({"otlp"}));
    exporting->add_option("--out", options->out, "The file to write")->required();
    exporting->add_flag("--with-content", options->with_content, "Prompts and answers too");
    add("list", "List the calls", listCalls)->add_flag("--json", options->json, "As one JSON document");
    auto* show = add("show", "Print what was asked and answered", showCall);
    show->add_option("ID", options->id, "The call's number")->required();
    show->add_flag("--json", options->json, "As one JSON document, with the raw bodies");
}

}  // namespace cuco::cli
