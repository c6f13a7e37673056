// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/tunable_proposer.h"

#include "core/agents/tunable_moves.h"
#include "core/agents/tunable_reasons.h"
#include "core/base/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace cuco {

namespace {

using Template = TunableProposer::Template;

constexpr std::uint64_t most_source_bytes = 4u << 20;
constexpr double exploring_share = 0.4;
/// How often drawing at random is tried before the choices are gone through in order.
constexpr int most_draws = 16;

/// Chances of the moves in each phase. What is left is a move of tunables.
struct PhaseChances {
    double start_strategy, cross, move_two;
    double migrate;  ///< a parent from any island
};
constexpr PhaseChances exploring_chances{0.5, 0.4, 0.5, 0};
constexpr PhaseChances refining_chances{0.15, 0.25, 0.25, 0.5};

Result<Template> makeTemplate(std::string name, std::string text, const std::string& where)
{
    const auto unusable = [&](const SourceFault& fault) {
        return failure(fmt::format("The strategy {} cannot be used: {}", name, fault.message),
                       fault.line ? fmt::format("{}:{}", where, fault.line) : where, "Correct its source.");
    };
    auto source = KernelSource::parse(std::move(text));
    if (!source)
        return unusable(source.error());
    auto directive = parseDirective(*source);
    if (!directive)
        return unusable(directive.error());
    auto tunables = findTunables(*source);
    if (!tunables)
        return unusable(tunables.error());
    return Template{std::move(name), std::move(*source), std::move(*directive), std::move(*tunables)};
}

Result<Proposal> makeProposal(const Template& base, const TunableValues& values)
{
    auto text = withTunables(base.source, values);
    if (!text)
        return failure(fmt::format("The tunables of {} could not be set: {}", base.name, text.error().message));
    Proposal proposal;
    proposal.source = std::move(*text);
    proposal.proposer = tunable_proposer;
    proposal.strategy = base.name;
    proposal.directive = base.directive;
    proposal.tunables = values;
    return proposal;
}

/// One proposal in the making.
class Search {
public:
    Search(const std::vector<Template>& templates, const ProposalContext& context)
        : templates_(templates),
          context_(context),
          random_(context.run_seed, context.number),
          exploring_generations_(std::max(1, static_cast<int>(std::lround(exploring_share * context.generations)))),
          exploring_(context.generation <= exploring_generations_),
          chances_(exploring_ ? exploring_chances : refining_chances)
    {
        for (const auto& candidate : context.visible)
            for (const std::string& parent : candidate->parents)
                ++children_[parent];
    }

    Result<std::optional<Proposal>> run(std::stop_token stop)
    {
        const auto untried = untriedStrategies();
        chooseParent();
        if (!untried.empty() && (!parent_ || mustStart(untried.size()) || random_.uniform() < chances_.start_strategy))
            return startStrategy(*untried[random_.index(untried.size())], untried);

        auto base = parent_ ? templateOf(*parent_) : Result<Template>(templates_[random_.index(templates_.size())]);
        if (!base)
            return std::unexpected(base.error());
        for (int draw = 0; draw < most_draws; ++draw) {
            auto drawn = random_.uniform() < chances_.cross ? cross(*base) : move(*base);
            if (!drawn || (*drawn && !isKnown(**drawn)))
                return drawn;
        }
        return nearestUntried(*base, std::move(stop));
    }

private:
    bool isKnown(const Proposal& proposal) const { return context_.is_known(sha256Hex(proposal.source)); }

    std::vector<const Template*> untriedStrategies() const
    {
        std::vector<const Template*> untried;
        for (const Template& candidate : templates_)
            if (!context_.is_known(sha256Hex(candidate.source.text())))
                untried.push_back(&candidate);
        return untried;
    }

    /// Whether the exploring generations that are left are needed to reach every strategy.
    bool mustStart(std::size_t untried) const
    {
        const int left = (exploring_generations_ - context_.generation) * context_.proposals_per_generation + 1;
        return exploring_ && static_cast<int>(untried) >= left;
    }

    ParentChoice weighted(const std::function<bool(const Candidate&)>& eligible)
    {
        std::vector<PossibleParent> parents;
        for (const auto& candidate : context_.visible)
            if (eligible(*candidate))
                if (const auto parent = asPossibleParent(*candidate, children_[candidate->id]))
                    parents.push_back(*parent);
        return drawParent(std::move(parents), context_.parent_selection, random_);
    }

