// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/agents/model_session.h"
#include "core/population/embedding_index.h"

#include <map>
#include <mutex>

namespace cuco {

/// LlmCallOrigin::agent of embeddings.
inline constexpr const char* novelty_agent = "novelty";

/// Whether a source is too alike to an earlier candidate of the run: by its tokens, and, where a model for embeddings
/// is there, by the cosine of theirs. Any thread may call; callers wait for each other.
class SourceNovelty {
public:
    /// `machine_sets_numbers`: sources that differ in the values of their tunables alone are the same.
    SourceNovelty(const NoveltySettings& settings, bool machine_sets_numbers);

    /// What is compared of a source.
    struct Compared {
        SourceSketch sketch;
        std::string text;           ///< to be embedded; empty: is not
        std::vector<float> vector;  ///< of the text; may be empty until it is asked for
    };
    /// Waits for nobody.
    Compared comparedOf(const KernelSource& source, const ModelSession& session) const;

    using Outcome = std::expected<std::optional<NoveltyMatch>, NoProposal>;
    /// Compares with all candidates before the one that is proposed, whose turn it must be. Embeddings are asked for in
    /// `session`, of candidates that have none yet, too; no outcome where one was wanted and did not come. Errors: a
    /// source that cannot be read from the run.
    Result<Outcome> duplicateOf(Compared compared, const ProposalContext& context, ModelSession& session, int step);
    /// What was new did not become the candidate of this number.
    void forget(int number);

private:
    using Vector = std::expected<std::vector<float>, NoProposal>;

    KernelSource comparable(const KernelSource& source) const;
    Result<KernelSource> earlier(const ProposalContext& context, const std::string& id) const;
    Result<std::expected<void, NoProposal>> catchUp(const ProposalContext& context, ModelSession& session, int step);
    static Vector vectorOf(const std::string& text, ModelSession& session, int step);

    NoveltySettings settings_;
    bool machine_sets_numbers_;
    std::mutex mutex_;
    NoveltyIndex tokens_;
    EmbeddingIndex embeddings_;
    std::map<int, Compared> new_;  ///< taken for new, and not compared with yet; by the number of the candidate
};

}  // namespace cuco
