// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/novelty.h"

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace cuco {

/// Duplicates by the cosine of embeddings, where a model for them is there. Every vector kept is compared with, which
/// is fast enough for as many as NoveltySettings::embedded_sources; beyond, the oldest goes. Not for several threads at
/// once.
class EmbeddingIndex {
public:
    explicit EmbeddingIndex(const NoveltySettings& settings = {}) : settings_(settings) {}

    /// Errors: another length than the vectors before, no direction (empty, all zero), a number that is not finite.
    Result<void> add(std::string id, std::span<const float> vector);
    /// The one most alike when its cosine is above the threshold, of equal ones the first added. Errors as add().
    Result<std::optional<NoveltyMatch>> duplicateOf(std::span<const float> vector) const;
    std::size_t size() const { return sources_.size(); }

private:
    Result<std::vector<float>> unit(std::span<const float> vector) const;

    struct Source {
        std::string id;
        std::vector<float> unit;
    };
    NoveltySettings settings_;
    std::deque<Source> sources_;
};

}  // namespace cuco
