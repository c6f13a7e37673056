// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/slow_path.h"

#include "core/agents/search_answer.h"
#include "core/agents/search_prompt.h"
#include "core/agents/tunable_moves.h"
#include "core/agents/workload_facts.h"
#include "core/base/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace cuco {

namespace {

constexpr std::uint64_t most_source_bytes = 4u << 20;
constexpr std::size_t most_answer_bytes_repeated = 64u << 10;
/// Parents and inspirations come again and again: a hundred programs of the usual length.
constexpr std::size_t most_cached_bytes = 4u << 20;
/// Keeps the bandit's draws apart from those of plans.
constexpr std::uint64_t model_stream = 0x6d6f64656c73u;

std::vector<std::string> modelsOf(const SlowPathProposer::Parts& parts)
{
    std::vector<std::string> models{parts.models.model};
    models.insert(models.end(), parts.settings.further_models.begin(), parts.settings.further_models.end());
    return models;
}

/// How many of the latest children no answer was found for.
int substitutesInARow(const std::vector<std::shared_ptr<const Candidate>>& visible)
{
    int count = 0;
    for (const auto& candidate : visible | std::views::reverse) {
        if (candidate->proposer == llm_proposer || candidate->generation == 0)
            break;
        count += candidate->proposer == tunable_proposer ? 1 : 0;
    }
    return count;
}

/// A person and a recording have no name.
std::string who(const std::string& model)
{
    return model.empty() ? "whoever answers" : model;
}

ChatMessage repeated(const ChatResponse& response)
{
    const std::string said = response.text.substr(0, most_answer_bytes_repeated);
    return {ChatRole::assistant, said.empty() ? "(no text)" : validUtf8(said)};
}

}  // namespace

/// One child in the making. Whatever later plans change is copied.
struct SlowPathProposer::Draft {
    ProposalContext context;
    SearchPlan plan;
    std::string model, archive;
    Summarizer::Reading reading;
    Summarizer::Notes notes;  ///< once they were awaited
};

SlowPathProposer::SlowPathProposer(Parts parts, std::unique_ptr<TunableProposer> tunables, std::string facts,
                                   std::string system)
    : parts_(std::move(parts)),
      tunables_(std::move(tunables)),
      facts_(std::move(facts)),
      system_(std::move(system)),
      population_({parts_.islands, parts_.run_seed, parts_.settings.archive, parts_.settings.migration}),
      bandit_(modelsOf(parts_), parts_.settings.bandit),
      summarizer_(parts_.models, parts_.prompts, parts_.settings, parts_.islands),
      novelty_(parts_.settings.novelty, parts_.settings.raced_choices > 0),
      sources_(most_cached_bytes)
{
}

Result<std::unique_ptr<SlowPathProposer>> SlowPathProposer::create(Parts parts)
{
    auto tunables = TunableProposer::create(parts.workload, parts.seed_source);
    if (!tunables)
        return std::unexpected(tunables.error());
    for (const IslandPlan& island : parts.settings.islands)
        if (!island.strategy.empty() && std::ranges::find(parts.workload.strategies, island.strategy,
                                                          &Strategy::name) == parts.workload.strategies.end())
            return failure(fmt::format("An island is to begin with the strategy \"{}\", which {} does not have",
                                       island.strategy, parts.workload.name),
                           {}, "Name one of the files of the workload's strategies folder, without its ending.");
    auto facts = workloadFacts(parts.workload);
    if (!facts)
        return std::unexpected(facts.error());
    const auto contract = parts.prompts.notes({"contract"});
    if (!contract)
        return std::unexpected(contract.error());
    const auto design_space = parts.prompts.notes({"design_space"});
    if (!design_space)
        return std::unexpected(design_space.error());
    const auto notes = parts.prompts.notes({"nccl_device_common", "nccl_device_lsa", "nccl_device_gin"});
    if (!notes)
        return std::unexpected(notes.error());
    auto system = parts.prompts.render(
        "slow_path_system", {{"contract", *contract}, {"design_space", *design_space}, {"api_notes", *notes}});
    if (!system)
        return std::unexpected(system.error());
    return std::unique_ptr<SlowPathProposer>(
        new SlowPathProposer(std::move(parts), std::move(*tunables), std::move(*facts), std::move(*system)));
}

