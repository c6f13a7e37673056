// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agents/source_cache.h"

#include <fmt/format.h>

namespace cuco {

Result<SourceCache::Pointer> SourceCache::get(const std::string& id, const Read& read)
{
    {
        const std::scoped_lock guard(mutex_);
        if (const auto found = by_id_.find(id); found != by_id_.end()) {
            entries_.splice(entries_.begin(), entries_, found->second);
            return found->second->source;
        }
    }
    auto text = read(id);
    if (!text)
        return std::unexpected(text.error());
    auto parsed = KernelSource::parse(std::move(*text));
    if (!parsed)
        return failure(fmt::format("The source of {} cannot be read: {}", id, parsed.error().message));
    auto source = std::make_shared<const KernelSource>(std::move(*parsed));

    const std::scoped_lock guard(mutex_);
    if (const auto found = by_id_.find(id); found != by_id_.end())
        return found->second->source;  // another thread was faster
    entries_.push_front({id, source});
    by_id_.emplace(id, entries_.begin());
    bytes_ += source->text().size();
    while (bytes_ > most_bytes_ && entries_.size() > 1) {
        const Entry& oldest = entries_.back();
        bytes_ -= oldest.source->text().size();
        by_id_.erase(oldest.id);
        entries_.pop_back();
    }
    return source;
}

}  // namespace cuco
