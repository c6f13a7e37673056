// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/model_prices.h"

#include "core/base/files.h"
#include "core/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace cuco {

namespace {

constexpr double per_million = 1e-6;
/// What a chat template puts around a message.
constexpr double tokens_around_message = 32;

bool fits(std::string_view pattern, std::string_view text)
{
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos)
        return pattern == text;
    if (!text.starts_with(pattern.substr(0, star)))
        return false;
    pattern.remove_prefix(star + 1);
    text.remove_prefix(star);
    for (std::size_t from = 0; from <= text.size(); ++from)
        if (fits(pattern, text.substr(from)))
            return true;
    return false;
}

}  // namespace

Result<ModelPrices> ModelPrices::load(const std::filesystem::path& model_prices_json)
{
    const std::string where = model_prices_json.string();
    const auto text = readFile(model_prices_json, 1u << 20);
    if (!text)
        return std::unexpected(text.error());
    const auto json = parseJson(*text, where);
    if (!json)
        return std::unexpected(json.error());
    int format = 0;
    std::string comment;
    JsonReader reader(*json, where);
    reader.required("format", format).optional("comment", comment);
    const nlohmann::json* list = reader.array("prices");
    if (auto done = reader.finishKnowingAll(); !done)
        return std::unexpected(done.error());
    if (format != 1)
        return failure(fmt::format("The price list has the format {}, which is not known.", format), where);
    ModelPrices prices;
    for (const nlohmann::json& entry : *list) {
        ModelPrice price;
        JsonReader fields(entry, where, fmt::format("prices[{}]", prices.prices_.size()));
        fields.required("provider", price.provider)
            .required("model", price.model)
            .required("input", price.input)
            .required("output", price.output)
            .required("cache_read", price.cache_read)
            .required("cache_write", price.cache_write)
            .optional("context_tokens", price.context_tokens)
            .required("as_of", price.as_of)
            .optional("source", comment);
        for (const auto& [name, value] :
             {std::pair{"input", price.input}, std::pair{"output", price.output},
              std::pair{"cache_read", price.cache_read}, std::pair{"cache_write", price.cache_write}})
            if (!std::isfinite(value) || value < 0)
                fields.fault(name, "must be a price, zero or more");
        if (auto done = fields.finishKnowingAll(); !done)
            return std::unexpected(done.error());
        prices.prices_.push_back(std::move(price));
    }
    return prices;
}

void ModelPrices::add(ModelPrice price)
{
    prices_.insert(prices_.begin(), std::move(price));
}

std::optional<ModelPrice> ModelPrices::find(std::string_view provider, std::string_view model) const
{
    const auto found = std::ranges::find_if(
        prices_, [&](const ModelPrice& price) { return price.provider == provider && fits(price.model, model); });
    return found == prices_.end() ? std::nullopt : std::optional(*found);
}

double costUsd(const ModelPrice& price, const TokenUsage& usage)
{
    return per_million *
           (price.input * static_cast<double>(usage.input) + price.output * static_cast<double>(usage.output) +
            price.cache_read * static_cast<double>(usage.cache_read) +
            price.cache_write * static_cast<double>(usage.cache_write));
}

double worstCaseUsd(const ModelPrice& price, const ChatRequest& request)
{
    double input = static_cast<double>(request.system.size()) + tokens_around_message;
    for (const ChatMessage& message : request.messages)
        input += static_cast<double>(message.text.size()) + tokens_around_message;
    const double input_price = std::max({price.input, price.cache_read, price.cache_write});
    return per_million * (input_price * input + price.output * static_cast<double>(request.max_output_tokens));
}

}  // namespace cuco