const IslandPlan& SlowPathProposer::islandPlan(int island) const
{
    static const IslandPlan plain;
    const auto& plans = parts_.settings.islands;
    return std::cmp_less(island, plans.size()) ? plans[static_cast<std::size_t>(island)] : plain;
}

/// What the island's plan names; else the first source with its backend; else what a search without models begins with.
Result<Proposal> SlowPathProposer::seed(const ProposalContext& context) const
{
    const IslandPlan& plan = islandPlan(context.island);
    for (const Strategy& strategy : parts_.workload.strategies) {
        if (plan.strategy.empty() ? plan.backend.empty() : strategy.name != plan.strategy)
            continue;
        auto text = readFile(strategy.file, most_source_bytes);
        if (!text)
            return std::unexpected(text.error());
        const auto source = KernelSource::parse(std::move(*text));
        const auto directive = source ? parseDirective(*source) : std::unexpected(source.error());
        if (!directive)
            return failure(fmt::format("The strategy {} cannot be used: {}", strategy.name, directive.error().message),
                           strategy.file.string(), "Correct its source.");
        if (plan.strategy.empty() && directive->backend != plan.backend)
            continue;
        Proposal proposal;
        proposal.source = source->text();
        proposal.proposer = "seed";
        proposal.strategy = strategy.name;
        proposal.summary = fmt::format("strategy {} as it was written", strategy.name);
        proposal.directive = *directive;
        if (const auto tunables = findTunables(*source))
            proposal.tunables = valuesOf(*tunables);
        return proposal;
    }
    return tunables_->seed(context.island);
}

/// Replays the choices before, so that a resumed run goes on as if it had never stopped.
std::string SlowPathProposer::chooseModel(const ProposalContext& context)
{
    while (std::cmp_less_equal(chosen_models_.size(), context.number)) {
        const auto number = static_cast<int>(chosen_models_.size());
        const auto seen = static_cast<std::size_t>(
            visibleTo(number, parts_.islands, context.proposals_per_generation / parts_.islands));
        for (; observed_ < std::min(seen, context.visible.size()); ++observed_) {
            const Candidate& candidate = *context.visible[observed_];
            const std::string& model = chosen_models_[observed_];
            if (candidate.parents.empty() || candidate.proposer == person_proposer) {
                bandit_.abandoned(model);
                continue;
            }
            const auto parent = population_.find(candidate.parents.front());
            bandit_.observe(model, parent ? fitness(*parent) : std::nullopt,
                            candidate.proposer == llm_proposer ? fitness(candidate) : std::nullopt);
        }
        ProposalRandom random(context.run_seed ^ model_stream, static_cast<std::uint64_t>(number));
        std::string model = number < parts_.islands ? std::string() : bandit_.choose(random);
        bandit_.submitted(model);
        chosen_models_.push_back(std::move(model));
    }
    return chosen_models_[static_cast<std::size_t>(context.number)];
}

/// A node that is probed again may be able to do more.
const std::vector<ArchiveCell>& SlowPathProposer::validOn(const std::set<std::string>& capabilities)
{
    if (valid_cells_.empty() || capabilities != capabilities_) {
        valid_cells_ = validCells(parts_.design_space, capabilities);
        capabilities_ = capabilities;
    }
    return valid_cells_;
}

Result<ProposalOutcome> SlowPathProposer::propose(const ProposalContext& context, std::stop_token stop)
{
    auto work = plan(context);
    if (!work)
        return std::unexpected(work.error());
    return (*work)(std::move(stop));
}

Result<ProposalWork> SlowPathProposer::plan(ProposalContext context)
{
    population_.update(context.visible);
    auto draft = std::make_shared<Draft>();
    draft->model = chooseModel(context);
    if (context.generation == 0)
        return [this, context = std::move(context)](std::stop_token) -> Result<ProposalOutcome> {
            auto proposal = seed(context);
            if (!proposal)
                return std::unexpected(proposal.error());
            return ProposalOutcome(std::move(*proposal));
        };
    draft->plan = planProposal(population_, context, parts_.settings);
    draft->archive = describeArchive(population_.archive(),
                                     validOn(context.node ? context.node->capabilities : std::set<std::string>{"lsa"}));
    draft->reading = summarizer_.plan(context);
    draft->context = std::move(context);
    return [this, draft](std::stop_token stop) { return work(*draft, std::move(stop)); };
}

