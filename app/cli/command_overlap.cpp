// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/stored_timeline.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/trace/overlap_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <memory>

namespace cuco::cli {

namespace {

constexpr std::uint64_t most_trace_bytes = 256u << 20;
constexpr const char* formats_read =
    "Give a run file with --candidate, or a timeline of CUCo's own in JSON (an object with \"lanes\").";

struct Options {
    std::filesystem::path file;
    std::string candidate;
    bool json = false;
};

bool isDatabase(const std::filesystem::path& path)
{
    std::string head(15, '\0');
    std::ifstream(path, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size()));
    return head == "SQLite format 3";
}

Result<OverlapReport> reportOfRun(const Options& options)
{
    if (options.candidate.empty())
        return failure("A run file has many timelines", options.file.string(), "Choose one with --candidate ID.");
    auto file = RunFile::open(options.file, RunFile::Access::read);
    if (!file)
        return std::unexpected(file.error());
    const auto timeline = storedTimeline(**file, options.candidate);
    if (!timeline)
        return std::unexpected(timeline.error());
    std::optional<double> bound_us;
    if (const auto evaluation = (*file)->evaluation(options.candidate);
        evaluation && *evaluation && !(*evaluation)->timings.empty())
        bound_us = (*evaluation)->timings.front().bound_us;
    return overlapOf(*timeline, bound_us);
}

Result<OverlapReport> reportOfTrace(const Options& options)
{
    const auto text = readFile(options.file, most_trace_bytes);
    if (!text)
        return std::unexpected(text.error());
    const auto json = parseJson(*text, options.file.string());
    if (!json)
        return failure("The trace is no JSON", options.file.string(), formats_read);
    if (!json->is_object() || !json->contains("lanes"))
        return failure("The trace has a format that this version does not read", options.file.string(), formats_read);
    const auto timeline = timelineFromJson(*json);
    if (!timeline)
        return std::unexpected(timeline.error());
    return overlapOf(*timeline);
}

std::string percent(const std::optional<double>& share)
{
    return share ? fmt::format("{:.1f} %", *share * 100) : "none";
}

void printReport(const OverlapReport& report)
{
    std::vector<std::vector<std::string>> rows{
        {"RANK", "BUSY", "COMPUTE", "COMMUNICATION", "OVERLAPPED", "EXPOSED", "WAIT", "HIDDEN"}};
    for (const RankOverlap& rank : report.ranks)
        rows.push_back({std::to_string(rank.rank), formatTime(rank.busy_us), formatTime(rank.compute_us),
                        formatTime(rank.communication_us), formatTime(rank.overlapped_us), formatTime(rank.exposed_us),
                        formatTime(rank.wait_us), percent(rank.hidden_share)});
    printTable(rows);
    fmt::print("\nmakespan {}, communication hidden {}, most exposed {}", formatTime(report.makespan_us),
               percent(report.hidden_share), formatTime(report.exposed_us));
    fmt::print("{}\n", report.bound_us ? ", bound " + formatTime(*report.bound_us) : "");
}

int overlap(const Options& options)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(options.file, ignored))
        return reportUsage(fmt::format("There is no file {}.", options.file.string()));
    const auto report = isDatabase(options.file) ? reportOfRun(options) : reportOfTrace(options);
    if (!report)
        return reportUsage(describe(report.error()));
    if (options.json)
        printJson(toJson(*report));
    else
        printReport(*report);
    return exit_success;
}

}  // namespace

void addOverlapCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("overlap", "How much communication hides behind computing");
    auto options = std::make_shared<Options>();
    command->add_option("TRACE", options->file, "A run file, or a timeline of CUCo's own in JSON")->required();
    command->add_option("--candidate", options->candidate, "In a run file: the candidate, or a baseline as host.cu");
    command->add_flag("--json", options->json, "One JSON document");
    command->callback([&session, options] { session.exit_code = overlap(*options); });
}

}  // namespace cuco::cli