    /// From the island; sometimes, and while nothing in the island can be a parent, from all of them.
    void chooseParent()
    {
        bool everywhere = random_.uniform() < chances_.migrate;
        ParentChoice choice =
            weighted([&](const Candidate& other) { return everywhere || other.island == context_.island; });
        if (!choice.chosen && !everywhere) {
            everywhere = true;
            choice = weighted([](const Candidate&) { return true; });
        }
        parent_ = choice.chosen;
        if (parent_)
            addStep(fmt::format("Chose parent {}", parent_->id),
                    explainParent(choice, context_.parent_selection,
                                  everywhere ? "all islands" : fmt::format("island {}", context_.island)));
    }

    /// From the candidate's own text: it may come from elsewhere than a strategy of the workload.
    Result<Template> templateOf(const Candidate& candidate) const
    {
        auto text = context_.source_of(candidate.id);
        if (!text)
            return std::unexpected(text.error());
        return makeTemplate(candidate.strategy, std::move(*text), candidate.id);
    }

    Result<std::optional<Proposal>> startStrategy(const Template& started, const std::vector<const Template*>& untried)
    {
        auto proposal = makeProposal(started, valuesOf(started.tunables));
        if (!proposal)
            return std::unexpected(proposal.error());
        std::vector<std::string> names;
        for (const Template* other : untried)
            names.push_back(other->name);
        steps_.clear();  // a strategy that is started has no parent
        addStep(fmt::format("Started strategy {}", started.name), phase() + explainStart(names, started.name));
        return finished(std::move(*proposal), {}, fmt::format("strategy {} as it was written", started.name));
    }

    Result<std::optional<Proposal>> move(const Template& base)
    {
        const int count = random_.uniform() < chances_.move_two ? 2 : 1;
        const auto values = movedValues(base.tunables, count, random_);
        if (!values)
            return std::nullopt;
        return moved(base, *values, "One or two tunables move to a neighbouring choice.");
    }

    Result<std::optional<Proposal>> moved(const Template& base, const TunableValues& values, const std::string& why)
    {
        auto proposal = makeProposal(base, values);
        if (!proposal)
            return std::unexpected(proposal.error());
        const std::string changes = describeChanges(base.tunables, values);
        const auto kept = steps_;
        addStep(fmt::format("Moved {}", changes), phase() + explainMove(base.tunables, values, why));
        auto result = finished(std::move(*proposal), parentIds(), changes);
        steps_ = kept;
        return result;
    }

    /// The parent's strategy with values of another candidate, or, while exploring, the other's strategy with values of
    /// the parent.
    Result<std::optional<Proposal>> cross(const Template& base)
    {
        if (!parent_)
            return std::nullopt;
        const bool other_strategy = exploring_ && random_.uniform() < 0.5;
        const ParentChoice choice = weighted([&](const Candidate& other) {
            return &other != parent_ && (!other_strategy || other.strategy != parent_->strategy);
        });
        if (!choice.chosen)
            return std::nullopt;
        const Candidate& partner = *choice.chosen;
        const auto crossed_base = other_strategy ? templateOf(partner) : Result<Template>(base);
        if (!crossed_base)
            return std::unexpected(crossed_base.error());
        const TunableValues& giver = other_strategy ? parent_->tunables : partner.tunables;
        const std::string giver_id = other_strategy ? parent_->id : partner.id;
        const auto values = crossedValues(crossed_base->tunables, giver, random_);
        if (!values)
            return std::nullopt;
        auto proposal = makeProposal(*crossed_base, *values);
        if (!proposal)
            return std::unexpected(proposal.error());
        const std::string changes = describeChanges(crossed_base->tunables, *values);
        const std::string taker_id = other_strategy ? partner.id : parent_->id;
        const auto kept = steps_;
        addStep(fmt::format("Crossed {} with {}", taker_id, giver_id),
                phase() + explainCross(choice, crossed_base->name, taker_id, giver_id, changes));
        auto result =
            finished(std::move(*proposal), {taker_id, giver_id}, fmt::format("{} (from {})", changes, giver_id));
        steps_ = kept;
        return result;
    }

    /// When drawing only met known texts: the nearest untried combination of the parent, then of any strategy.
    Result<std::optional<Proposal>> nearestUntried(const Template& base, std::stop_token stop)
    {
        std::vector<const Template*> order{&base};
        for (const Template& other : templates_)
            order.push_back(&other);
        for (const Template* candidate : order) {
            Result<std::optional<Proposal>> found = std::nullopt;
            visitNearestFirst(candidate->tunables, [&](const TunableValues& values) {
                if (stop.stop_requested())
                    return true;
                const auto text = withTunables(candidate->source, values);
                if (!text || context_.is_known(sha256Hex(*text)))
                    return false;
                if (candidate != &base)
                    parent_ = nullptr;
                found = moved(*candidate, values,
                              "Every choice that was drawn is known already, so the nearest untried one is taken.");
                return true;
            });
            if (!found || *found)
                return found;
        }
        return std::nullopt;
    }

