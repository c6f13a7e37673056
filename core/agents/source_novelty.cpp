// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/source_novelty.h"

#include "core/design/tunable.h"
#include "core/llm/embedding.h"

#include <fmt/format.h>

namespace cuco {

namespace {

/// The same whatever its tunables are set to.
KernelSource withFirstChoices(const KernelSource& source)
{
    TunableValues first;
    if (const auto tunables = findTunables(source))
        for (const Tunable& tunable : *tunables)
            first[tunable.name] = tunable.choices.front();
    auto text = withTunables(source, first);
    if (text && *text == source.text())
        return source;
    auto parsed = text ? KernelSource::parse(std::move(*text)) : std::unexpected(text.error());
    return parsed ? std::move(*parsed) : source;
}

/// Frozen code is the same in all.
std::string evolvedText(const KernelSource& source)
{
    std::string text;
    for (std::size_t block = 0; block < source.blocks().size(); ++block)
        text += source.blockText(block);
    return validUtf8(text);
}

std::unexpected<NoProposal> pause(const Error& error)
{
    return std::unexpected(NoProposal{NoProposal::Then::pause, describe(error)});
}

}  // namespace

SourceNovelty::SourceNovelty(const NoveltySettings& settings, bool machine_sets_numbers)
    : settings_(settings),
      machine_sets_numbers_(machine_sets_numbers),
      tokens_(settings.shingle_similarity),
      embeddings_(settings)
{
}

KernelSource SourceNovelty::comparable(const KernelSource& source) const
{
    return machine_sets_numbers_ ? withFirstChoices(source) : source;
}

Result<KernelSource> SourceNovelty::earlier(const ProposalContext& context, const std::string& id) const
{
    auto text = context.source_of(id);
    if (!text)
        return std::unexpected(text.error());
    auto source = KernelSource::parse(std::move(*text));
    if (!source)
        return failure(fmt::format("The source of {} cannot be read: {}", id, source.error().message));
    return std::move(*source);
}

SourceNovelty::Vector SourceNovelty::vectorOf(const std::string& text, ModelSession& session, int step)
{
    const auto answer = session.embed(novelty_agent, step, text);
    if (!answer)
        return std::unexpected(answer.error());
    auto vector = embeddingOf(answer->response);
    if (!vector)
        return pause(vector.error());
    return std::move(*vector);
}

SourceNovelty::Compared SourceNovelty::comparedOf(const KernelSource& source, const ModelSession& session) const
{
    const KernelSource alike = comparable(source);
    Compared compared{sketchOf(alike), {}, {}};
    if (session.embeds())
        compared.text = evolvedText(alike);
    if (std::cmp_greater(compared.text.size(), settings_.embedded_bytes))
        compared.text.clear();
    return compared;
}

Result<std::expected<void, NoProposal>> SourceNovelty::catchUp(const ProposalContext& context, ModelSession& session,
                                                               int step)
{
    using CaughtUp = std::expected<void, NoProposal>;
    for (auto number = static_cast<int>(tokens_.size()); number < context.number; ++number) {
        const std::string id = fmt::format("c{}", number);
        auto found = new_.find(number);
        if (found == new_.end()) {
            const auto source = earlier(context, id);
            if (!source)
                return std::unexpected(source.error());
            found = new_.emplace(number, comparedOf(*source, session)).first;
        }
        Compared& compared = found->second;
        if (!compared.text.empty() && number >= context.number - settings_.embedded_sources) {
            if (compared.vector.empty()) {
                auto vector = vectorOf(compared.text, session, step);
                if (!vector)
                    return CaughtUp(std::unexpected(vector.error()));
                compared.vector = std::move(*vector);
            }
            if (const auto added = embeddings_.add(id, compared.vector); !added)
                return CaughtUp(pause(added.error()));
        }
        tokens_.add(id, compared.sketch);
        new_.erase(found);
    }
    return CaughtUp();
}

Result<SourceNovelty::Outcome> SourceNovelty::duplicateOf(Compared compared, const ProposalContext& context,
                                                          ModelSession& session, int step)
{
    const std::scoped_lock guard(mutex_);
    const auto caught_up = catchUp(context, session, step);
    if (!caught_up)
        return std::unexpected(caught_up.error());
    if (!*caught_up)
        return Outcome(std::unexpected(caught_up->error()));
    const auto twin = tokens_.duplicateOf(compared.sketch, [&](const std::string& id) -> Result<SourceSketch> {
        const auto other = earlier(context, id);
        return other ? Result<SourceSketch>(sketchOf(comparable(*other))) : std::unexpected(other.error());
    });
    if (!twin)
        return std::unexpected(twin.error());
    if (*twin)
        return Outcome(*twin);
    if (!compared.text.empty()) {
        auto vector = vectorOf(compared.text, session, step);
        if (!vector)
            return Outcome(std::unexpected(vector.error()));
        compared.vector = std::move(*vector);
        const auto alike = embeddings_.duplicateOf(compared.vector);
        if (!alike)
            return Outcome(pause(alike.error()));
        if (*alike)
            return Outcome(*alike);
    }
    new_.insert_or_assign(context.number, std::move(compared));
    return Outcome();
}

void SourceNovelty::forget(int number)
{
    const std::scoped_lock guard(mutex_);
    new_.erase(number);
}

}  // namespace cuco
