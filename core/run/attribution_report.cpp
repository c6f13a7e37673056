// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/chat.h"
#include "core/run/attribution.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuco {

namespace {

constexpr std::size_t most_line_bytes = 60;

nlohmann::json orNull(const std::optional<double>& value)
{
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

nlohmann::json measuredJson(const Evaluation& evaluation)
{
    auto samples = nlohmann::json::object();
    for (const ShapeTiming& timing : evaluation.timings)
        samples[timing.shape] = {{"candidate_us", timing.samples_us}, {"baseline_us", timing.baseline_samples_us}};
    return {{"verdict", toString(evaluation.verdict)},
            {"message", evaluation.message},
            {"time_us", orNull(evaluation.timeUs())},
            {"speedup", orNull(evaluation.speedup())},
            {"ci_low", orNull(evaluation.ciLow())},
            {"ci_high", orNull(evaluation.ciHigh())},
            {"samples", samples}};
}

nlohmann::json toJson(const SourceHunk& hunk)
{
    return {{"old_first", hunk.old_first},
            {"old_lines", hunk.old_lines},
            {"new_first", hunk.new_first},
            {"new_lines", hunk.new_lines},
            {"first_line", validUtf8(hunk.first_line)}};
}

std::string linesText(const SourceHunk& hunk)
{
    const auto range = [](int first, int lines) {
        return lines == 0   ? std::string("none")
               : lines == 1 ? std::to_string(first)
                            : fmt::format("{}–{}", first, first + lines - 1);
    };
    return fmt::format("{} (was {})", range(hunk.new_first, hunk.new_lines), range(hunk.old_first, hunk.old_lines));
}

/// In a table's cell, as code.
std::string lineText(const std::string& line)
{
    std::string out;
    for (const char c : line.substr(0, most_line_bytes))
        if (c != '`' && c != '|' && !(c >= 0 && c < 0x20))
            out += c;
    return out.empty() ? "" : "`" + validUtf8(out) + (line.size() > most_line_bytes ? "…`" : "`");
}

std::string effectRow(const Attribution& attribution, const HunkEffect& effect)
{
    const SourceHunk& hunk = attribution.hunks.at(effect.first);
    std::string name = std::to_string(effect.first + 1), lines = linesText(hunk),
                verdict(toString(effect.without.verdict));
    for (std::size_t i = effect.first + 1; i <= effect.last; ++i) {
        name += fmt::format("+{}", i + 1);
        lines += ", " + linesText(attribution.hunks.at(i));
    }
    if (cannotBeTakenBack(effect.without))
        verdict += ", not alone";
    const auto time = effect.without.timeUs(), with = attribution.with_all.timeUs();
    const bool timed = effect.without.verified() && time && with;
    return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", name, lines, lineText(hunk.first_line), verdict,
                       timed ? fmt::format("{:.2f}", *time) : "–",
                       timed ? fmt::format("{:+.1f} %", 100 * (*time / *with - 1)) : "–",
                       effect.share ? fmt::format("{:.0f} % ({:.0f}–{:.0f})", 100 * effect.share->value,
                                                  100 * effect.share->low, 100 * effect.share->high)
                                    : "–");
}

std::string figures(const std::string& id, const Evaluation& evaluation)
{
    if (!evaluation.verified() || !evaluation.speedup())
        return fmt::format("{}: {}", id, toString(evaluation.verdict));
    return fmt::format("{}: {:.2f} µs, {:.3f}× ({:.3f}–{:.3f})", id, evaluation.timeUs().value_or(0),
                       *evaluation.speedup(), evaluation.ciLow().value_or(0), evaluation.ciHigh().value_or(0));
}

}  // namespace

nlohmann::json toJson(const Attribution& attribution)
{
    nlohmann::json json{
        {"candidate", attribution.candidate},
        {"against", attribution.ancestor},
        {"modelled", attribution.with_all.modelled},
        {"self_reported", attribution.with_all.self_reported},
        {"method",
         "share = (log speed-up of the candidate - log speed-up without the hunk) / (log speed-up of the candidate - "
         "log speed-up of what it is against); 95 % interval by the delta method from the intervals of the three"},
        {"with_all", measuredJson(attribution.with_all)},
        {"with_none", measuredJson(attribution.with_none)},
        {"hunks", nlohmann::json::array()},
        {"effects", nlohmann::json::array()}};
    for (const SourceHunk& hunk : attribution.hunks)
        json["hunks"].push_back(toJson(hunk));
    for (const HunkEffect& effect : attribution.effects) {
        nlohmann::json one = measuredJson(effect.without);
        auto hunks = nlohmann::json::array();
        for (std::size_t i = effect.first; i <= effect.last; ++i)
            hunks.push_back(i + 1);
        one["hunks"] = std::move(hunks);
        one["taken_back"] = !cannotBeTakenBack(effect.without);
        one["share"] = one["share_low"] = one["share_high"] = nullptr;
        if (effect.share) {
            one["share"] = effect.share->value;
            one["share_low"] = effect.share->low;
            one["share_high"] = effect.share->high;
        }
        json["effects"].push_back(std::move(one));
    }
    return json;
}

std::string toMarkdown(const Attribution& attribution)
{
    const Evaluation& all = attribution.with_all;
    std::string text =
        fmt::format("# Which edits carry the gain of {} over {}\n\n", attribution.candidate, attribution.ancestor);
    text += all.modelled        ? "All times are **modelled** by the emulated node.\n\n"
            : all.self_reported ? "All times are **self-reported** by the program.\n\n"
                                : "All times are **measured**.\n\n";
    text += fmt::format("{}; {}.\n\n", figures(attribution.candidate, all),
                        figures(attribution.ancestor, attribution.with_none));
    text +=
        "| hunk | lines | first line | without it | time, µs | slower by | share of the gain |\n"
        "|---|---|---|---|---|---|---|\n";
    bool shares = false;
    for (const HunkEffect& effect : attribution.effects) {
        text += effectRow(attribution, effect);
        shares = shares || effect.share;
    }
    text +=
        "\nA row is the candidate with that hunk taken back, evaluated like any candidate. What cannot be built "
        "without a hunk is tried with its neighbours taken back too.\n";
    text += shares
                ? "Shares are of the gain in logarithms of the speed-up; they add up to 100 % only where edits do not "
                  "depend on each other.\n"
                : "There are no shares: the gain cannot be told from none, or nothing verified without its hunk.\n";
    return text;
}

}  // namespace cuco
