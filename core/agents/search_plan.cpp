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

bool canBeParent(const Candidate& candidate)
{
    return !isRejected(candidate) && fitness(candidate).has_value();
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
    ParentChoice draw(const std::vector<SearchPlan::Pointer>& from)
    {
        ParentChoice choice;
        for (const auto& candidate : from) {
            choice.candidates.push_back(candidate.get());
            choice.children.push_back(population_.childrenOf(candidate->id));
        }
        choice.weights = parentWeights(choice.candidates, choice.children, context_.parent_selection);
        if (std::ranges::any_of(choice.weights, [](double weight) { return weight > 0; }))
            choice.chosen = choice.candidates[random_.weighted(choice.weights)];
        return choice;
    }

    void chooseParent()
    {
        std::string from = fmt::format("island {}", context_.island);
        ParentChoice choice = draw(population_.membersOf(context_.island));
        if (!choice.chosen) {
            from = "all islands, as nothing on this one verified";
            choice = draw(population_.candidates());
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
        int could = 0;
        for (auto candidate = population_.candidates().begin();
             candidate != population_.candidates().end() && could < 2; ++candidate)
            could += canBeParent(**candidate) ? 1 : 0;
        plan_.move = drawMove(plan_.phase, could >= 2 && !plan_.repair, settings_.phases, random_);
        if (plan_.repair)
            plan_.move.kind = PatchKind::full;
    }

    /// From all islands: a crossover is how they learn from each other between migrations.
    void choosePartners()
    {
        const auto wanted = 1 + random_.index(static_cast<std::size_t>(settings_.crossover_parents - 1));
        std::vector<SearchPlan::Pointer> others;
        for (const auto& candidate : population_.candidates())
            if (candidate != plan_.parent && canBeParent(*candidate))
                others.push_back(candidate);
        while (plan_.partners.size() < wanted && !others.empty()) {
            const ParentChoice choice = draw(others);
            if (!choice.chosen)
                break;
            const auto chosen = population_.find(choice.chosen->id);
            plan_.partners.push_back(chosen);
            std::erase(others, chosen);
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
        std::vector<std::pair<double, const SearchPlan::Pointer*>> fittest;
        for (const auto& candidate : population_.membersOf(context_.island))
            if (const auto score = isRejected(*candidate) ? std::nullopt : fitness(*candidate))
                fittest.emplace_back(*score, &candidate);
        std::erase_if(fittest, [&](const auto& scored) { return used.contains((*scored.second)->id); });
        const auto count =
            static_cast<std::ptrdiff_t>(std::min(fittest.size(), static_cast<std::size_t>(settings_.top_inspirations)));
        std::ranges::partial_sort(fittest, fittest.begin() + count, [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : (*a.second)->number < (*b.second)->number;
        });
        fittest.resize(static_cast<std::size_t>(count));
        for (const auto& [score, candidate] : fittest)
            take(*candidate);
    }

    void tellFailures()
    {
        for (const auto& candidate : population_.candidates() | std::views::reverse) {
            const bool failed = candidate->evaluation && !candidate->evaluation->verified() &&
                                candidate->evaluation->verdict != Verdict::duplicate;
            if (isRejected(*candidate)) {
                if (std::cmp_less(plan_.rejected.size(), settings_.told_rejections))
                    plan_.rejected.push_back(candidate);
            } else if (failed && candidate->island == context_.island && candidate != plan_.parent &&
                       std::cmp_less(plan_.failures.size(), settings_.told_failures)) {
                plan_.failures.push_back(candidate);
            }
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
