// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/feedback.h"

#include "core/agents/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cuco {

namespace {

/// Less than what snapshots keep of a compiler's log, so that a resumed run asks the same.
constexpr std::size_t most_log_bytes = 3600;
constexpr std::size_t most_mismatches = 8;

std::string describe(const Mismatch& mismatch)
{
    std::string text = fmt::format(
        "shape {}, iteration {}, rank {}: {} of {} elements of {} are wrong, first {}[{}]: {} where {} is right\n",
        mismatch.shape, mismatch.iteration, mismatch.rank, mismatch.wrong_elements, mismatch.elements, mismatch.buffer,
        mismatch.buffer, mismatch.element, mismatch.got, mismatch.expected);
    if (mismatch.wrong_in_bin.empty())
        return text;
    text += "  wrong by place, in equal parts: ";
    for (const double wrong : mismatch.wrong_in_bin)
        text += wrong > 0 ? 'x' : '.';
    return text + "\n";
}

std::string timingRow(const ShapeTiming& timing)
{
    const auto exposed = timing.exposedUs();
    const auto ceiling = timing.ceilingShare();
    return fmt::format("| {} | {} | {:.1f} | {} {:.1f} | {:.3f} ({:.3f}…{:.3f}){} | {} | {} |\n", timing.shape,
                       timing.ranks, timing.time_us, timing.baseline, timing.baseline_us, timing.speedup, timing.ci_low,
                       timing.ci_high, timing.withinNoise() ? ", within noise" : "",
                       exposed ? fmt::format("{:.1f}", *exposed) : "–",
                       ceiling ? fmt::format("{:.0f} %", 100 * *ceiling) : "–");
}

std::string overlapText(const OverlapReport& overlap)
{
    std::string text = fmt::format(
        "\nOverlap at the first shape: makespan {:.1f} µs, communication {:.1f} µs over "
        "all ranks, {} of it hidden behind computing, {:.1f} µs exposed on the worst rank.\n",
        overlap.makespan_us, overlap.communication_us,
        overlap.hidden_share ? fmt::format("{:.0f} %", 100 * *overlap.hidden_share) : "nothing", overlap.exposed_us);
    std::map<std::string, double> path;
    for (const auto& [key, time_us] : criticalPathTimes(overlap))
        path[key.second ? std::string(toString(*key.second)) : "idle"] += time_us;
    if (path.empty())
        return text;
    text += "On the critical path:";
    for (const auto& [activity, time_us] : path)
        text += fmt::format(" {} {:.1f} µs;", activity, time_us);
    text.back() = '.';
    return text + "\n";
}

}  // namespace

std::string performanceDetail(const Evaluation& evaluation)
{
    if (evaluation.timings.empty())
        return {};
    std::string text = evaluation.self_reported ? "Times are the program's own word.\n\n"
                       : evaluation.modelled    ? "Times are modelled, not measured.\n\n"
                                                : "Times are measured.\n\n";
    text +=
        "| shape | ranks | µs | strongest baseline, µs | speed-up (95 %) | exposed communication, µs | share of the "
        "bound |\n|---|---|---|---|---|---|---|\n";
    for (const auto& timing : evaluation.timings)
        text += timingRow(timing);
    if (evaluation.overlap)
        text += overlapText(*evaluation.overlap);
    for (const auto& remark : evaluation.remarks)
        text += "\n" + remark + "\n";
    return text;
}

std::string failureDetail(const Evaluation& evaluation)
{
    std::string text = evaluation.detail.substr(0, most_log_bytes);
    if (!text.empty() && !text.ends_with('\n'))
        text += '\n';
    const auto shown = std::min(evaluation.mismatches.size(), most_mismatches);
    for (std::size_t i = 0; i < shown; ++i)
        text += describe(evaluation.mismatches[i]);
    if (shown < evaluation.mismatches.size())
        text += fmt::format("… and {} more\n", evaluation.mismatches.size() - shown);
    return fenced(text, "text", 2 * most_log_bytes);
}

}  // namespace cuco