    std::vector<std::string> parentIds() const
    {
        return parent_ ? std::vector{parent_->id} : std::vector<std::string>{};
    }

    std::string phase() const
    {
        return fmt::format("Generation {} of {}, island {}: {} (the first {} explore).\n\n", context_.generation,
                           context_.generations, context_.island, exploring_ ? "exploring" : "refining",
                           exploring_generations_);
    }

    void addStep(std::string title, std::string body)
    {
        AgentStep step;
        step.id = static_cast<int>(steps_.size()) + 1;
        step.parent = steps_.empty() ? 0 : 1;
        step.agent = "tunable proposer";
        step.title = std::move(title);
        step.body = std::move(body);
        steps_.push_back(std::move(step));
    }

    std::optional<Proposal> finished(Proposal proposal, std::vector<std::string> parents, std::string summary) const
    {
        proposal.parents = std::move(parents);
        proposal.summary = std::move(summary);
        proposal.steps = steps_;
        return proposal;
    }

    const std::vector<Template>& templates_;
    const ProposalContext& context_;
    ProposalRandom random_;
    int exploring_generations_;
    bool exploring_;
    PhaseChances chances_;
    std::unordered_map<std::string, int> children_;
    const Candidate* parent_ = nullptr;
    std::vector<AgentStep> steps_;
};

}  // namespace

Result<std::unique_ptr<TunableProposer>> TunableProposer::create(const Workload& workload, std::string seed_source)
{
    std::vector<Template> templates;
    const auto add = [&](const std::string& name, std::string text, const std::string& where) -> Result<void> {
        auto made = makeTemplate(name, std::move(text), where);
        if (!made)
            return std::unexpected(made.error());
        const auto same = [&](const Template& other) { return other.source.text() == made->source.text(); };
        if (std::ranges::none_of(templates, same))
            templates.push_back(std::move(*made));
        return {};
    };
    const auto addFile = [&](const std::string& name, const std::filesystem::path& file) -> Result<void> {
        auto text = readFile(file, most_source_bytes);
        if (!text)
            return std::unexpected(text.error());
        return add(name, std::move(*text), file.string());
    };

    Result<void> added;
    if (!seed_source.empty())
        added = add("own seed", std::move(seed_source), "the run's own seed");
    else if (!workload.seed_source.empty())
        added = addFile(workload.seed_source.stem().string(), workload.seed_source);
    if (!added)
        return std::unexpected(added.error());
    for (const Strategy& strategy : workload.strategies)
        if (added = addFile(strategy.name, strategy.file); !added)
            return std::unexpected(added.error());
    if (templates.empty())
        return failure(fmt::format("The workload {} has neither a seed nor a strategy to begin with", workload.name),
                       (workload.folder / "workload.json").string(),
                       "Name a seed in its \"sources\", or begin with a source of your own (--seed-source FILE).");
    return std::unique_ptr<TunableProposer>(new TunableProposer(std::move(templates)));
}

Result<Proposal> TunableProposer::seed(int island) const
{
    const auto position = static_cast<std::size_t>(island);
    const Template& base = templates_[position % templates_.size()];
    // With more islands than strategies the later ones begin a step further away each.
    std::size_t skip = position / templates_.size();
    TunableValues values = valuesOf(base.tunables);
    visitNearestFirst(base.tunables, [&](const TunableValues& visited) {
        values = visited;
        return skip-- == 0;
    });
    auto proposal = makeProposal(base, values);
    if (!proposal)
        return proposal;
    const std::string changes = describeChanges(base.tunables, values);
    proposal->proposer = "seed";
    proposal->summary = changes.empty() ? fmt::format("strategy {} as it was written", base.name) : changes;
    AgentStep step;
    step.id = 1;
    step.agent = "tunable proposer";
    step.title = fmt::format("Seeded island {} with {}", island, base.name);
    step.body = explainSeed(island, base.name, toString(base.directive));
    proposal->steps.push_back(std::move(step));
    return proposal;
}

Result<ProposalOutcome> TunableProposer::propose(const ProposalContext& context, std::stop_token stop)
{
    if (context.generation == 0) {
        auto begun = seed(context.island);
        if (!begun)
            return std::unexpected(begun.error());
        return ProposalOutcome(std::move(*begun));
    }
    auto found = Search(templates_, context).run(std::move(stop));
    if (!found)
        return std::unexpected(found.error());
    if (!*found)
        return noProposal(NoProposal::Then::finish, "Everything there is to try has been tried.");
    return ProposalOutcome(std::move(**found));
}

}  // namespace cuco
