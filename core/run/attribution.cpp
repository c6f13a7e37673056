// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/attribution.h"

#include "core/evaluation/evaluate_all.h"
#include "core/source/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

namespace cuco {

namespace {

using HunkRange = std::pair<std::size_t, std::size_t>;

/// Half the width of a 95 % interval of a normal distribution, in standard deviations.
constexpr double half_width_95 = 1.959964;

/// Evaluates texts of one attribution and counts them.
class Bench {
public:
    Bench(CandidateEvaluator& evaluator, const AttributionRequest& request, const AttributionProgress& progress,
          std::stop_token stop)
        : evaluator_(evaluator), request_(request), progress_(progress), stop_(std::move(stop))
    {
    }

    struct Text {
        std::string name, source;
    };
    Result<std::vector<Evaluation>> evaluate(const std::vector<Text>& texts)
    {
        std::vector<EvaluationRequest> requests;
        for (const Text& text : texts) {
            EvaluationRequest& one = requests.emplace_back();
            one.source = text.source;
            one.until = Stage::benchmark;
            one.all_rounds = true;
            one.ranks = request_.ranks;
            one.check_races = request_.check_races;
        }
        total_ += static_cast<int>(texts.size());
        std::vector<Evaluation> results(texts.size());
        std::optional<Error> error;
        const auto settled = [&](std::size_t index, Result<EvaluationResult> result) {
            if (!result) {
                error = error ? error : result.error();
                return;
            }
            results[index] = std::move(result->evaluation);
            if (progress_)
                progress_(++done_, total_, texts[index].name, results[index]);
        };
        evaluateAll(evaluator_, requests, std::max(1, static_cast<int>(std::thread::hardware_concurrency())), settled,
                    stop_);
        if (stop_.stop_requested())
            return failure("The attribution was stopped.");
        if (error)
            return std::unexpected(*error);
        return results;
    }

private:
    CandidateEvaluator& evaluator_;
    const AttributionRequest& request_;
    const AttributionProgress& progress_;
    std::stop_token stop_;
    int done_ = 0, total_ = 0;
};

/// A speed-up's logarithm with its standard deviation, as its interval tells.
struct LogSpeedup {
    double value = 0, deviation = 0;
};

std::optional<LogSpeedup> logSpeedup(const Evaluation& evaluation)
{
    const auto speedup = evaluation.speedup(), low = evaluation.ciLow(), high = evaluation.ciHigh();
    if (!evaluation.verified() || !speedup || !low || !high)
        return std::nullopt;
    return LogSpeedup{std::log(*speedup), (std::log(*high) - std::log(*low)) / (2 * half_width_95)};
}

/// (with − without) / (with − ancestor), its interval by the delta method, the three as independent.
std::optional<GainShare> shareOf(const std::optional<LogSpeedup>& with, const std::optional<LogSpeedup>& ancestor,
                                 const std::optional<LogSpeedup>& without)
{
    if (!with || !ancestor || !without)
        return std::nullopt;
    const double gain = with->value - ancestor->value;
    if (gain <= half_width_95 * std::hypot(with->deviation, ancestor->deviation) || !(gain > 0))
        return std::nullopt;
    const double share = (with->value - without->value) / gain;
    const double deviation =
        std::hypot((1 - share) * with->deviation, without->deviation, share * ancestor->deviation) / gain;
    return GainShare{share, share - half_width_95 * deviation, share + half_width_95 * deviation};
}

std::string nameOf(const HunkRange& range)
{
    return range.first == range.second ? fmt::format("without hunk {}", range.first + 1)
                                       : fmt::format("without hunks {} to {}", range.first + 1, range.second + 1);
}

/// The next neighbour, the one before, both.
std::vector<HunkRange> wider(std::size_t hunk, std::size_t hunks)
{
    std::vector<HunkRange> ranges;
    if (hunk + 1 < hunks)
        ranges.emplace_back(hunk, hunk + 1);
    if (hunk > 0)
        ranges.emplace_back(hunk - 1, hunk);
    if (hunk > 0 && hunk + 1 < hunks)
        ranges.emplace_back(hunk - 1, hunk + 1);
    return ranges;
}

Result<void> checkFrozen(const AttributionRequest& request)
{
    const auto ancestor = KernelSource::parse(request.ancestor_source);
    const auto candidate = KernelSource::parse(request.candidate_source);
    if (!ancestor || !candidate)
        return failure(
            fmt::format("{} has no proper evolve blocks: {}", ancestor ? request.candidate : request.ancestor,
                        (ancestor ? candidate : ancestor).error().message),
            {}, "Choose another candidate to compare with.");
    if (const auto same = compareFrozen(*ancestor, *candidate); !same)
        return failure(fmt::format("{} and {} differ outside their evolve blocks: {}", request.ancestor,
                                   request.candidate, same.error().message),
                       {}, "Choose another candidate to compare with.");
    return {};
}

}  // namespace

bool cannotBeTakenBack(const Evaluation& without)
{
    return !without.verified() && (without.stage == Stage::screen || without.stage == Stage::compile);
}

Result<AttributionRequest> attributionRequest(RunFile& file, const std::string& candidate_id,
                                              const std::string& against)
{
    const auto snapshot = file.snapshot();
    if (!snapshot)
        return std::unexpected(snapshot.error());
    const auto find = [&](const std::string& id) -> const Candidate* {
        const auto found = std::ranges::find(snapshot->candidates, id, &Candidate::id);
        return found == snapshot->candidates.end() ? nullptr : &*found;
    };
    const Candidate* candidate = find(candidate_id);
    const Candidate* ancestor = candidate;
    if (against != "seed")
        ancestor = find(against);
    // Parents were there before their children, so this ends; a file from elsewhere may say otherwise.
    for (std::size_t steps = 0; against == "seed" && ancestor && !ancestor->parents.empty(); ++steps)
        ancestor = steps < snapshot->candidates.size() ? find(ancestor->parents.front()) : nullptr;
    // Begun by itself, as a workload's strategy is: then what its island began with.
    if (against == "seed" && candidate && ancestor == candidate)
        ancestor = &*std::ranges::find_if(snapshot->candidates, [&](const Candidate& seed) {
            return &seed == candidate || (seed.generation == 0 && seed.island == candidate->island);
        });
    if (!candidate || !ancestor)
        return failure(fmt::format("There is no candidate {}", candidate ? against : candidate_id),
                       file.path().string(), "Choose one of those that `cucoctl show` lists.");
    if (candidate == ancestor)
        return failure(fmt::format("{} descends from nothing it could be compared with", candidate_id),
                       file.path().string(), "Name a candidate to compare with by --against.");
    AttributionRequest request{
        candidate->id, ancestor->id, {}, {}, snapshot->config.ranks, snapshot->config.check_races};
    for (const auto& [id, text] : {std::pair(&request.candidate, &request.candidate_source),
                                   std::pair(&request.ancestor, &request.ancestor_source)}) {
        auto source = file.source(*id);
        if (!source)
            return std::unexpected(source.error());
        *text = std::move(*source);
    }
    return request;
}

Result<Attribution> attribute(CandidateEvaluator& evaluator, const AttributionRequest& request,
                              const AttributionProgress& progress, std::stop_token stop)
{
    if (auto same = checkFrozen(request); !same)
        return std::unexpected(same.error());
    const auto difference = SourceHunks::between(request.ancestor_source, request.candidate_source);
    if (!difference)
        return std::unexpected(difference.error());
    const std::size_t hunks = difference->hunks().size();
    if (hunks == 0)
        return failure(fmt::format("{} and {} have the same text", request.candidate, request.ancestor), {},
                       "Choose another candidate to compare with.");

    Bench bench(evaluator, request, progress, stop);
    std::map<HunkRange, Evaluation> without;
    std::vector<Bench::Text> texts{{request.candidate, request.candidate_source},
                                   {request.ancestor, request.ancestor_source}};
    // Without its one hunk the candidate is the ancestor.
    for (std::size_t hunk = 0; hunk < hunks && hunks > 1; ++hunk)
        texts.push_back({nameOf({hunk, hunk}), difference->without(hunk, hunk)});
    auto first = bench.evaluate(texts);
    if (!first)
        return std::unexpected(first.error());
    Attribution result{request.candidate, request.ancestor, difference->hunks(), (*first)[0], (*first)[1], {}};
    for (std::size_t hunk = 0; hunk < hunks; ++hunk)
        without[{hunk, hunk}] = (*first)[hunks > 1 ? hunk + 2 : 1];

    for (std::size_t hunk = 0; hunk < hunks; ++hunk) {
        if (!cannotBeTakenBack(without.at({hunk, hunk})))
            continue;
        for (const HunkRange& range : wider(hunk, hunks)) {
            if (!without.contains(range)) {
                auto one = bench.evaluate({{nameOf(range), difference->without(range.first, range.second)}});
                if (!one)
                    return std::unexpected(one.error());
                without[range] = std::move(one->front());
            }
            if (!cannotBeTakenBack(without.at(range)))
                break;
        }
    }

    const auto with_all = logSpeedup(result.with_all), with_none = logSpeedup(result.with_none);
    for (auto& [range, evaluation] : without) {
        // Of several that were tried together, those that worked.
        if (range.first != range.second && cannotBeTakenBack(evaluation))
            continue;
        const auto share = shareOf(with_all, with_none, logSpeedup(evaluation));
        result.effects.push_back({range.first, range.second, std::move(evaluation), share});
    }
    return result;
}

}  // namespace cuco
