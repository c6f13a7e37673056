// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/population/candidate.h"

#include <nlohmann/json_fwd.hpp>

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

enum class ParentPolicy {
    weighted,   ///< w = σ(λ·(s − median)/max(MAD, ε)) / (1 + children)
    power_law,  ///< w = rank^−α, the fittest has rank 1
    /// The fittest that has fewer children than the beam is wide, alone; when all have as many, the fittest. The method
    /// stays with a parent until then; this needs no memory of it, so a resumed run goes on alike.
    beam,
    best_of_n,  ///< the first generation there is, evenly: every child is a new try from where the run began
};
std::string_view toString(ParentPolicy policy);
std::optional<ParentPolicy> parentPolicyFromString(std::string_view text);

struct ParentSelectionSettings {
    double lambda = 8;           ///< sharpness of the sigmoid
    double promotion_bonus = 2;  ///< factor on a promoted candidate's weight; in a beam promoted ones are first
    ParentPolicy policy = ParentPolicy::weighted;
    double alpha = 1;  ///< of the power law; 0: all alike
    int beam = 5;      ///< children of one parent
};
Result<void> validate(const ParentSelectionSettings& settings);
nlohmann::json toJson(const ParentSelectionSettings& settings);
Result<ParentSelectionSettings> parentSelectionSettingsFromJson(const nlohmann::json& json, const std::string& where);

/// What the choice of a parent looks at, side by side in memory: ten thousand are passed over in microseconds.
struct PossibleParent {
    const Candidate* candidate = nullptr;
    double fitness = 0;
    int number = 0, generation = 0, children = 0;
    bool promoted = false;
};
/// Nothing for a rejected or unverified candidate.
std::optional<PossibleParent> asPossibleParent(const Candidate& candidate, int children);

/// The fittest first, equally fit ones by their number.
bool isFitter(const PossibleParent& a, const PossibleParent& b);

/// What ProposalRandom::weighted() draws a parent with: the policy's weights, in the order of `parents`; s is the
/// fitness. Method: the parent sampling strategies of ShinkaEvolve (arXiv 2509.19349).
std::vector<double> parentWeights(std::span<const PossibleParent> parents, const ParentSelectionSettings& settings);

}  // namespace cuco
