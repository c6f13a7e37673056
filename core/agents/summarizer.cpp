// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/summarizer.h"

#include <fmt/format.h>

#include <algorithm>

namespace cuco {

namespace {

bool isMade(const Scratchpads& versions, int candidates)
{
    return std::ranges::any_of(
        *versions, [&](const auto& version) { return !version->by_person && version->candidates == candidates; });
}

bool failed(const Summarizer::Outcome& outcome)
{
    return !outcome || !*outcome;
}

}  // namespace

Summarizer::Summarizer(const AgentModels& models, const PromptLibrary& prompts, const SlowPathSettings& settings,
                       int islands)
    : models_(&models), prompts_(&prompts), settings_(&settings), islands_(islands)
{
}

int Summarizer::notesFor(int visible, int lag) const
{
    const int interval = settings_->summary_interval;
    return std::max(0, visible - lag) / interval * interval;
}

Summarizer::Reading Summarizer::plan(const ProposalContext& context)
{
    const int interval = settings_->summary_interval;
    if (interval <= 0)
        return {};
    const int visible = static_cast<int>(context.visible.size());
    const int window = context.proposals_per_generation;
    const int lag = std::max(interval, window);
    Reading reading;
    reading.candidates = notesFor(visible, lag);
    const auto versions = versionsOf(context.scratchpads);
    const std::scoped_lock guard(mutex_);
    for (int due = std::max(interval, reading.candidates); due <= visible; due += interval) {
        const int reader = due + lag + window - 1;
        const bool read = due <= reading.candidates || reader < islands_ + context.generations * window;
        const auto begun = summaries_.find(due);
        const bool to_begin = begun == summaries_.end() || begun->second.failure_told_to >= context.number;
        if (!read || !to_begin || isMade(versions, due))
            continue;
        const int notes_of = notesFor(due, lag);
        const auto seen = context.visible.begin();
        begin({due, notes_of, {seen + notes_of, seen + due}}, reader, context);
    }
    if (const auto found = summaries_.find(reading.candidates); found != summaries_.end()) {
        reading.made = found->second.made;
        reading.pays = !std::exchange(found->second.paid, true);
    }
    return reading;
}

/// Under the lock.
void Summarizer::begin(SummaryTask task, int reader, const ProposalContext& context)
{
    const int candidates = task.candidates;
    std::shared_future<Outcome> before;
    if (const auto found = summaries_.find(task.notes_of); found != summaries_.end())
        before = found->second.made;
    // What was made of one that failed has failed with it; what was made, the trace has.
    summaries_.erase(summaries_.lower_bound(candidates), summaries_.end());
    std::promise<Outcome> promise;
    summaries_[candidates].made = promise.get_future().share();
    auto work = [this, candidates, task = std::move(task), before, promise = std::move(promise), trace = context.trace,
                 label = fmt::format("c{}", reader),
                 scratchpads = context.scratchpads](const std::stop_token& stop) mutable {
        Outcome made = make(task, before, trace, label, scratchpads, stop);
        if (failed(made) && stop.stop_requested()) {
            // Cut off, which is no answer: it is begun again when the run goes on.
            const std::scoped_lock guard(mutex_);
            summaries_.erase(candidates);
        }
        promise.set_value(std::move(made));
    };
    if (context.in_background)
        context.in_background(std::move(work));
    else
        work({});
}

Summarizer::Outcome Summarizer::make(const SummaryTask& task, const std::shared_future<Outcome>& before,
                                     AgentTrace* trace, const std::string& label, const ScratchpadSource& scratchpads,
                                     std::stop_token stop) const
{
    if (before.valid())
        if (const Outcome& last = before.get(); failed(last))
            return last;
    ModelSession session(*models_, trace, label, std::move(stop));
    auto made = updateScratchpad(task, scratchpads, session, *models_, *prompts_, *settings_);
    if (!made)
        return std::unexpected(made.error());
    if (!*made)
        return std::expected<Made, NoProposal>(std::unexpected(made->error()));
    static_cast<void>(session.made());  // from now on the trace has the notes
    return std::expected<Made, NoProposal>(Made{session.costUsd()});
}

Result<std::expected<Summarizer::Notes, NoProposal>> Summarizer::await(const Reading& reading,
                                                                       const ProposalContext& context)
{
    using Awaited = std::expected<Notes, NoProposal>;
    Notes notes;
    if (reading.made.valid()) {
        const Outcome& made = reading.made.get();
        if (failed(made)) {
            const std::scoped_lock guard(mutex_);
            if (const auto found = summaries_.find(reading.candidates); found != summaries_.end())
                found->second.failure_told_to = std::max(found->second.failure_told_to, context.number);
        }
        if (!made)
            return std::unexpected(made.error());
        if (!*made)
            return Awaited(std::unexpected(made->error()));
        notes.cost_usd = reading.pays ? (*made)->cost_usd : 0;
    }
    notes.text = scratchpadFor(*versionsOf(context.scratchpads), reading.candidates);
    return Awaited(std::move(notes));
}

void Summarizer::notPaid(const Reading& reading)
{
    const std::scoped_lock guard(mutex_);
    if (const auto found = summaries_.find(reading.candidates); reading.pays && found != summaries_.end())
        found->second.paid = false;
}

}  // namespace cuco
