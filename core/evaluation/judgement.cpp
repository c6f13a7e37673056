// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/judgement.h"

#include "core/evaluation/evaluation_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <set>

namespace cuco {

namespace {

constexpr std::size_t shown_bytes = 8000;

std::string tail(const std::string& text)
{
    return text.size() <= shown_bytes ? text : "…" + text.substr(text.size() - shown_bytes);
}

void reject(Evaluation& evaluation, Verdict verdict, std::string message, std::string detail)
{
    evaluation.verdict = verdict;
    evaluation.message = std::move(message);
    evaluation.detail = std::move(detail);
}

std::optional<Verdict> verdictOfKind(const std::string& kind)
{
    // Only what the harness may report; a candidate that writes "verified" gets nowhere.
    for (const Verdict verdict :
         {Verdict::setup_failed, Verdict::deadlock, Verdict::timeout, Verdict::crash, Verdict::out_of_bounds,
          Verdict::not_emulable, Verdict::race, Verdict::timing_mismatch, Verdict::tampering})
        if (toString(verdict) == kind)
            return verdict;
    return std::nullopt;
}

std::string place(const HarnessFailure& failed)
{
    std::string text;
    if (failed.rank >= 0)
        text += fmt::format("rank {}", failed.rank);
    if (!failed.shape.empty())
        text += fmt::format("{}shape {}", text.empty() ? "" : ", ", failed.shape);
    if (failed.line > 0)
        text += fmt::format("{}line {}", text.empty() ? "" : ", ", failed.line);
    return text;
}

Result<void> judgeFailure(const HarnessFailure& failed, bool started, Evaluation& evaluation)
{
    auto verdict = verdictOfKind(failed.kind);
    // Once the candidate is loaded nobody can tell its lines from the harness's: the failure is its own, or it must
    // not be able to stop a run by claiming that the node is broken. A broken node shows in the baseline.
    if (!verdict && started)
        verdict = Verdict::crash;
    if (!verdict)
        return failure(failed.message, fmt::format("harness, {}", failed.kind),
                       failed.detail.empty() ? "Run cucoctl node probe to see what the node lacks." : failed.detail);
    const std::string where = place(failed);
    reject(evaluation, *verdict, where.empty() ? failed.message : fmt::format("{} ({})", failed.message, where),
           failed.detail);
    if (failed.line > 0)
        evaluation.at = {failed.line, failed.message};
    return {};
}

Error harnessBroken(const CommandOutcome& outcome, const HarnessReport& report)
{
    std::string said = report.violation;
    for (const auto& remark : report.remarks)
        said += (said.empty() ? "" : "\n") + remark;
    if (!outcome.err.empty())
        said += (said.empty() ? "" : "\n") + tail(outcome.err);
    if (outcome.signal != 0)
        said += fmt::format("{}signal {} ({})", said.empty() ? "" : "\n", outcome.signal, ::strsignal(outcome.signal));
    return {"The harness did not work on this node.", said,
            "Run cucoctl node probe; when the node is in order, install the product again."};
}

std::string describeEnd(const CommandOutcome& outcome)
{
    if (outcome.signal == SIGXFSZ)
        return "It wrote a file larger than allowed.";
    if (outcome.signal != 0)
        return fmt::format("The run was ended by signal {} ({}).", outcome.signal, ::strsignal(outcome.signal));
    return fmt::format("The run ended early, with exit code {}.", outcome.exit_code);
}

/// A limit of the sandbox struck, other than time's, which has a verdict of its own.
bool tookTooMuch(const CommandOutcome& outcome, Evaluation& evaluation)
{
    const char* what = nullptr;
    switch (outcome.exceeded) {
        case CommandLimit::none:
        case CommandLimit::wall:
            return false;
        case CommandLimit::processes:
            what = "It started more processes and threads than a candidate may.";
            break;
        case CommandLimit::memory:
            what = "It took more of the host's memory than a candidate may.";
            break;
        case CommandLimit::disk:
            what = "It wrote more into its folder than a candidate may.";
            break;
        case CommandLimit::file_size:
            what = "It wrote a larger file than a candidate may.";
            break;
    }
    reject(evaluation, Verdict::crash, what, tail(outcome.err));
    return true;
}

/// Every time and timeline the job asked for, in the number it asked for.
std::string missingFrom(const HarnessJob& job, const HarnessReport& report)
{
    for (const auto& shape : job.shapes) {
        const auto times = report.samples_us.find(shape.shape.name);
        const std::size_t have = times == report.samples_us.end() ? 0 : times->second.size();
        if (have != (shape.time ? static_cast<std::size_t>(shape.iterations) : 0))
            return fmt::format("{} times of shape {} were reported for {} iterations.", have, shape.shape.name,
                               shape.time ? shape.iterations : 0);
    }
    if (!report.checked.empty() || !report.mismatches.empty())
        return "Outputs were reported as checked before they were.";
    return {};
}

/// What a job on GPUs asked for and the report lacks.
std::string missingOnGpus(const HarnessJob& job, const HarnessReport& report)
{
    const std::set<CheckedOutput> checked(report.checked.begin(), report.checked.end());
    for (const auto& shape : job.shapes) {
        const std::string& name = shape.shape.name;
        const auto times = report.samples_us.find(name);
        const std::size_t have = times == report.samples_us.end() ? 0 : times->second.size();
        const auto least = turns_a_round * static_cast<std::size_t>(shape.least_rounds);
        const auto most = turns_a_round * static_cast<std::size_t>(shape.rounds);
        if (have < least || have > most || have % turns_a_round != 0)
            return fmt::format("{} times of shape {} were reported for {} to {} rounds.", have, name,
                               shape.least_rounds, shape.rounds);
        for (int iteration = 0; iteration < shape.iterations + shape.consecutive; ++iteration)
            for (int rank = 0; rank < job.ranks; ++rank)
                if (!checked.contains({name, iteration, rank}))
                    return fmt::format("Rank {}'s iteration {} of shape {} was not checked.", rank, iteration, name);
    }
    return {};
}

std::string sentence(const Mismatch& mismatch)
{
    if (mismatch.wrong_elements == 0)
        return fmt::format("Rank {}'s {} is too far from the reference as a whole: relative error {:.3g} (shape {}).",
                           mismatch.rank, mismatch.buffer, mismatch.relative_l2, mismatch.shape);
    return fmt::format(
        "Rank {}'s {}[{}] is {:.6g} where {:.6g} is right; {} of {} elements are wrong (shape {}, "
        "iteration {}).",
        mismatch.rank, mismatch.buffer, mismatch.element, mismatch.got, mismatch.expected, mismatch.wrong_elements,
        mismatch.elements, mismatch.shape, mismatch.iteration);
}

/// The first one of each rank: further ones of a rank are the same news.
std::vector<Mismatch> firstOfEachRank(const std::vector<Mismatch>& all)
{
    std::vector<Mismatch> first;
    for (const auto& mismatch : all)
        if (std::ranges::find(first, mismatch.rank, &Mismatch::rank) == first.end())
            first.push_back(mismatch);
    return first;
}

}  // namespace

Result<void> judgeRun(const HarnessJob& job, const CommandOutcome& outcome, const HarnessReport& report,
                      Evaluation& evaluation)
{
    if (outcome.cancelled)
        return failure("The evaluation was stopped.");
    if (tookTooMuch(outcome, evaluation))
        return {};
    if (!report.failures.empty() && report.violation.empty())
        return judgeFailure(report.failures.front(), report.started, evaluation);
    if (outcome.timed_out) {
        reject(evaluation, Verdict::timeout, fmt::format("It did not end within {} s.", job.limit.count()),
               tail(outcome.err));
        return {};
    }
    if (!report.started)
        return std::unexpected(harnessBroken(outcome, report));
    if (!report.violation.empty()) {
        reject(evaluation, Verdict::tampering, "The harness's report was written into.", report.violation);
        return {};
    }
    if (!report.done || !outcome.succeeded()) {
        reject(evaluation, Verdict::crash, describeEnd(outcome), tail(outcome.err));
        return {};
    }
    if (auto missing = missingFrom(job, report); !missing.empty())
        reject(evaluation, Verdict::tampering, "The harness's report is not what the harness writes.", missing);
    return {};
}

void judgeUse(const std::string& backend, const HarnessReport& report, Evaluation& evaluation)
{
    if (backend.empty() || backend == "host" || report.host_collectives.empty())
        return;
    reject(evaluation, Verdict::invalid_directive,
           fmt::format("The directive says backend={}, but the host called {}.", backend, report.host_collectives),
           "Declare backend=host issuer=host, or communicate from the device or by copies to peers' windows.");
}

Result<void> judgeCheck(const HarnessJob& job, const CommandOutcome& outcome, const HarnessReport& report,
                        Evaluation& evaluation)
{
    if (outcome.cancelled)
        return failure("The evaluation was stopped.");
    if (outcome.timed_out)
        return failure(fmt::format("The reference did not end within {} s.", job.limit.count()), "",
                       "Raise \"timeouts_s\" in the workload's workload.json.");
    if (!report.failures.empty() && report.failures.front().kind == toString(Verdict::tampering)) {
        reject(evaluation, Verdict::tampering, report.failures.front().message, "");
        return {};
    }
    if (!report.failures.empty())
        return failure("The verifier failed: " + report.failures.front().message, report.failures.front().shape,
                       "Check the workload's reference.cu with cucoctl eval on its host.cu.");
    if (!report.done || !report.violation.empty())
        return std::unexpected(harnessBroken(outcome, report));
    if (!report.mismatches.empty()) {
        evaluation.mismatches = firstOfEachRank(report.mismatches);
        reject(evaluation, Verdict::wrong_result, sentence(evaluation.mismatches.front()), "");
        return {};
    }
    const std::set<CheckedOutput> checked(report.checked.begin(), report.checked.end());
    for (const auto& shape : job.shapes)
        for (int iteration = 0; shape.dump && iteration < shape.iterations; ++iteration)
            for (int rank = 0; rank < job.ranks; ++rank)
                if (!checked.contains({shape.shape.name, iteration, rank}))
                    return failure(fmt::format("The verifier did not check rank {}'s iteration {} of shape {}.", rank,
                                               iteration, shape.shape.name),
                                   "", "Install the product again.");
    return {};
}

Result<void> judgeGpuRun(const HarnessJob& job, const CommandOutcome& outcome, const HarnessReport& report,
                         Evaluation& evaluation)
{
    if (outcome.cancelled)
        return failure("The evaluation was stopped.");
    if (tookTooMuch(outcome, evaluation))
        return {};
    if (!report.hosts.empty())
        evaluation.remarks.push_back(fmt::format("The ranks were on {} hosts ({}) and started together to {:.0f} µs.",
                                                 report.hosts.size(), fmt::join(report.hosts, ", "),
                                                 std::ceil(report.start_uncertainty_us)));
    for (const auto& neighbour : report.neighbours)
        evaluation.remarks.push_back("Another program was on the GPUs: " + neighbour + ".");
    if (!report.gpu_fault.empty())
        evaluation.remarks.push_back("A GPU does not work any more after this: " + report.gpu_fault +
                                     " Run cucoctl node probe; it may need a reset.");
    if (!report.failures.empty()) {
        const auto& failed = report.failures.front();
        const auto verdict = verdictOfKind(failed.kind);
        if (!verdict)
            return failure(
                failed.message, fmt::format("harness, {}", failed.kind),
                failed.detail.empty() ? "Run cucoctl node probe to see what the node lacks." : failed.detail);
        const std::string where = place(failed);
        reject(evaluation, *verdict, where.empty() ? failed.message : fmt::format("{} ({})", failed.message, where),
               failed.detail.empty() ? tail(outcome.err) : failed.detail);
        if (failed.line > 0)
            evaluation.at = {failed.line, failed.message};
        return {};
    }
    // No candidate is loaded before the report starts.
    if (outcome.timed_out && !report.started)
        return failure("The ranks did not start in time.", tail(outcome.err), "Run cucoctl node probe.");
    if (outcome.timed_out) {
        reject(evaluation, Verdict::timeout, fmt::format("It did not end within {} s.", job.limit.count()),
               tail(outcome.err));
        return {};
    }
    if (!report.done || !report.violation.empty())
        return std::unexpected(harnessBroken(outcome, report));
    if (!report.mismatches.empty()) {
        evaluation.mismatches = firstOfEachRank(report.mismatches);
        reject(evaluation, Verdict::wrong_result, sentence(evaluation.mismatches.front()), "");
        return {};
    }
    if (auto missing = missingOnGpus(job, report); !missing.empty())
        return failure("The harness left something out: " + missing, "", "Install the product again.");
    return {};
}

}  // namespace cuco
