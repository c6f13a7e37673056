// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/llm/chat.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// What calls with long prompts cost, in USD per million tokens: all of the call, not only what is beyond.
struct PriceTier {
    std::int64_t above_tokens = 0;  ///< of the prompt, cached ones included
    double input = 0, output = 0, cache_read = 0, cache_write = 0;
};

/// What a model costs, in USD per million tokens.
struct ModelPrice {
    std::string provider;  ///< ChatClient::provider()
    std::string model;     ///< a pattern in which * is any text
    double input = 0, output = 0, cache_read = 0, cache_write = 0;
    std::int64_t context_tokens = 0;  ///< 0: not known
    std::string as_of;                ///< "2025-12-01": when the list said so; or "user"
    std::vector<PriceTier> tiers{};   ///< rising above_tokens
};

class ModelPrices {
public:
    ModelPrices() = default;
    static Result<ModelPrices> load(const std::filesystem::path& model_prices_json);

    /// The user's own price, which goes before those of the file.
    void add(ModelPrice price);
    /// The first that fits.
    std::optional<ModelPrice> find(std::string_view provider, std::string_view model) const;

private:
    std::vector<ModelPrice> prices_;
};

double costUsd(const ModelPrice& price, const TokenUsage& usage);

/// More than the request can cost: a token is at least one byte, all of the
/// input may be written to a cache, and any tier that so many tokens reach may
/// apply.
double worstCaseUsd(const ModelPrice& price, const ChatRequest& request);

/// An array of tiers; those of a cache that are missing are as its `input`.
Result<std::vector<PriceTier>> priceTiersFromJson(const nlohmann::json& tiers, const std::string& where,
                                                  const std::string& prefix);
nlohmann::json toJson(const PriceTier& tier);

}  // namespace cuco
