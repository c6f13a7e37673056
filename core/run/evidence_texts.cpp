// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/evidence_texts.h"

#include "core/agents/prompt.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

constexpr std::uint64_t most_template_bytes = 256u << 10;
/// Between two evaluations of one source by the model, whose inputs differ; measured intervals speak for themselves.
constexpr const char* modelled_tolerance = "0.02";

/// One word for a POSIX shell, whatever is in it.
std::string shellQuoted(const std::string& text)
{
    std::string out = "'";
    for (const char c : text)
        if (c == '\'')
            out += "'\\''";
        else if (c != '\0')
            out += c;
    return out + "'";
}

/// One line that no Markdown takes for its own.
std::string plain(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '`' || c == '*' || c == '_' || c == '[' || c == ']' || c == '<' || c == '>' || c == '|' ||
            c == '#')
            out += '\\';
        out += c >= 0 && c < 0x20 ? ' ' : c;
    }
    return out;
}

Result<std::string> rendered(const std::filesystem::path& file, const PromptValues& values)
{
    auto text = readFile(file, most_template_bytes);
    if (!text)
        return std::unexpected(text.error());
    const auto parsed = PromptTemplate::parse(std::move(*text), file.string());
    if (!parsed)
        return std::unexpected(parsed.error());
    return parsed->render(values);
}

std::string numberOr(const std::optional<double>& value, const char* otherwise)
{
    return value ? fmt::format("{:.9g}", *value) : otherwise;
}

std::string evaluationOptions(const RunSnapshot& snapshot, const Evaluation& evaluation)
{
    std::string options;
    const int ranks = evaluation.timings.empty() ? snapshot.config.ranks : evaluation.timings.front().ranks;
    if (ranks > 0)
        options += fmt::format("--ranks {} ", ranks);
    // A program has one shape, which has no name to be chosen by.
    if (!evaluation.self_reported)
        for (const ShapeTiming& timing : evaluation.timings)
            options += "--shape " + shellQuoted(timing.shape) + " ";
    if (snapshot.config.check_races)
        options += "--check-races ";
    return options + "--stage benchmark";
}

std::string standingText(const RunSnapshot& snapshot, const Candidate& candidate)
{
    const Decision* decision = lastDecisionOn(snapshot.decisions, candidate.id);
    if (candidate.decision == DecisionKind::promoted)
        return fmt::format("The candidate is **promoted**. {}{}", plain(decision ? decision->finding : ""),
                           candidate.decision_reason.empty() ? "" : " Reason: " + plain(candidate.decision_reason));
    if (!decision)
        return "The candidate is **not promoted**: nobody decided on it, and it was not measured on held-back shapes.";
    if (decision->kind == DecisionKind::rejected)
        return fmt::format("The candidate is **not promoted**: it was rejected. {}", plain(decision->reason));
    if (decision->standing == PromotionStanding::refused)
        return fmt::format("The candidate is **not promoted**: its promotion was refused. {}",
                           plain(decision->finding));
    return "The candidate is **not promoted yet**: its promotion waits until it is measured again on held-back shapes.";
}

std::string figuresText(const Candidate& candidate)
{
    if (!candidate.evaluation)
        return "It is not evaluated yet.";
    const Evaluation& evaluation = *candidate.evaluation;
    if (!evaluation.verified())
        return fmt::format("Its verdict is **{}**: {}", plain(std::string(toString(evaluation.verdict))),
                           plain(evaluation.message));
    if (!evaluation.speedup())
        return "It is verified and was not timed.";
    std::string text = fmt::format(
        "It is verified, and over all shapes {:.3f}× ({:.3f}–{:.3f}) as fast as the "
        "strongest host baseline{}.\n",
        *evaluation.speedup(), evaluation.ciLow().value_or(0), evaluation.ciHigh().value_or(0),
        timesNote(evaluation.modelled, evaluation.self_reported));
    text +=
        "\n| shape | ranks | time, µs | baseline | its time, µs | speed-up | interval | bound, µs |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (const ShapeTiming& timing : evaluation.timings)
        text += fmt::format("| {} | {} | {:.2f} | {} | {:.2f} | {:.3f}× | {:.3f}–{:.3f} | {} |\n", plain(timing.shape),
                            timing.ranks, timing.time_us, plain(timing.baseline), timing.baseline_us, timing.speedup,
                            timing.ci_low, timing.ci_high,
                            timing.bound_us > 0 ? fmt::format("{:.2f}", timing.bound_us) : "not known");
    return text;
}

