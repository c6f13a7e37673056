// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a session that sets the numbers of what a model wrote.
#include "core/agents/slow_path.h"
#include "core/agents/tunable_moves.h"
#include "core/run/run_session.h"

#include <fmt/format.h>

#include <set>

namespace cuco {

namespace {

/// Keeps these draws apart from those of proposals.
constexpr std::uint64_t tuning_stream = 0x74756e65u;
constexpr int most_draws_a_choice = 16;
constexpr const char* tuning_agent = "tuning";

/// Different from each other and from what was written: one or two numbers moved to a neighbouring choice, by chance;
/// where there are few such, the nearest further ones.
std::vector<TunableValues> choicesToRace(std::span<const Tunable> tunables, int count, ProposalRandom random)
{
    std::set<TunableValues> seen{valuesOf(tunables)};
    std::vector<TunableValues> choices;
    for (int draw = 0; draw < count * most_draws_a_choice && std::cmp_less(choices.size(), count); ++draw) {
        const auto values = movedValues(tunables, 1 + static_cast<int>(random.index(2)), random);
        if (values && seen.insert(*values).second)
            choices.push_back(*values);
    }
    visitNearestFirst(tunables, [&](const TunableValues& values) {
        if (std::cmp_less(choices.size(), count) && seen.insert(values).second)
            choices.push_back(values);
        return std::cmp_equal(choices.size(), count);
    });
    return choices;
}

}  // namespace

/// Hands the candidate's other choices to the compilers; false when it has none, or is none of a model's.
bool RunSession::beginRace(int number, const EvaluationRequest& request, const EvaluationResult& own)
{
    const int most = run_.config.slow_path.raced_choices;
    if (run_.config.proposer != "llm" || most == 0 || !own.evaluation.verified() || !own.evaluation.ciLow())
        return false;
    {
        const std::scoped_lock guard(run_.mutex);
        if (run_.population.at(number)->proposer != llm_proposer)
            return false;
    }
    const auto source = KernelSource::parse(request.source);
    const auto tunables = source ? findTunables(*source) : std::unexpected(source.error());
    if (!tunables || tunables->empty())
        return false;
    TuningRace race{request, own, {}, 0};
    const ProposalRandom random(run_.config.seed ^ tuning_stream, static_cast<std::uint64_t>(number));
    for (TunableValues& values : choicesToRace(*tunables, most, random))
        if (auto text = withTunables(*source, values))
            race.variants.push_back({std::move(values), std::move(*text), {}});
    if (race.variants.empty())
        return false;
    race.compiling = race.variants.size();
    setState(number, CandidateState::compiling);
    const std::scoped_lock guard(run_.mutex);
    for (std::size_t variant = 0; variant < race.variants.size(); ++variant)
        to_compile_.insert({number, static_cast<int>(variant)});
    races_.emplace(number, std::move(race));
    to_compile_changed_.notify_all();
    return true;
}

void RunSession::compileVariant(int number, std::size_t variant)
{
    EvaluationRequest request;
    {
        const std::scoped_lock guard(run_.mutex);
        const TuningRace& race = races_.at(number);
        request = race.request;
        request.source = race.variants[variant].source;
    }
    request.check_directive = false;  // numbers make no other design
    auto compiled = run_.evaluator->compile(request, halt_.get_token());
    if (halted())
        return;
    if (!compiled)
        return fail(compiled.error());
    bool all = false;
    {
        const std::scoped_lock guard(run_.mutex);
        TuningRace& race = races_.at(number);
        race.variants[variant].compiled = std::move(*compiled);
        all = --race.compiling == 0;
    }
    if (!all)
        return;
    setState(number, CandidateState::queued);
    const std::scoped_lock guard(run_.mutex);
    to_measure_.emplace(number, ToMeasure{});
    to_measure_changed_.notify_one();
}

/// The candidate becomes its fastest variant; the table says what the others were.
void RunSession::race(int number, TuningRace race)
{
    std::string id;
    TunableValues written;
    {
        const std::scoped_lock guard(run_.mutex);
        id = run_.population.at(number)->id;
        written = run_.population.at(number)->tunables;
    }
    auto outcome =
        raceTunables(*run_.evaluator, race.request, written, race.own.evaluation, race.variants, halt_.get_token());
    if (halted())
        return;
    if (!outcome)
        return fail(outcome.error());
    AgentStep step;
    step.candidate_id = id;
    step.agent = tuning_agent;
    step.title = fmt::format("Raced {} choices of the tunables of {}", race.variants.size(), id);
    step.body = tuningTable(*outcome, race.own.evaluation.modelled);
    if (auto stored = trace_.addStep(std::move(step)); !stored)
        return fail(stored.error());
    if (!outcome->winner)
        return settle(number, std::move(race.own));
    TunableVariant& winner = race.variants[*outcome->winner];
    settle(number, std::move(outcome->result), Tuned{std::move(winner.source), std::move(winner.values)});
}

}  // namespace cuco
