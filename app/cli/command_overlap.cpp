// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/stored_timeline.h"
#include "core/trace/import.h"
#include "core/trace/overlap_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace cuco::cli {

namespace {

struct Options {
    std::filesystem::path file;
    std::string candidate;
    bool json = false;
};

bool isRunFile(const Options& options)
{
    return !options.candidate.empty() || options.file.extension() == ".cuco";
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

Result<OverlapReport> reportOfTrace(const Options& options, std::vector<std::string>& notes)
{
    auto timeline = importTrace(options.file);
    if (!timeline)
        return std::unexpected(timeline.error());
    notes = std::move(timeline->notes);
    return overlapOf(*timeline);
}

/// "61.2 % (51 of 83 µs)", or none where there is no communication.
std::string share(const std::optional<double>& ratio, double overlapped_us, double communication_us)
{
    if (!ratio)
        return "none";
    return fmt::format("{:.1f} % ({} of {})", *ratio * 100, formatTime(overlapped_us), formatTime(communication_us));
}

std::string orNone(bool is_there, double us)
{
    return is_there ? formatTime(us) : "none";
}

void printCriticalPath(const OverlapReport& report)
{
    if (!report.last_rank)
        return;
    fmt::print("\nrank {} ended last, in lane \"{}\"; on the critical path:\n", *report.last_rank, report.last_lane);
    for (const auto& [key, us] : criticalPathTimes(report))
        fmt::print("  rank {} {} {}\n", key.first, key.second ? toString(*key.second) : "idle", formatTime(us));
    // The end of the chain is what a person can change first.
    constexpr std::size_t shown = 8;
    const std::size_t steps = report.critical_path.size(), from = steps > shown ? steps - shown : 0;
    fmt::print("its last {} of {} steps:\n", steps - from, steps);
    for (std::size_t i = from; i < steps; ++i) {
        const PathStep& step = report.critical_path[i];
        fmt::print("  {:.1f} to {:.1f} µs  rank {} {}\n", static_cast<double>(step.begin_ns) / 1e3,
                   static_cast<double>(step.end_ns) / 1e3, step.rank,
                   step.activity ? toString(*step.activity) : "idle");
    }
}

void printReport(const OverlapReport& report, const std::vector<std::string>& notes)
{
    std::vector<std::vector<std::string>> rows{
        {"RANK", "BUSY", "COMPUTE", "COMMUNICATION", "EXPOSED", "WAIT", "HIDDEN (HTA)"}};
    for (const RankOverlap& rank : report.ranks) {
        const bool communicates = rank.hidden_share.has_value();
        rows.push_back({std::to_string(rank.rank), formatTime(rank.busy_us), formatTime(rank.compute_us),
                        orNone(communicates, rank.communication_us), orNone(communicates, rank.exposed_us),
                        formatTime(rank.wait_us), share(rank.hidden_share, rank.overlapped_us, rank.communication_us)});
    }
    const bool communicates = report.hidden_share.has_value();
    rows.push_back({"all", formatTime(report.makespan_us), "", orNone(communicates, report.communication_us),
                    orNone(communicates, report.exposed_us), "",
                    share(report.hidden_share, report.overlapped_us, report.communication_us)});
    printTable(rows);
    fmt::print("\nFor all: makespan, sums, and the exposed communication of the rank with the most of it.\n");
    if (report.bound_us)
        fmt::print("bound {}, gap {}\n", formatTime(*report.bound_us),
                   formatTime(report.makespan_us - *report.bound_us));
    if (report.axis_error_us)
        fmt::print("error between the ranks' axes {:.3f} µs\n", *report.axis_error_us);
    if (report.dropped > 0)
        fmt::print("{} records were dropped: true figures are larger\n", report.dropped);
    printCriticalPath(report);
    for (const std::string& note : notes)
        fmt::print("note: {}\n", note);
}

int overlap(const Options& options)
{
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(options.file, ignored))
        return reportUsage(fmt::format("There is no file {}.", options.file.string()));
    std::vector<std::string> notes;
    const auto report = isRunFile(options) ? reportOfRun(options) : reportOfTrace(options, notes);
    if (!report)
        return reportUsage(describe(report.error()));
    if (options.json) {
        auto json = toJson(*report);
        json["notes"] = notes;
        printJson(json);
    } else {
        printReport(*report, notes);
    }
    return exit_success;
}

}  // namespace

void addOverlapCommand(CLI::App& app, Session& session)
{
    auto* command = app.add_subcommand("overlap", "How much communication hides behind computing");
    auto options = std::make_shared<Options>();
    command
        ->add_option(
            "TRACE", options->file,
            "A trace (Chrome, Perfetto or PyTorch JSON, nsys SQLite export, a timeline of CUCo's own) or a run file")
        ->required();
    command->add_option("--candidate", options->candidate, "In a run file: the candidate, or a baseline as host.cu");
    command->add_flag("--json", options->json, "One JSON document");
    command->callback([&session, options] { session.exit_code = overlap(*options); });
}

}  // namespace cuco::cli