Result<ChatRequest> SlowPathProposer::requestOf(const Draft& draft, const KernelSource& parent)
{
    SearchPromptParts prompt;
    prompt.workload = &parts_.workload;
    prompt.facts = facts_;
    prompt.node = draft.context.node;
    prompt.island = &islandPlan(draft.context.island);
    prompt.scratchpad = draft.notes.text;
    prompt.archive = draft.archive;
    prompt.plan = &draft.plan;
    prompt.parent_source = parent.text();
    prompt.source_of = [&](const std::string& id) { return sources_.get(id, draft.context.source_of); };
    auto text = searchPrompt(parts_.prompts, prompt);
    if (!text)
        return std::unexpected(text.error());
    ChatRequest request;
    request.model = draft.model;
    request.system = system_;
    request.cache_system = true;
    request.messages = {{ChatRole::user, std::move(*text), true}};
    request.max_output_tokens = parts_.settings.proposal_tokens;
    request.temperature = draft.plan.move.temperature;
    return request;
}

Proposal SlowPathProposer::proposalOf(const Draft& draft, SearchAnswer answer, ModelSession& session)
{
    const SearchPlan& plan = draft.plan;
    Proposal proposal;
    proposal.source = answer.source.text();
    proposal.parents = {plan.parent->id};
    for (const auto& partner : plan.partners)
        proposal.parents.push_back(partner->id);
    proposal.proposer = llm_proposer;
    proposal.strategy = answer.rewritten && !answer.name.empty() ? answer.name : plan.parent->strategy;
    proposal.summary = std::move(answer.summary);
    proposal.directive = std::move(answer.directive);
    proposal.tunables = std::move(answer.tunables);
    proposal.cost_usd = session.costUsd() + draft.notes.cost_usd;
    proposal.dropped = [this, number = draft.context.number, reading = draft.reading, made = session.made()] {
        made();
        novelty_.forget(number);
        summarizer_.notPaid(reading);
    };
    return proposal;
}

/// What the writer of a twin is told.
Result<std::string> SlowPathProposer::notNew(const NoveltyMatch& match, const ProposalContext& context) const
{
    const auto twin = std::ranges::find(context.visible, match.id,
                                        [](const auto& candidate) -> const std::string& { return candidate->id; });
    return parts_.prompts.render("answer_not_new", {{"candidate", match.id},
                                                    {"similarity", fmt::format("{:.2f} %", 100 * match.similarity)},
                                                    {"outcome", twin == context.visible.end() ? "it is being evaluated."
                                                                                              : outcomeLine(**twin)}});
}

Result<ProposalOutcome> SlowPathProposer::substitute(const Draft& draft, ModelSession& session, int step,
                                                     const std::string& fault, std::stop_token stop)
{
    const auto told =
        session.step(slow_path_agent, "A tunable is moved instead",
                     fmt::format("No answer of {} could be used; the last because {}", who(draft.model), fault), step);
    if (!told)
        return std::unexpected(told.error());
    auto moved = tunables_->propose(draft.context, std::move(stop));
    if (moved && *moved) {
        (*moved)->cost_usd = session.costUsd() + draft.notes.cost_usd;
        (*moved)->dropped = [this, reading = draft.reading, made = session.made()] {
            made();
            summarizer_.notPaid(reading);
        };
    }
    return moved;
}

