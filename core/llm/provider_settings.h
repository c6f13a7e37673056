// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/llm/command_client.h"
#include "core/llm/http_transport.h"
#include "core/llm/model_prices.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cuco {

/// Who answers, and how long that may take. It has no secret in it: keys have names and come from a KeySource.
struct ProviderSettings {
    std::string provider = "anthropic";  ///< one of providerNames()
    std::string model{};
    std::string judge_model{};      ///< empty: `model`
    std::string embedding_model{};  ///< empty: nothing is embedded

    // anthropic, openai, bedrock
    std::string base_url{};           ///< empty: the provider's own server
    std::string key_name{};           ///< empty: the provider's usual one, see keyNames()
    std::string token_limit_field{};  ///< openai; empty: "max_completion_tokens", and "max_tokens" at another base URL
    std::string region{};             ///< bedrock; empty: AWS_REGION, else AWS_DEFAULT_REGION
    bool cache_prompts = true;        ///< bedrock: cache points for models that are known to take them
    std::filesystem::path ca_file{};  ///< certificate authorities; empty: the system's

    std::vector<std::string> command{}, pass_variables{};  ///< command: CommandSettings
    bool json_answer = false;                              ///< command
    std::filesystem::path folder{};                        ///< manual; empty: asked on the desktop
    std::filesystem::path recording{};                     ///< replay

    int attempts = 5;  ///< of a call, the first one included
    std::chrono::seconds call_limit{600}, stall_limit{120}, connect_limit{10};

    /// The user's own prices; they go before those of the list. ModelPrice::provider and as_of are set by
    /// pricesWith().
    std::vector<ModelPrice> prices{};
};

/// "anthropic", "openai", "bedrock", "command", "manual", "replay".
const std::vector<std::string>& providerNames();

/// What is wrong with them before anyone is called: an unknown provider, no model, no program, a region that is none.
Result<void> validate(const ProviderSettings& settings);

nlohmann::json toJson(const ProviderSettings& settings);
Result<ProviderSettings> providerSettingsFromJson(const nlohmann::json& json, const std::string& where);

/// The user's prices before those of the list.
ModelPrices pricesWith(ModelPrices list, const ProviderSettings& settings);

/// The base URL that is called: the settings' own or the provider's. Empty where nothing is called, or for bedrock
/// without a region.
std::string serverUrl(const ProviderSettings& settings);

/// The settings' own, else AWS_REGION, else AWS_DEFAULT_REGION; may be empty.
std::string awsRegion(const ProviderSettings& settings);

/// Settings may come with a run file from somewhere else. What a person must agree to before those are used: a key
/// that goes to a server which is not the provider's, or a program that is run. Nothing when there is nothing to ask.
std::optional<std::string> consentNeeded(const ProviderSettings& settings);

HttpLimits httpLimits(const ProviderSettings& settings);

}  // namespace cuco
