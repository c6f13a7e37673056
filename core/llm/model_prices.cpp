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
constexpr std::size_t most_tiers = 16;

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

/// `Price` is a ModelPrice or a PriceTier.
template <class Price>
void checkPrices(JsonReader& reader, const Price& price)
{
    for (const auto& [name, value] :
         {std::pair{"input", price.input}, std::pair{"output", price.output}, std::pair{"cache_read", price.cache_read},
          std::pair{"cache_write", price.cache_write}})
        if (!std::isfinite(value) || value < 0)
            reader.fault(name, "must be a price, zero or more");
}

PriceTier baseOf(const ModelPrice& price)
{
    return {0, price.input, price.output, price.cache_read, price.cache_write};
}

}  // namespace

Result<std::vector<PriceTier>> priceTiersFromJson(const nlohmann::json& tiers, const std::string& where,
                                                  const std::string& prefix)
{
    if (tiers.size() > most_tiers)
        return failure(fmt::format("The field \"{}\" has more than {} tiers.", prefix, most_tiers), where);
    std::vector<PriceTier> found;
    for (const nlohmann::json& item : tiers) {
        PriceTier tier;
        JsonReader reader(item, where, fmt::format("{}[{}]", prefix, found.size()));
        reader.required("above_tokens", tier.above_tokens)
            .required("input", tier.input)
            .required("output", tier.output);
        tier.cache_read = tier.cache_write = tier.input;
        reader.optional("cache_read", tier.cache_read).optional("cache_write", tier.cache_write);
        checkPrices(reader, tier);
        if (tier.above_tokens <= (found.empty() ? 0 : found.back().above_tokens))
            reader.fault("above_tokens", "must be larger than 0 and than that of the tier before");
        if (auto done = reader.finishKnowingAll(); !done)
            return std::unexpected(done.error());
        found.push_back(tier);
    }
    return found;
}

nlohmann::json toJson(const PriceTier& tier)
{
    return {{"above_tokens", tier.above_tokens},
            {"input", tier.input},
            {"output", tier.output},
            {"cache_read", tier.cache_read},
            {"cache_write", tier.cache_write}};
}

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
        checkPrices(fields, price);
        const nlohmann::json* const tiers = fields.present("tiers") ? fields.array("tiers") : nullptr;
        if (auto done = fields.finishKnowingAll(); !done)
            return std::unexpected(done.error());
        if (tiers) {
            auto read = priceTiersFromJson(*tiers, where, fields.path("tiers"));
            if (!read)
                return std::unexpected(read.error());
            price.tiers = std::move(*read);
        }
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
    const std::int64_t prompt = usage.input + usage.cache_read + usage.cache_write;
    PriceTier applies = baseOf(price);
    for (const PriceTier& tier : price.tiers)
        if (prompt > tier.above_tokens)
            applies = tier;
    return per_million *
           (applies.input * static_cast<double>(usage.input) + applies.output * static_cast<double>(usage.output) +
            applies.cache_read * static_cast<double>(usage.cache_read) +
            applies.cache_write * static_cast<double>(usage.cache_write));
}

double worstCaseUsd(const ModelPrice& price, const ChatRequest& request)
{
    double input = static_cast<double>(request.system.size()) + tokens_around_message;
    for (const ChatMessage& message : request.messages)
        input += static_cast<double>(message.text.size()) + tokens_around_message;
    const auto worst = [&](const PriceTier& tier) {
        const double input_price = std::max({tier.input, tier.cache_read, tier.cache_write});
        return per_million * (input_price * input + tier.output * static_cast<double>(request.max_output_tokens));
    };
    double usd = worst(baseOf(price));
    for (const PriceTier& tier : price.tiers)
        if (input > static_cast<double>(tier.above_tokens))
            usd = std::max(usd, worst(tier));
    return usd;
}

}  // namespace cuco
