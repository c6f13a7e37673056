// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/fast_path.h"

#include "core/agents/device_communication.h"
#include "core/agents/feedback.h"
#include "core/agents/judgement_text.h"
#include "core/agents/tunable_moves.h"
#include "core/agents/workload_facts.h"
#include "core/evaluation/frozen_template.h"
#include "core/source/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace cuco {

namespace {

constexpr std::size_t most_source_bytes = 256u << 10;
constexpr std::size_t most_answer_bytes_repeated = 64u << 10;
constexpr const char* rewriter = "fast path";

const char* promptOf(FastPathStage stage)
{
    switch (stage) {
        case FastPathStage::infrastructure:
            return "fast_path_infrastructure";
        case FastPathStage::replacement:
            return "fast_path_replacement";
        case FastPathStage::annotation:
            break;
    }
    return "fast_path_annotate";
}

/// What is stated of a conversion that takes no liberties.
std::string conservativeDirective(const std::string& backend)
{
    return "backend=" + backend + " placement=sequential sync=world issuer=cta chunk=0";
}

TunableValues tunablesOf(const KernelSource& source)
{
    const auto tunables = findTunables(source);
    return tunables ? valuesOf(*tunables) : TunableValues();
}

std::string sourceSection(const char* title, const std::string& text)
{
    return fmt::format("# {}\n\n{}", title, fenced(text, "cpp", most_source_bytes));
}

}  // namespace

/// One proposal in the making.
struct FastPathProposer::Attempt {
    const FastPathProposer& fast_path;
    const ProposalContext& context;
    ModelSession session;
    FastPathPosition at;
    std::string base_text;  ///< the stage's beginning; empty in the first
    std::string last_text;  ///< of at.last
    std::optional<JudgeAnswer> judged;

    const Parts& parts() const { return fast_path.parts_; }
    const FastPathSettings& settings() const { return fast_path.parts_.settings; }

    int most() const
    {
        switch (at.stage) {
            case FastPathStage::infrastructure:
                return settings().infrastructure_attempts;
            case FastPathStage::replacement:
                return settings().replacement_attempts;
            case FastPathStage::annotation:
                break;
        }
        return settings().annotation_attempts;
    }

    std::string attemptsLeft() const { return fmt::format("attempt {} of {}", at.attempts + 1, most()); }

    Result<void> readSources()
    {
        if (!at.base.empty()) {
            auto text = context.source_of(at.base);
            if (!text)
                return std::unexpected(text.error());
            base_text = std::move(*text);
        }
        if (at.last) {
            auto text = context.source_of(at.last->id);
            if (!text)
                return std::unexpected(text.error());
            last_text = std::move(*text);
        }
        return {};
    }

    /// What a program can tell against accepting the last attempt; empty when there is nothing.
    std::string objection() const
    {
        const auto& evaluation = at.last->evaluation;
        if (!evaluation || !evaluation->verified())
            return "It did not verify.";
        const auto source = KernelSource::parse(last_text);
        if (!source)
            return source.error().message;
        const auto uses = communicationUses(*source);
        if (at.stage == FastPathStage::infrastructure)
            return uses.windows.empty() ? "It neither registers a window nor makes a device communicator." : "";
        if (!uses.host.empty())
            return fmt::format("{} in line {} is still a call of the host.", uses.host.front().name,
                               uses.host.front().lines.front());
        if (at.last->directive.backend != settings().backend)
            return fmt::format("Its directive says backend={}, asked was {}.", at.last->directive.backend,
                               settings().backend);
        if ((settings().backend == "gin" ? uses.gin : uses.lsa).empty())
            return fmt::format("Nothing in it communicates by {} from the device.", settings().backend);
        return {};
    }

    Result<std::string> goal() const
    {
        PromptValues values;
        values["directive"] = conservativeDirective(settings().backend);
        values["backend"] = settings().backend;
        return parts().prompts.render(
            at.stage == FastPathStage::infrastructure ? "goal_infrastructure" : "goal_replacement", values);
    }

