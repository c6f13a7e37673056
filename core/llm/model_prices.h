// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"
#include "core/llm/chat.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// What a model costs, in USD per million tokens.
struct ModelPrice {
    std::string provider;  ///< ChatClient::provider()
    std::string model;     ///< a pattern in which * is any text
    double input = 0, output = 0, cache_read = 0, cache_write = 0;
    std::int64_t context_tokens = 0;  ///< 0: not known
    std::string as_of;                ///< "2025-12-01": when the list said so; or "user"
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

/// More than the request can cost: a token is at least one byte, and all of the
/// input may be written to a cache.
double worstCaseUsd(const ModelPrice& price, const ChatRequest& request);

}  // namespace cuco
