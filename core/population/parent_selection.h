// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/population/candidate.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cuco {

/// splitmix64 seeded by (run seed, proposal number): what a proposal draws does not depend on when
/// other proposals were made, so a resumed run continues exactly.
class ProposalRandom {
public:
    ProposalRandom(std::uint64_t run_seed, std::uint64_t proposal_number);
    std::uint64_t next();
    double uniform();                                       ///< [0, 1)
    std::size_t index(std::size_t count);                   ///< [0, count), count > 0
    std::size_t weighted(std::span<const double> weights);  ///< proportional; all-zero: uniform

private:
    std::uint64_t state_;
};

struct ParentSelectionSettings {
    double lambda = 8;           ///< sharpness of the sigmoid
    double promotion_bonus = 2;  ///< factor on a promoted candidate's weight
};

/// w = σ(λ·(s − median)/max(MAD, ε)) / (1 + children), rejected and unverified candidates excluded.
/// Order as `candidates`; s is fitness(). Method: ShinkaEvolve's weighted parent sampling (arXiv 2509.19349).
std::vector<double> parentWeights(std::span<const Candidate* const> candidates, std::span<const int> children,
                                  const ParentSelectionSettings& settings);

}  // namespace cuco
