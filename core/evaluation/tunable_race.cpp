// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/tunable_race.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

constexpr std::size_t finalists = 2;

/// One race.
class Race {
public:
    Race(CandidateEvaluator& evaluator, const EvaluationRequest& request, const std::vector<TunableVariant>& variants,
         std::stop_token stop)
        : evaluator_(evaluator), request_(request), variants_(variants), stop_(std::move(stop))
    {
        const Workload& workload = evaluator.workload();
        shapes_ = !request.shapes.empty()                        ? request.shapes
                  : evaluator.probe().kind == NodeKind::emulated ? workload.emulated_search_shapes
                                                                 : workload.search_shapes;
        for (const TunableVariant& variant : variants) {
            TuningRow row;
            row.values = variant.values;
            row.verdict = variant.compiled.evaluation.verdict;
            row.message = variant.compiled.evaluation.message;
            rows.push_back(std::move(row));
            if (variant.compiled.evaluation.verified())
                running_.push_back(rows.size() - 1);
        }
    }

    Result<void> halve()
    {
        for (std::size_t shapes = 1; running_.size() > finalists && shapes < shapes_.size(); ++shapes) {
            for (const std::size_t variant : running_)
                if (auto measured = measure(variant, shapes); !measured)
                    return std::unexpected(measured.error());
            keepFaster(std::max(finalists, (running_.size() + 1) / 2));
        }
        return {};
    }

    Result<std::optional<std::size_t>> decide(const Evaluation& own, EvaluationResult& result)
    {
        std::optional<std::size_t> winner;
        double best = own.ciLow().value_or(0);
        for (const std::size_t variant : running_) {
            auto measured = measure(variant, 0);
            if (!measured)
                return std::unexpected(measured.error());
            const auto low = measured->evaluation.verified() ? measured->evaluation.ciLow() : std::nullopt;
            if (low && *low > best) {
                best = *low;
                winner = variant;
                result = std::move(*measured);
            }
        }
        return winner;
    }

    std::vector<TuningRow> rows;

private:
    /// At the first `shapes`, without a profile; 0: whole.
    Result<EvaluationResult> measure(std::size_t variant, std::size_t shapes)
    {
        EvaluationRequest request = request_;
        request.source = variants_[variant].source;
        if (shapes > 0) {
            request.until = Stage::benchmark;
            request.shapes.assign(shapes_.begin(), shapes_.begin() + static_cast<std::ptrdiff_t>(shapes));
        }
        auto result = evaluator_.measure(request, variants_[variant].compiled, stop_);
        if (!result)
            return result;
        TuningRow& row = rows[variant];
        row.verdict = result->evaluation.verdict;
        row.message = result->evaluation.message;
        row.speedup = result->evaluation.verified() ? result->evaluation.speedup() : std::nullopt;
        row.shapes = static_cast<int>(result->evaluation.timings.size());
        return result;
    }

    void keepFaster(std::size_t count)
    {
        std::erase_if(running_, [&](std::size_t variant) { return !rows[variant].speedup; });
        std::ranges::stable_sort(running_, std::ranges::greater(),
                                 [&](std::size_t variant) { return *rows[variant].speedup; });
        running_.resize(std::min(running_.size(), count));
    }

    CandidateEvaluator& evaluator_;
    const EvaluationRequest& request_;
    const std::vector<TunableVariant>& variants_;
    std::stop_token stop_;
    std::vector<Shape> shapes_;
    std::vector<std::size_t> running_;
};

std::string toText(const TunableValues& values)
{
    std::string text;
    for (const auto& [name, value] : values)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    return text;
}

}  // namespace

Result<TuningOutcome> raceTunables(CandidateEvaluator& evaluator, const EvaluationRequest& request,
                                   const TunableValues& own_values, const Evaluation& own,
                                   const std::vector<TunableVariant>& variants, std::stop_token stop)
{
    Race race(evaluator, request, variants, std::move(stop));
    if (auto halved = race.halve(); !halved)
        return std::unexpected(halved.error());
    TuningOutcome outcome;
    const auto winner = race.decide(own, outcome.result);
    if (!winner)
        return std::unexpected(winner.error());
    outcome.winner = *winner;
    TuningRow as_written;
    as_written.values = own_values;
    as_written.shapes = static_cast<int>(own.timings.size());
    as_written.speedup = own.speedup();
    as_written.won = !outcome.winner;
    if (outcome.winner)
        race.rows[*outcome.winner].won = true;
    outcome.table.push_back(std::move(as_written));
    outcome.table.insert(outcome.table.end(), race.rows.begin(), race.rows.end());
    return outcome;
}

std::string tuningTable(const TuningOutcome& outcome, bool modelled)
{
    std::string text = fmt::format(
        "The first row is what was written. The slower half went out after each shape. Times are {}.\n\n"
        "| tunables | outcome | shapes | speed-up |\n|---|---|---:|---:|\n",
        modelled ? "modelled" : "measured");
    for (const TuningRow& row : outcome.table) {
        const char* mark = row.won ? "**" : "";
        text += fmt::format("| {}{}{} | {} | {} | {} |\n", mark, toText(row.values), mark, toString(row.verdict),
                            row.shapes, row.speedup ? fmt::format("{:.3f}×", *row.speedup) : "–");
    }
    std::string reasons;
    for (const TuningRow& row : outcome.table)
        if (row.verdict != Verdict::verified && !row.message.empty())
            reasons += fmt::format("- {}: {}\n", toText(row.values), row.message);
    if (!reasons.empty())
        text += "\n" + reasons;
    return text;
}

}  // namespace cuco