    /// Whether the last attempt is accepted. An annotation only has to verify: it was asked to change nothing else.
    Result<std::expected<bool, NoProposal>> judgeLast()
    {
        const std::string against = objection();
        if (at.stage == FastPathStage::annotation)
            return std::expected<bool, NoProposal>(against.empty());
        const auto& evaluation = *at.last->evaluation;
        const auto step = session.step(judge_agent, judgingTitle(at.last->id),
                                       against.empty() ? "A program found nothing against it." : against);
        if (!step)
            return std::unexpected(step.error());
        auto asked = goal();
        if (!asked)
            return std::unexpected(asked.error());
        const auto source = KernelSource::parse(last_text);
        PromptValues values;
        values["goal"] = *asked;
        values["verdict"] = toString(evaluation.verdict);
        values["stage"] = toString(evaluation.stage);
        values["message"] = evaluation.message;
        values["detail"] = failureDetail(evaluation);
        values["findings"] = (source ? fenced(describe(communicationUses(*source)), "text", most_source_bytes) : "") +
                             (against.empty() ? "" : "\n\n" + against);
        values["source"] = sourceSection("The source", last_text);
        auto text = parts().prompts.render("judge", values);
        if (!text)
            return std::unexpected(text.error());
        ChatRequest request;
        request.model = parts().models.judge_model.empty() ? parts().models.model : parts().models.judge_model;
        request.system = fast_path.judge_system_;
        request.cache_system = true;
        request.messages = {{ChatRole::user, std::move(*text)}};
        request.max_output_tokens = settings().judge_tokens;
        request.temperature = settings().temperature;
        const auto answer = session.ask(judge_agent, *step, request);
        if (!answer)
            return std::expected<bool, NoProposal>(std::unexpected(answer.error()));
        judged = readJudgeAnswer(answer->response.text);
        // Whoever judges cannot accept what does not work. Without a readable judgement, the findings decide.
        return std::expected<bool, NoProposal>(against.empty() && (!judged || judged->accept));
    }

    std::string judgement() const
    {
        std::string text;
        if (at.stage != FastPathStage::annotation)
            text = objection();
        if (judged && !judged->cause.empty())
            text += (text.empty() ? "" : " ") + judged->cause;
        if (judged && !judged->advice.empty())
            text += (text.empty() ? "" : " ") + judged->advice;
        return text.empty() ? "" : "What a judge says of it:\n\n" + fenced(text, "text", most_answer_bytes_repeated);
    }

    Result<std::string> userPrompt() const
    {
        PromptValues values;
        values["workload"] = parts().workload.name;
        values["workload_summary"] = parts().workload.summary;
        values["workload_facts"] = fast_path.facts_;
        values["host_source"] = fenced(parts().host_source, "cpp", most_source_bytes);
        const std::string& analysis = *fast_path.analysis_;
        values["analysis"] = analysis.empty() ? ""
                                              : "What an analysis of the host's program found:\n\n" +
                                                    fenced(analysis, "text", most_source_bytes);
        values["backend"] = settings().backend;
        values["backend_requirements"] =
            settings().backend == "gin" ? " with signals and barriers over all ranks" : " with LSA barriers";
        values["directive"] = conservativeDirective(settings().backend);
        values["frame"] = sourceSection("The frame", fast_path.frame_.text());
        values["base_source"] = sourceSection("The source", base_text);
        values["attempt"] = "";
        if (at.last) {
            const auto& evaluation = *at.last->evaluation;
            PromptValues failed;
            failed["verdict"] = toString(evaluation.verdict);
            failed["stage"] = toString(evaluation.stage);
            failed["message"] = evaluation.message;
            failed["detail"] = failureDetail(evaluation);
            failed["judgement"] = judgement();
            failed["source"] = fenced(last_text, "cpp", most_source_bytes);
            auto text = parts().prompts.render("attempt_failed", failed);
            if (!text)
                return text;
            values["attempt"] = std::move(*text);
        }
        return parts().prompts.render(promptOf(at.stage), values);
    }

    /// What SEARCH/REPLACE blocks refer to.
    std::expected<KernelSource, SourceFault> present() const
    {
        if (!last_text.empty())
            return KernelSource::parse(last_text);
        if (!base_text.empty())
            return KernelSource::parse(base_text);
        return fast_path.frame_;
    }

