// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/feedback.h"

#include "core/agents/prompt.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

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
