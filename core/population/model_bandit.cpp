// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/population/model_bandit.h"

#include "core/base/json.h"
#include "core/population/setting_checks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cuco {

Result<void> validate(const ModelBanditSettings& settings)
{
    for (auto checked : {realInRange("model_bandit.exploration", settings.exploration, 0, 100),
                         realInRange("model_bandit.epsilon", settings.epsilon, 0, 1),
                         realInRange("model_bandit.decay", settings.decay, 0.01, 1)})
        if (!checked)
            return checked;
    return {};
}

nlohmann::json toJson(const ModelBanditSettings& settings)
{
    return {{"exploration", settings.exploration}, {"epsilon", settings.epsilon}, {"decay", settings.decay}};
}

Result<ModelBanditSettings> modelBanditSettingsFromJson(const nlohmann::json& json, const std::string& where)
{
    ModelBanditSettings settings;
    JsonReader reader(json, where, "model_bandit");
    reader.optional("exploration", settings.exploration)
        .optional("epsilon", settings.epsilon)
        .optional("decay", settings.decay);
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    return settings;
}

ModelBandit::ModelBandit(const std::vector<std::string>& models, const ModelBanditSettings& settings)
    : settings_(settings)
{
    for (const std::string& model : models)
        if (!find(model))
            arms_.push_back({model});
}

ModelBandit::Arm* ModelBandit::find(const std::string& model)
{
    const auto found = std::ranges::find(arms_, model, &Arm::model);
    return found == arms_.end() ? nullptr : &*found;
}

double ModelBandit::score(const Arm& arm) const
{
    const double count = arm.count + arm.in_flight;
    if (!(count > 0))
        return std::numeric_limits<double>::infinity();
    double all = 0;
    for (const Arm& each : arms_)
        all += each.count + each.in_flight;
    const double mean = largest_reward_ > 0 ? arm.reward / count / largest_reward_ : 0;
    return mean + settings_.exploration * std::sqrt(2 * std::log1p(all) / count);
}

std::string ModelBandit::choose(ProposalRandom& random) const
{
    if (arms_.empty())
        return {};
    const bool evenly = random.uniform() < settings_.epsilon;
    const std::size_t any = random.index(arms_.size());
    if (evenly)
        return arms_[any].model;
    std::vector<double> scores;
    for (const Arm& arm : arms_)
        scores.push_back(score(arm));
    const double best = *std::ranges::max_element(scores);
    std::vector<std::size_t> equal;
    for (std::size_t i = 0; i < scores.size(); ++i)
        if (scores[i] == best)
            equal.push_back(i);
    return arms_[equal[random.index(equal.size())]].model;
}

void ModelBandit::submitted(const std::string& model)
{
    if (Arm* arm = find(model))
        ++arm->in_flight;
}

void ModelBandit::abandoned(const std::string& model)
{
    if (Arm* arm = find(model))
        arm->in_flight = std::max(0, arm->in_flight - 1);
}

void ModelBandit::observe(const std::string& model, std::optional<double> parent_fitness,
                          std::optional<double> child_fitness)
{
    Arm* arm = find(model);
    if (!arm)
        return;
    abandoned(model);
    for (Arm& each : arms_) {
        each.count *= settings_.decay;
        each.reward *= settings_.decay;
    }
    double gain = child_fitness ? *child_fitness - parent_fitness.value_or(0) : 0;
    if (!std::isfinite(gain) || gain < 0)
        gain = 0;
    arm->count += 1;
    arm->reward += gain;
    largest_reward_ = std::max(largest_reward_, gain);
}

nlohmann::json ModelBandit::state() const
{
    nlohmann::json arms = nlohmann::json::array();
    for (const Arm& arm : arms_)
        arms.push_back({{"model", arm.model}, {"count", arm.count}, {"reward", arm.reward}});
    return {{"largest_reward", largest_reward_}, {"arms", std::move(arms)}};
}

Result<void> ModelBandit::restore(const nlohmann::json& state, const std::string& where)
{
    const auto is_sum = [](double value) { return std::isfinite(value) && value >= 0; };
    double largest = 0;
    std::vector<Arm> read;
    JsonReader reader(state, where, "model_bandit");
    reader.required("largest_reward", largest);
    if (!is_sum(largest))
        reader.fault("largest_reward", "must be 0 or more");
    const nlohmann::json* list = reader.array("arms");
    for (std::size_t i = 0; list && i < list->size(); ++i) {
        Arm arm;
        JsonReader fields((*list)[i], where, reader.path("arms[" + std::to_string(i) + "]"));
        fields.required("model", arm.model).required("count", arm.count).required("reward", arm.reward);
        if (!is_sum(arm.count))
            fields.fault("count", "must be 0 or more");
        if (!is_sum(arm.reward))
            fields.fault("reward", "must be 0 or more");
        if (auto done = fields.finish(); !done)
            return done;
        read.push_back(std::move(arm));
    }
    if (auto done = reader.finish(); !done)
        return done;
    for (Arm& arm : arms_) {
        const auto found = std::ranges::find(read, arm.model, &Arm::model);
        arm = found == read.end() ? Arm{arm.model} : *found;
    }
    largest_reward_ = largest;
    return {};
}

}  // namespace cuco