    /// The source that an answer makes of the present one, or what is wrong with the answer.
    std::expected<KernelSource, std::string> read(const ChatResponse& answer) const
    {
        if (answer.stop_reason == StopReason::refusal)
            return std::unexpected("it declines the task.");
        if (answer.text.find_first_not_of(" \t\r\n") == std::string::npos)
            return std::unexpected("it is empty.");
        const bool cut =
            answer.stop_reason == StopReason::token_limit || answer.stop_reason == StopReason::context_limit;
        const auto source = present();
        if (!source)
            return std::unexpected(source.error().message);
        const auto patch = readPatch(answer.text, PatchKind::full);
        if (!patch)
            return std::unexpected((cut ? "it was cut off at the limit of its length. " : "") +
                                   describe(patch.error()));
        auto patched = applyPatch(*source, *patch);
        if (!patched)
            return std::unexpected((cut ? "it was cut off at the limit of its length. " : "") +
                                   describe(patched.error()));
        if (context.is_known && context.is_known(sha256Hex(patched->source.text())))
            return std::unexpected("it is what was tried before, unchanged.");
        return std::move(patched->source);
    }

    Result<ProposalOutcome> proposalOf(const KernelSource& source)
    {
        Proposal proposal;
        proposal.source = source.text();
        if (at.last)
            proposal.parents = {at.last->id};
        else if (!at.base.empty())
            proposal.parents = {at.base};
        proposal.proposer = rewriter;
        proposal.strategy = toString(at.stage);
        proposal.summary = fmt::format("{}, {}", stageTitle(at.stage), attemptsLeft());
        if (const auto directive = parseDirective(source))
            proposal.directive = *directive;
        proposal.tunables = tunablesOf(source);
        proposal.cost_usd = session.costUsd();
        proposal.dropped = session.made();
        return ProposalOutcome(std::move(proposal));
    }

    Result<ProposalOutcome> rewrite()
    {
        const auto step = session.step(rewriter, fmt::format("{}, {}", stageTitle(at.stage), attemptsLeft()),
                                       at.last ? "Mends " + at.last->id + "." : "Begins.");
        if (!step)
            return std::unexpected(step.error());
        auto prompt = userPrompt();
        if (!prompt)
            return std::unexpected(prompt.error());
        ChatRequest request;
        request.model = parts().models.model;
        request.system = fast_path.rewriter_system_;
        request.cache_system = true;
        request.messages = {{ChatRole::user, std::move(*prompt), true}};
        request.max_output_tokens = settings().rewriter_tokens;
        request.temperature = settings().temperature;
        std::string fault;
        for (int tries = 0; tries < settings().answers_an_attempt;) {
            const auto answer = session.ask(rewriter, *step, request);
            if (!answer)
                return ProposalOutcome(std::unexpected(answer.error()));
            const auto source = read(answer->response);
            if (source)
                return proposalOf(*source);
            fault = source.error();
            tries += answer->remembered ? 0 : 1;
            const auto unusable = session.step(rewriter, "The answer could not be used", fault, *step);
            if (!unusable)
                return std::unexpected(unusable.error());
            auto again = parts().prompts.render("answer_unusable", {{"fault", fault}});
            if (!again)
                return std::unexpected(again.error());
            std::string said = answer->response.text.substr(0, most_answer_bytes_repeated);
            request.messages.push_back({ChatRole::assistant, said.empty() ? "(no text)" : validUtf8(said)});
            request.messages.push_back({ChatRole::user, std::move(*again)});
        }
        return noProposal(
            NoProposal::Then::pause,
            fmt::format("None of {} answers of {} could be used; the last because {} Resume the run to ask "
                        "again, or choose another model.",
                        settings().answers_an_attempt, parts().models.model, fault));
    }

    void accept()
    {
        at.base = at.last->id;
        base_text = std::move(last_text);
        last_text.clear();
        at.last = nullptr;
        at.attempts = 0;
        judged.reset();
    }
};

FastPathProposer::FastPathProposer(Parts parts, KernelSource frame, std::string facts, std::string rewriter_system,
                                   std::string judge_system)
    : parts_(std::move(parts)),
      frame_(std::move(frame)),
      facts_(std::move(facts)),
      rewriter_system_(std::move(rewriter_system)),
      judge_system_(std::move(judge_system))
{
}

