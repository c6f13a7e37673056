// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "core/agents/scratchpad.h"
#include "core/base/files.h"
#include "core/run/run_controller.h"
#include "core/source/line_diff.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <ctime>
#include <memory>

namespace cuco::cli {

namespace {

/// More than may be saved, so that the refusal can say how much there is.
constexpr std::uint64_t most_read_bytes = 4u << 20;

struct Options {
    std::filesystem::path file, edit;
    std::string show, diff, against;
    bool json = false;
};

using Versions = std::vector<ScratchpadVersion>;

/// A version by its number or as "last"; a sentence when there is none.
std::expected<const ScratchpadVersion*, std::string> find(const Versions& versions, const std::string& name)
{
    if (versions.empty())
        return std::unexpected("This run has no notes yet. A search by models sums up after some candidates.");
    std::size_t number = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (name == "last")
        number = versions.size();
    else if (fault != std::errc() || end != name.data() + name.size())
        number = 0;
    if (number < 1 || number > versions.size())
        return std::unexpected(
            fmt::format("There is no version {}. Choose a number from 1 to {}, or last.", name, versions.size()));
    return &versions[number - 1];
}

int printDiff(const Versions& versions, const Options& options)
{
    const auto right = find(versions, options.diff);
    if (!right)
        return reportUsage(right.error());
    static const ScratchpadVersion nothing;
    const ScratchpadVersion* left = (*right)->number > 1 ? *right - 1 : &nothing;
    if (!options.against.empty()) {
        const auto named = find(versions, options.against);
        if (!named)
            return reportUsage(named.error());
        left = *named;
    }
    const auto nameOf = [](const ScratchpadVersion& version) {
        return version.number > 0 ? fmt::format("version {}", version.number) : std::string("nothing");
    };
    const auto diff = unifiedDiff(left->notes.text, (*right)->notes.text, nameOf(*left), nameOf(**right));
    if (!diff)
        return reportError(diff.error());
    fmt::print("{}", *diff);
    return exit_success;
}

nlohmann::json toDocument(const Versions& versions)
{
    nlohmann::json list = nlohmann::json::array();
    for (const ScratchpadVersion& version : versions)
        list.push_back({{"number", version.number},
                        {"by_person", version.notes.by_person},
                        {"candidates", version.notes.candidates},
                        {"time_ms", version.time_ms},
                        {"text", version.notes.text}});
    return {{"versions", std::move(list)}};
}

void printVersions(const Versions& versions)
{
    std::vector<std::vector<std::string>> rows{{"version", "by", "after", "written", "bytes"}};
    for (const ScratchpadVersion& version : versions)
        rows.push_back(
            {std::to_string(version.number), writerOf(version.notes),
             fmt::format("{} candidates", version.notes.candidates),
             fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(version.time_ms / 1000))),
             std::to_string(version.notes.text.size())});
    printTable(rows);
}

int show(const Options& options)
{
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return reportError(file.error());
    const auto steps = (*file)->scratchpads();
    if (!steps)
        return reportError(steps.error());
    const Versions versions = scratchpadVersions(*steps);
    if (options.json) {
        printJson(toDocument(versions));
        return exit_success;
    }
    if (!options.diff.empty())
        return printDiff(versions, options);
    if (options.show.empty()) {
        printVersions(versions);
        return exit_success;
    }
    const auto version = find(versions, options.show);
    if (!version)
        return reportUsage(version.error());
    const std::string& text = (*version)->notes.text;
    fmt::print("{}{}", text, text.empty() || text.ends_with('\n') ? "" : "\n");
    return exit_success;
}

/// Needs the run file only: neither the node nor the workload has to be there.
int edit(const Options& options)
{
    const auto text = readFile(options.edit, most_read_bytes);
    if (!text)
        return reportUsage(describe(text.error()));
    auto file = RunFile::open(options.file, RunFile::Access::write);
    if (!file)
        return reportError(file.error());
    RunController run({std::move(*file), nullptr, nullptr}, {});
    if (auto edited = run.editScratchpad(*text); !edited)
        return reportUsage(describe(edited.error()));
    fmt::print(stderr, "Saved. It goes into the prompts of all later proposals.\n");
    return exit_success;
}

}  // namespace

void addScratchpadCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("scratchpad", "What a search by models has learned: its notes, by version");
    auto options = std::make_shared<Options>();
    command->add_option("FILE.cuco", options->file, "The run")->required();
    auto* show_one = command->add_option("--show", options->show, "Print the text of a version: 3, or last");
    auto* diff = command->add_option("--diff", options->diff, "A unified diff of a version against the one before");
    command->add_option("--against", options->against, "A version to compare with")->needs(diff);
    auto* edited = command->add_option(
        "--edit", options->edit, "Save a file's text as the next version, for the prompts of all later proposals");
    auto* json = command->add_flag("--json", options->json, "All versions with their texts as one JSON document");
    show_one->excludes(diff)->excludes(edited)->excludes(json);
    diff->excludes(edited)->excludes(json);
    edited->excludes(json);
    command->callback(
        [&session, options] { session.exit_code = options->edit.empty() ? show(*options) : edit(*options); });
}

}  // namespace cuco::cli
