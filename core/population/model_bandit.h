// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/population/parent_selection.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cuco {

struct ModelBanditSettings {
    double exploration = 1;  ///< c, the factor on what is not known yet
    double epsilon = 0.2;    ///< share of draws that are even over all models
    double decay = 0.95;     ///< of everything seen before, at each observation
};
Result<void> validate(const ModelBanditSettings& settings);
nlohmann::json toJson(const ModelBanditSettings& settings);
Result<ModelBanditSettings> modelBanditSettingsFromJson(const nlohmann::json& json, const std::string& where);

/// Which model makes the next proposal: discounted UCB1 with ε-greedy draws (as ShinkaEvolve's, arXiv 2509.19349).
/// Asymmetric: a child's reward is by how much it is fitter than its parent, and 0 when it is not or failed, so that a
/// rare good idea counts for more than many failures. Rewards are scaled by the largest so far. Not for several
/// threads at once.
class ModelBandit {
public:
    /// Models that are named twice count once.
    ModelBandit(const std::vector<std::string>& models, const ModelBanditSettings& settings);

    struct Arm {
        std::string model;
        double count = 0, reward = 0;  ///< decayed sums; reward in units of fitness
        int in_flight = 0;             ///< counts as 0 so far, so that proposals made at once spread; not in the state
    };
    /// Mean reward in [0, 1] plus c·√(2 ln(1 + N)/n). Infinite: never tried.
    double score(const Arm& arm) const;
    /// Empty: there are no models. The draws are two or three whatever the state.
    std::string choose(ProposalRandom& random) const;

    // Models that are not known here are ignored.
    void submitted(const std::string& model);
    void abandoned(const std::string& model);  ///< nothing came of it that says anything about the model
    /// A child without fitness failed; a parent without one counts as 0, no faster than the baseline.
    void observe(const std::string& model, std::optional<double> parent_fitness, std::optional<double> child_fitness);

    const std::vector<Arm>& arms() const { return arms_; }
    nlohmann::json state() const;
    /// Models of the state that are not known here are left out; those it lacks begin new.
    Result<void> restore(const nlohmann::json& state, const std::string& where);

private:
    Arm* find(const std::string& model);

    ModelBanditSettings settings_;
    std::vector<Arm> arms_;
    double largest_reward_ = 0;
};

}  // namespace cuco
