// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/search_plan.h"

#include "core/agents/tunable_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>

namespace cuco {

namespace {

constexpr std::size_t most_empty_cells = 12;

bool isRejected(const Candidate& candidate)
{
    return candidate.decision == DecisionKind::rejected;
}

/// One plan in the making. The draws come in a fixed order, so that a setting which changes one does not change all.
class Planner {
public:
    Planner(const SearchPopulation& population, const ProposalContext& context, const SlowPathSettings& settings)
        : population_(population),
          context_(context),
          settings_(settings),
          random_(context.run_seed, static_cast<std::uint64_t>(context.number))
    {
    }

    SearchPlan make()
    {
        plan_.phase = phaseAt(context_.generation - 1, context_.generations, settings_.phases);
        chooseParent();
        chooseMove();
        if (!plan_.parent)
            return plan_;
        if (plan_.move.kind == PatchKind::crossover)
            choosePartners();
        chooseInspirations();
        tellFailures();
        return plan_;
    }

private:
    ParentChoice draw(std::vector<PossibleParent> from)
    {
        return drawParent(std::move(from), context_.parent_selection, random_);
    }

    void chooseParent()
    {
        std::string from = fmt::format("island {}", context_.island);
        ParentChoice choice = draw(population_.parentsOn(context_.island).parents);
        if (!choice.chosen) {
            from = "all islands, as nothing on this one verified";
            choice = draw(population_.parents().parents);
        }
        if (choice.chosen) {
            plan_.parent = population_.find(choice.chosen->id);
            plan_.why = explainParent(choice, context_.parent_selection, from);
            return;
        }
        plan_.parent = latestFailure();
        plan_.repair = plan_.parent != nullptr;
        plan_.why = "Nothing verified yet, so what failed last is mended.";
    }

    SearchPlan::Pointer latestFailure() const
    {
        SearchPlan::Pointer latest;
        for (const auto& candidate : population_.candidates()) {
            const bool here = candidate->island == context_.island;
            if (!isRejected(*candidate) && candidate->evaluation &&
                candidate->evaluation->verdict != Verdict::duplicate &&
                (here || !latest || latest->island != context_.island))
                latest = candidate;
        }
        return latest;
    }

    void chooseMove()
    {
        const bool two = population_.parents().parents.size() >= 2;
        plan_.move = drawMove(plan_.phase, two && !plan_.repair, settings_.phases, random_);
        if (plan_.repair)
            plan_.move.kind = PatchKind::full;
    }

    /// From all islands: a crossover is how they learn from each other between migrations.
    void choosePartners()
    {
        const auto wanted = 1 + random_.index(static_cast<std::size_t>(settings_.crossover_parents - 1));
        std::vector<PossibleParent> others = population_.parents().parents;
        const auto leaveOut = [&others](const Candidate* candidate) {
            std::erase_if(others, [candidate](const PossibleParent& other) { return other.candidate == candidate; });
        };
        leaveOut(plan_.parent.get());
        while (plan_.partners.size() < wanted && !others.empty()) {
            const ParentChoice choice = draw(others);
            if (!choice.chosen)
                break;
            plan_.partners.push_back(population_.find(choice.chosen->id));
            leaveOut(choice.chosen);
        }
    }

    void chooseInspirations()
    {
        std::set<std::string> used{plan_.parent->id};
        for (const auto& partner : plan_.partners)
            used.insert(partner->id);
        const auto take = [&](const SearchPlan::Pointer& candidate) {
            if (candidate && !isRejected(*candidate) && used.insert(candidate->id).second)
                plan_.inspirations.push_back(candidate);
        };
        auto elites = population_.archive().elites();
        for (int i = 0; i < settings_.archive_inspirations && !elites.empty(); ++i) {
            const auto drawn = elites.begin() + static_cast<std::ptrdiff_t>(random_.index(elites.size()));
            take(population_.find(drawn->id));
            elites.erase(drawn);
        }
        const auto& [parents, by_fitness] = population_.parentsOn(context_.island);
        const auto enough = plan_.inspirations.size() + static_cast<std::size_t>(settings_.top_inspirations);
        for (auto index = by_fitness.begin(); index != by_fitness.end() && plan_.inspirations.size() < enough; ++index)
            take(population_.find(parents[*index].candidate->id));
    }

    void tellFailures()
    {
        for (const auto& candidate :
             population_.rejected() | std::views::reverse | std::views::take(settings_.told_rejections))
            plan_.rejected.push_back(candidate);
        for (const auto& candidate : population_.failuresOn(context_.island) | std::views::reverse) {
            if (std::cmp_greater_equal(plan_.failures.size(), settings_.told_failures))
                break;
            if (candidate != plan_.parent)
                plan_.failures.push_back(candidate);
        }
    }

    const SearchPopulation& population_;
    const ProposalContext& context_;
    const SlowPathSettings& settings_;
    ProposalRandom random_;
    SearchPlan plan_;
};

}  // namespace

SearchPlan planProposal(const SearchPopulation& population, const ProposalContext& context,
                        const SlowPathSettings& settings)
{
    return Planner(population, context, settings).make();
}

std::string describeArchive(const Archive& archive, const std::vector<ArchiveCell>& valid_cells)
{
    std::string text = "| directive | best | speed-up, lower bound |\n|---|---|---|\n";
    for (const Elite& elite : archive.elites())
        text += fmt::format("| {} | {} | {:.3f} |\n", toString(elite.cell), elite.id, std::exp(elite.fitness));
    std::vector<const ArchiveCell*> empty;
    for (const ArchiveCell& cell : valid_cells)
        if (!archive.at(cell))
            empty.push_back(&cell);
    if (empty.empty())
        return text;
    text += fmt::format("\nNobody has tried {} of {} kinds of directive, among them:\n\n", empty.size(),
                        valid_cells.size());
    const std::size_t stride = empty.size() / most_empty_cells + 1;  // of all parts of the space
    for (std::size_t i = 0; i < empty.size(); i += stride)
        text += "- " + toString(*empty[i]) + "\n";
    return text;
}

}  // namespace cuco
