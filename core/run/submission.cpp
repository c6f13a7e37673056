// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/submission.h"

#include "core/run/run_file.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace cuco {

namespace {

constexpr std::string_view title = "Submitted a child of ", sha256_prefix = "Source ";
constexpr std::size_t sha256_digits = 64, most_note_bytes = 4096;

}  // namespace

Result<void> validate(const Submission& submission)
{
    const auto source = KernelSource::parse(submission.source);
    const auto directive = source ? parseDirective(*source) : std::unexpected(source.error());
    if (!directive)
        return failure(fmt::format("The source can be no candidate{}: {}",
                                   directive.error().line > 0 ? fmt::format(", line {}", directive.error().line) : "",
                                   directive.error().message),
                       {}, "Start from a candidate's source and change what stands between its EVOLVE-BLOCK marks.");
    if (submission.note.size() > most_note_bytes)
        return failure(fmt::format("The note has {} bytes", submission.note.size()), {},
                       fmt::format("Shorten it to {}.", most_note_bytes));
    return {};
}

AgentStep toStep(const Submission& submission)
{
    AgentStep step;
    step.agent = person_proposer;
    step.title = fmt::format("{}{}", title, submission.parent);
    step.body = fmt::format("{}{}\n\n{}", sha256_prefix, sha256Hex(submission.source), submission.note);
    return step;
}

Result<std::deque<Submission>> pendingSubmissions(std::span<const AgentStep> steps,
                                                  std::span<const Candidate> candidates, RunFile& file)
{
    std::multiset<std::pair<std::string, std::string>> made;  // parent and sha256
    for (const Candidate& candidate : candidates)
        if (candidate.proposer == person_proposer && !candidate.parents.empty())
            made.emplace(candidate.parents.front(), candidate.source_sha256);
    std::deque<Submission> pending;
    for (const AgentStep& step : steps) {
        if (step.agent != person_proposer || !step.title.starts_with(title) || !step.body.starts_with(sha256_prefix))
            continue;
        const std::string parent = step.title.substr(title.size());
        const std::string sha256 = step.body.substr(sha256_prefix.size(), sha256_digits);
        if (const auto found = made.find({parent, sha256}); found != made.end()) {
            made.erase(found);
            continue;
        }
        auto source = file.sourceWithSha256(sha256);
        if (!source)
            return std::unexpected(source.error());
        const std::size_t note = std::min(step.body.size(), sha256_prefix.size() + sha256_digits + 2);
        pending.push_back({parent, std::move(*source), step.body.substr(note)});
    }
    return pending;
}

}  // namespace cuco