Result<std::unique_ptr<FastPathProposer>> FastPathProposer::create(Parts parts)
{
    const auto frozen = frozenTemplate(parts.workload);
    if (!frozen)
        return std::unexpected(frozen.error());
    auto facts = workloadFacts(parts.workload);
    if (!facts)
        return std::unexpected(facts.error());
    const auto contract = parts.prompts.notes({"contract"});
    if (!contract)
        return std::unexpected(contract.error());
    const auto notes = parts.prompts.notes({"nccl_device_common", "nccl_device_" + parts.settings.backend});
    if (!notes)
        return std::unexpected(notes.error());
    auto rewriter_system = parts.prompts.render("fast_path_system", {{"contract", *contract}, {"api_notes", *notes}});
    if (!rewriter_system)
        return std::unexpected(rewriter_system.error());
    auto judge_system = parts.prompts.render("judge_system", {{"api_notes", *notes}});
    if (!judge_system)
        return std::unexpected(judge_system.error());
    return std::unique_ptr<FastPathProposer>(new FastPathProposer(std::move(parts), emptyFrame(*frozen),
                                                                  std::move(*facts), std::move(*rewriter_system),
                                                                  std::move(*judge_system)));
}

/// A prompt does without it where the compiler's library is missing.
Result<void> FastPathProposer::analyse(ModelSession& session, std::stop_token stop)
{
    if (analysis_)
        return {};
    analysis_.emplace();
    if (!parts_.analyse)
        return {};
    auto text = parts_.analyse(std::move(stop));
    const auto step =
        text ? session.step(rewriter, "Analysed the host's program", fenced(*text, "text", most_source_bytes))
             : session.step(rewriter, "The host's program was not analysed", describe(text.error()));
    if (!step)
        return std::unexpected(step.error());
    if (text)
        analysis_ = std::move(*text);
    return {};
}

Result<ProposalOutcome> FastPathProposer::proposeSeed(const ProposalContext& context) const
{
    if (!context.visible.empty())
        return noProposal(NoProposal::Then::finish, "No model was asked: this is the workload's own seed.");
    const auto seed = frozenTemplate(parts_.workload);
    if (!seed)
        return std::unexpected(seed.error());
    Proposal proposal;
    proposal.source = seed->text();
    proposal.proposer = "seed";
    proposal.strategy = own_seed_strategy;
    proposal.summary = "the workload's own seed; no model was asked";
    if (const auto directive = parseDirective(*seed))
        proposal.directive = *directive;
    proposal.tunables = tunablesOf(*seed);
    return ProposalOutcome(std::move(proposal));
}

Result<ProposalOutcome> FastPathProposer::propose(const ProposalContext& context, std::stop_token stop)
{
    if (!parts_.models.client)
        return proposeSeed(context);
    Attempt attempt{*this,
                    context,
                    ModelSession(parts_.models, context.trace, fmt::format("c{}", context.number), stop),
                    fastPathPosition(context.visible),
                    {},
                    {},
                    {}};
    if (auto read = attempt.readSources(); !read)
        return std::unexpected(read.error());
    if (auto analysed = analyse(attempt.session, stop); !analysed)
        return std::unexpected(analysed.error());
    if (attempt.at.last) {
        const auto accepted = attempt.judgeLast();
        if (!accepted)
            return std::unexpected(accepted.error());
        if (!*accepted)
            return ProposalOutcome(std::unexpected(accepted->error()));
        const std::string id = attempt.at.last->id;
        if (**accepted && attempt.at.stage == FastPathStage::annotation)
            return noProposal(NoProposal::Then::finish, fmt::format("The program is converted: {}.", id));
        if (**accepted) {
            attempt.at.stage = attempt.at.stage == FastPathStage::infrastructure ? FastPathStage::replacement
                                                                                 : FastPathStage::annotation;
            attempt.accept();
        }
    }
    if (attempt.at.attempts >= attempt.most()) {
        if (attempt.at.stage == FastPathStage::annotation)
            return noProposal(NoProposal::Then::finish,
                              fmt::format("The program is converted: {}. It could not be annotated.", attempt.at.base));
        return noProposal(NoProposal::Then::finish, fmt::format("{}: not one of {} attempts was accepted.",
                                                                stageTitle(attempt.at.stage), attempt.at.attempts));
    }
    return attempt.rewrite();
}

}  // namespace cuco