std::string provenanceText(const Evaluation* evaluation)
{
    if (!evaluation)
        return "There are none.";
    if (evaluation->self_reported)
        return "The times are **self-reported**: the candidate's own program printed them, and that it was right. "
               "Nobody else looked.";
    const std::string checked =
        " That its results are right is checked, not modelled: every output was compared with the reference, on inputs "
        "that it could not know.";
    if (evaluation->modelled)
        return "The times are **modelled**: they come from the emulated node's model of a GPU, not from a GPU. Bounds "
               "and baselines' times are modelled too." +
               checked;
    return "The times are **measured** on GPUs, by the harness's clock outside the candidate's process, in turns with "
           "the baseline. The bound is computed from rates that were measured on the same node." +
           checked;
}

}  // namespace

Result<FolderFile> verifyScript(const std::filesystem::path& resources, const RunSnapshot& snapshot,
                                const Candidate& candidate)
{
    const Evaluation evaluation = candidate.evaluation.value_or(Evaluation{});
    auto text = rendered(
        resources / "evidence" / "verify.sh",
        {{"candidate", shellQuoted(candidate.id)},
         {"workload", shellQuoted(snapshot.config.workload)},
         {"workload_folder", shellQuoted(snapshot.config.workload_folder)},
         {"kind", evaluation.self_reported ? "program"
                  : evaluation.modelled    ? "modelled"
                                           : "measured"},
         {"verdict", shellQuoted(candidate.evaluation ? std::string(toString(evaluation.verdict)) : std::string())},
         {"speedup", numberOr(evaluation.speedup(), "''")},
         {"ci_low", numberOr(evaluation.ciLow(), "''")},
         {"ci_high", numberOr(evaluation.ciHigh(), "''")},
         {"modelled", evaluation.modelled ? "1" : "0"},
         {"tolerance", evaluation.modelled ? modelled_tolerance : "0"},
         {"node", shellQuoted(snapshot.config.node)},
         {"options", evaluationOptions(snapshot, evaluation)}});
    if (!text)
        return std::unexpected(text.error());
    return FolderFile{"verify.sh", std::move(*text), true};
}

Result<FolderFile> evidenceReadme(const std::filesystem::path& resources, const RunSnapshot& snapshot,
                                  const Candidate& candidate, const std::vector<DescribedFile>& files,
                                  const std::vector<std::string>& missing)
{
    std::string table, lacking;
    for (const auto& [file, description] : files)
        if (!description.empty())
            table += fmt::format("| `{}` | {} |\n", file.name, description);
    for (const std::string& sentence : missing)
        lacking += "- " + sentence + "\n";
    if (!lacking.empty())
        lacking = "\n## What is missing\n\n" + lacking;
    auto text = rendered(resources / "evidence" / "README.md",
                         {{"candidate", plain(candidate.id)},
                          {"workload", plain(snapshot.config.workload)},
                          {"standing", standingText(snapshot, candidate)},
                          {"figures", figuresText(candidate)},
                          {"provenance", provenanceText(candidate.evaluation ? &*candidate.evaluation : nullptr)},
                          {"files", table},
                          {"missing", lacking}});
    if (!text)
        return std::unexpected(text.error());
    return FolderFile{"README.md", std::move(*text)};
}

}  // namespace cuco
