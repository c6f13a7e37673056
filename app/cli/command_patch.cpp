// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "core/base/files.h"
#include "core/source/patch.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path original, response, candidate, out;
    bool json = false;
};

/// The file's text; otherwise nothing, and `exit_code` says why.
std::optional<std::string> textOf(const std::filesystem::path& path, int& exit_code)
{
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
        exit_code = reportUsage(fmt::format("There is no file {}.", path.string()));
        return {};
    }
    auto text = readFile(path);
    if (!text) {
        exit_code = reportError(text.error());
        return {};
    }
    return std::move(*text);
}

std::string describe(const std::filesystem::path& path, const SourceFault& fault)
{
    return fault.line > 0 ? fmt::format("{}:{}: {}", path.string(), fault.line, fault.message)
                          : fmt::format("{}: {}", path.string(), fault.message);
}

/// The source that patches are meant for. It is the user's to name one with whole markers.
std::optional<KernelSource> originalOf(const Options& options, int& exit_code)
{
    auto text = textOf(options.original, exit_code);
    if (!text) {
        return {};
    }
    auto source = KernelSource::parse(std::move(*text));
    if (!source) {
        exit_code = reportUsage(describe(options.original, source.error()));
        return {};
    }
    return std::move(*source);
}

/// What follows the words of the START marker; "block 1" where nothing does.
std::string nameOf(const KernelSource& source, std::size_t index)
{
    constexpr std::string_view marker = "EVOLVE-BLOCK-START";
    const std::string_view head = std::string_view(source.text()).substr(0, source.blocks()[index].begin);
    std::string_view name = head.substr(head.rfind(marker) + marker.size());
    name.remove_prefix(std::min(name.find_first_not_of(" \t\r\n"), name.size()));
    name = name.substr(0, name.find_last_not_of(" \t\r\n") + 1);
    return name.empty() ? fmt::format("block {}", index + 1) : std::string(name);
}

nlohmann::json toJson(const PatchFault& fault)
{
    return {{"kind", toString(fault.kind)},
            {"message", fault.message},
            {"block", fault.block},
            {"answer_line", fault.answer_line},
            {"lines", fault.lines}};
}

nlohmann::json toJson(const Patch& patch, const PatchedSource& patched)
{
    nlohmann::json edits = nlohmann::json::array();
    for (const AppliedEdit& edit : patched.edits) {
        edits.push_back({{"evolve_block", nameOf(patched.source, edit.evolve_block)},
                         {"line", edit.line},
                         {"removed_lines", edit.removed_lines},
                         {"added_lines", edit.added_lines},
                         {"match", toString(edit.tolerance)}});
    }
    return {{"applied", true},
            {"kind", toString(patch.kind)},
            {"name", patch.name},
            {"description", patch.description},
            {"directive", patch.directive},
            {"edits", std::move(edits)},
            {"source_sha256", sha256Hex(patched.source.text())}};
}

void print(const Patch& patch, const PatchedSource& patched)
{
    fmt::print("{}{}{}\n", toString(patch.kind), patch.name.empty() ? "" : ": ", patch.name);
    for (const AppliedEdit& edit : patched.edits) {
        fmt::print("line {}, {}: −{} +{}{}\n", edit.line, nameOf(patched.source, edit.evolve_block), edit.removed_lines,
                   edit.added_lines,
                   edit.tolerance == MatchTolerance::exact             ? ""
                   : edit.tolerance == MatchTolerance::trailing_blanks ? ", but for trailing blanks"
                                                                       : ", indented as the source is");
    }
}

int apply(const Options& options)
{
    int exit_code = exit_success;
    const auto original = originalOf(options, exit_code);
    const auto answer = original ? textOf(options.response, exit_code) : std::nullopt;
    if (!answer) {
        return exit_code;
    }
    const auto patch = readPatch(*answer);
    const auto patched = patch ? applyPatch(*original, *patch) : std::unexpected(patch.error());
    if (!patched) {
        if (options.json) {
            printJson({{"applied", false}, {"fault", toJson(patched.error())}});
        }
        fmt::print(stderr, "cucoctl: the patch does not apply: {}\n", describe(patched.error()));
        return exit_unsuccessful;
    }
    if (const auto written = writeFileAtomically(options.out, patched->source.text()); !written) {
        return reportError(written.error());
    }
    if (options.json) {
        printJson(toJson(*patch, *patched));
    } else {
        print(*patch, *patched);
    }
    return exit_success;
}

int refuse(const Options& options, const SourceFault& fault, std::string_view line)
{
    if (options.json) {
        printJson({{"frozen_untouched", false}, {"line", fault.line}, {"message", fault.message}, {"text", line}});
    }
    fmt::print(stderr, "cucoctl: {}\n", describe(options.candidate, fault));
    if (!line.empty()) {
        fmt::print(stderr, "    {}\n", line);
    }
    return exit_unsuccessful;
}

std::string_view lineOf(std::string_view text, std::size_t number)
{
    for (; number > 1 && !text.empty(); --number) {
        text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    return text.substr(0, text.find_first_of("\r\n"));
}

int check(const Options& options)
{
    int exit_code = exit_success;
    const auto original = originalOf(options, exit_code);
    const auto text = original ? textOf(options.candidate, exit_code) : std::nullopt;
    if (!text) {
        return exit_code;
    }
    const auto candidate = KernelSource::parse(*text);
    const auto same = candidate ? compareFrozen(*original, *candidate) : std::unexpected(candidate.error());
    if (!same) {
        return refuse(options, same.error(), same.error().line > 0 ? lineOf(*text, same.error().line) : "");
    }
    nlohmann::json blocks = nlohmann::json::array();
    for (std::size_t i = 0; i < candidate->blocks().size(); ++i) {
        const EvolveBlock& block = candidate->blocks()[i];
        const bool is_changed = candidate->blockText(i) != original->blockText(i);
        blocks.push_back({{"name", nameOf(*candidate, i)},
                          {"first_line", block.first_line},
                          {"last_line", block.last_line},
                          {"changed", is_changed}});
        if (!options.json) {
            fmt::print("{}, lines {} to {}: {}\n", nameOf(*candidate, i), block.first_line, block.last_line,
                       is_changed ? "changed" : "as in the original");
        }
    }
    if (options.json) {
        printJson({{"frozen_untouched", true}, {"evolve_blocks", std::move(blocks)}});
    } else {
        fmt::print("Frozen code is untouched.\n");
    }
    return exit_success;
}

}  // namespace

void addPatchCommand(CLI::App& app, Session& session)
{
    auto* command =
        app.add_subcommand("patch", "What a model's answer makes of a source, and what a source may change");
    command->require_subcommand(1);
    auto options = std::make_shared<Options>();

    auto* applied = command->add_subcommand("apply", "Apply a model's answer to a source");
    applied->add_option("--original", options->original, "The source that the model saw")->required();
    applied->add_option("--response", options->response, "The answer as the model wrote it")->required();
    applied->add_option("--out", options->out, "Where the new source goes; not written when the answer does not apply")
        ->required();
    applied->add_flag("--json", options->json, "One JSON document");
    applied->callback([&session, options] { session.exit_code = apply(*options); });

    auto* checked = command->add_subcommand("check", "Compare the frozen code of two sources");
    checked->add_option("--original", options->original, "The source with the frozen code")->required();
    checked->add_option("--candidate", options->candidate, "The source to check")->required();
    checked->add_flag("--json", options->json, "One JSON document");
    checked->callback([&session, options] { session.exit_code = check(*options); });
}

}  // namespace cuco::cli