/// Asks until an answer is a new program, or there have been enough.
Result<ProposalOutcome> SlowPathProposer::ask(const Draft& draft, ModelSession& session, int step,
                                              const KernelSource& parent, std::stop_token stop)
{
    const ProposalContext& context = draft.context;
    const SlowPathSettings& settings = parts_.settings;
    auto request = requestOf(draft, parent);
    if (!request)
        return std::unexpected(request.error());
    const SearchAnswerRules rules{&parts_.design_space, context.node ? &context.node->capabilities : nullptr,
                                  islandPlan(context.island).backend, draft.plan.move.kind};
    // Then the run pauses rather than going on without a model, and what it remembers is no new try.
    const bool last_chance = substitutesInARow(context.visible) + 1 >= settings.substitutes_in_a_row;
    std::string fault;
    for (int unusable = 0, alike = 0;
         unusable < settings.answers_a_proposal && alike < std::max(1, settings.novelty.attempts);) {
        const auto answer = session.ask(slow_path_agent, step, *request);
        if (!answer)
            return ProposalOutcome(std::unexpected(answer.error()));
        const int counts = answer->remembered && last_chance ? 0 : 1;
        auto read = readSearchAnswer(answer->response, parent, rules);
        Result<std::string> again;
        const char* title = "The answer could not be used";
        if (read) {
            const bool compares = settings.novelty.attempts > 0;
            auto comparable = compares ? novelty_.comparedOf(read->source, session) : SourceNovelty::Compared();
            if (context.await_turn && !context.await_turn())
                return noProposal(NoProposal::Then::pause, "The run ended first.");
            const auto compared = compares ? novelty_.duplicateOf(std::move(comparable), context, session, step)
                                           : Result<SourceNovelty::Outcome>();
            if (!compared)
                return std::unexpected(compared.error());
            if (!*compared)
                return ProposalOutcome(std::unexpected(compared->error()));
            const std::optional<NoveltyMatch>& twin = **compared;
            if (!twin)
                return ProposalOutcome(proposalOf(draft, std::move(*read), session));
            title = "The answer is not new";
            fault = fmt::format("it is too alike to {}.", twin->id);
            alike += counts;
            again = notNew(*twin, context);
        } else {
            fault = std::move(read.error());
            unusable += counts;
            again = parts_.prompts.render("answer_unusable", {{"fault", fault}});
        }
        if (!again)
            return std::unexpected(again.error());
        if (const auto told = session.step(slow_path_agent, title, fault, step); !told)
            return std::unexpected(told.error());
        request->messages.push_back(repeated(answer->response));
        request->messages.push_back({ChatRole::user, std::move(*again)});
    }
    if (last_chance)
        return noProposal(NoProposal::Then::pause,
                          fmt::format("Nothing that {} answered could be used for {} proposals in a row; the last "
                                      "because {} Resume the run to ask again, or choose another model.",
                                      who(draft.model), settings.substitutes_in_a_row, fault));
    return substitute(draft, session, step, fault, std::move(stop));
}

Result<ProposalOutcome> SlowPathProposer::work(Draft& draft, std::stop_token stop)
{
    const ProposalContext& context = draft.context;
    const SearchPlan& plan = draft.plan;
    ModelSession session(parts_.models, context.trace, fmt::format("c{}", context.number), stop);
    auto notes = summarizer_.await(draft.reading, context);
    if (!notes)
        return std::unexpected(notes.error());
    if (!*notes)
        return ProposalOutcome(std::unexpected(notes->error()));
    draft.notes = std::move(**notes);
    if (!plan.parent)
        return noProposal(NoProposal::Then::pause,
                          "Every candidate is rejected or a duplicate, so there is nothing to start from. Undo a "
                          "rejection and resume.");
    const auto chose = session.step(
        slow_path_agent,
        plan.repair ? fmt::format("Mends {}", plan.parent->id) : fmt::format("Chose parent {}", plan.parent->id),
        plan.why);
    if (!chose)
        return std::unexpected(chose.error());
    const auto asks =
        session.step(slow_path_agent, fmt::format("Asks {} for a {}", who(draft.model), toString(plan.move.kind)),
                     fmt::format("Phase {}, temperature {:g}, island {}, generation {} of {}.", toString(plan.phase),
                                 plan.move.temperature, context.island, context.generation, context.generations),
                     *chose);
    if (!asks)
        return std::unexpected(asks.error());
    const auto parent = sources_.get(plan.parent->id, context.source_of);
    if (!parent)
        return std::unexpected(parent.error());
    return ask(draft, session, *asks, **parent, std::move(stop));
}

}  // namespace cuco
