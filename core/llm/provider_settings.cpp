// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/llm/provider_settings.h"

#include "core/base/json.h"
#include "core/llm/key_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace cuco {

namespace {

using nlohmann::json;

constexpr int most_attempts = 20;
constexpr std::int64_t longest_limit_s = 86'400;

/// It becomes part of a host name.
bool isRegion(const std::string& text)
{
    return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

json toJson(const ModelPrice& price)
{
    json written{{"model", price.model},
                 {"input", price.input},
                 {"output", price.output},
                 {"cache_read", price.cache_read},
                 {"cache_write", price.cache_write}};
    for (const PriceTier& tier : price.tiers)
        written["tiers"].push_back(toJson(tier));
    return written;
}

Result<ModelPrice> priceFromJson(const json& item, const std::string& where, const std::string& prefix)
{
    ModelPrice price;
    JsonReader reader(item, where, prefix);
    reader.required("model", price.model).required("input", price.input).required("output", price.output);
    price.cache_read = price.cache_write = price.input;  // rather too much than nothing
    reader.optional("cache_read", price.cache_read).optional("cache_write", price.cache_write);
    for (const auto& [name, value] :
         {std::pair{"input", price.input}, std::pair{"output", price.output}, std::pair{"cache_read", price.cache_read},
          std::pair{"cache_write", price.cache_write}})
        if (!std::isfinite(value) || value < 0)
            reader.fault(name, "must be a price, zero or more");
    const json* const tiers = reader.present("tiers") ? reader.array("tiers") : nullptr;
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    if (tiers) {
        auto read = priceTiersFromJson(*tiers, where, reader.path("tiers"));
        if (!read)
            return std::unexpected(read.error());
        price.tiers = std::move(*read);
    }
    return price;
}

}  // namespace

std::string awsRegion(const ProviderSettings& settings)
{
    if (!settings.region.empty())
        return settings.region;
    for (const char* variable : {"AWS_REGION", "AWS_DEFAULT_REGION"})
        if (const char* const value = std::getenv(variable); value != nullptr && *value != '\0')
            return value;
    return {};
}

const std::vector<std::string>& providerNames()
{
    static const std::vector<std::string> names{"anthropic", "openai", "bedrock", "command", "manual", "replay"};
    return names;
}

Result<void> validate(const ProviderSettings& settings)
{
    const std::string& provider = settings.provider;
    if (std::ranges::find(providerNames(), provider) == providerNames().end())
        return failure(fmt::format("There is no provider \"{}\".", provider), {},
                       fmt::format("Choose one of {}.", fmt::join(providerNames(), ", ")));
    const bool calls_server = !keyNames(provider).empty();
    if (calls_server && settings.model.empty())
        return failure(fmt::format("No model of {} is named.", provider), {}, "Name the model that is to answer.");
    if (provider == "bedrock" && !isRegion(awsRegion(settings)))
        return failure(awsRegion(settings).empty() ? std::string("No AWS region is named.")
                                                   : fmt::format("\"{}\" is no AWS region.", awsRegion(settings)),
                       {}, "Name one, such as us-east-1, or set AWS_REGION to it.");
    if (!settings.key_name.empty() && !isKeyName(settings.key_name))
        return failure("The name of the key is no name of a variable.", {},
                       "Give the name under which the key is kept, such as MY_SERVER_KEY, and not the key.");
    if (provider == "command" && (settings.command.empty() || settings.command.front().empty()))
        return failure("No program is named that answers.", {}, "Name the program and its arguments.");
    if (provider == "replay" && settings.recording.empty())
        return failure("No recording is named.", {}, "Name the file that has the recorded answers.");
    if (!settings.embedding_model.empty() && provider != "openai" && provider != "replay")
        return failure(fmt::format("The provider \"{}\" has no embeddings that are known here.", provider), {},
                       "Name no embedding model, or use the provider openai with a server that has embeddings.");
    if (settings.attempts < 1 || settings.attempts > most_attempts)
        return failure(fmt::format("A call cannot be tried {} times.", settings.attempts), {},
                       fmt::format("Choose a number from 1 to {}.", most_attempts));
    for (const std::chrono::seconds limit : {settings.call_limit, settings.stall_limit, settings.connect_limit})
        if (limit.count() < 1 || limit.count() > longest_limit_s)
            return failure(fmt::format("A call cannot be limited to {} s.", limit.count()), {},
                           "Choose a time from a second to a day.");
    return {};
}

json toJson(const ProviderSettings& settings)
{
    json prices = json::array();
    for (const ModelPrice& price : settings.prices)
        prices.push_back(toJson(price));
    return {{"provider", settings.provider},
            {"model", settings.model},
            {"judge_model", settings.judge_model},
            {"embedding_model", settings.embedding_model},
            {"base_url", settings.base_url},
            {"key_name", settings.key_name},
            {"token_limit_field", settings.token_limit_field},
            {"region", settings.region},
            {"cache_prompts", settings.cache_prompts},
            {"ca_file", settings.ca_file.string()},
            {"command", settings.command},
            {"pass_variables", settings.pass_variables},
            {"json_answer", settings.json_answer},
            {"folder", settings.folder.string()},
            {"recording", settings.recording.string()},
            {"attempts", settings.attempts},
            {"call_limit_s", settings.call_limit.count()},
            {"stall_limit_s", settings.stall_limit.count()},
            {"connect_limit_s", settings.connect_limit.count()},
            {"prices", std::move(prices)}};
}

Result<ProviderSettings> providerSettingsFromJson(const json& from, const std::string& where)
{
    ProviderSettings settings;
    std::string ca_file, folder, recording;
    std::int64_t call = settings.call_limit.count(), stall = settings.stall_limit.count(),
                 connect = settings.connect_limit.count();
    JsonReader reader(from, where, "llm");
    reader.required("provider", settings.provider)
        .optional("model", settings.model)
        .optional("judge_model", settings.judge_model)
        .optional("embedding_model", settings.embedding_model)
        .optional("base_url", settings.base_url)
        .optional("key_name", settings.key_name)
        .optional("token_limit_field", settings.token_limit_field)
        .optional("region", settings.region)
        .optional("cache_prompts", settings.cache_prompts)
        .optional("ca_file", ca_file)
        .optional("command", settings.command)
        .optional("pass_variables", settings.pass_variables)
        .optional("json_answer", settings.json_answer)
        .optional("folder", folder)
        .optional("recording", recording)
        .optional("attempts", settings.attempts)
        .optional("call_limit_s", call)
        .optional("stall_limit_s", stall)
        .optional("connect_limit_s", connect);
    const json* const prices = reader.present("prices") ? reader.array("prices") : nullptr;
    if (auto done = reader.finish(); !done)
        return std::unexpected(done.error());
    settings.ca_file = ca_file;
    settings.folder = folder;
    settings.recording = recording;
    // Kept within what a duration of milliseconds takes; validate() refuses them.
    const auto seconds = [](std::int64_t count) {
        return std::chrono::seconds(std::clamp<std::int64_t>(count, -1, longest_limit_s + 1));
    };
    settings.call_limit = seconds(call);
    settings.stall_limit = seconds(stall);
    settings.connect_limit = seconds(connect);
    for (std::size_t i = 0; prices != nullptr && i < prices->size(); ++i) {
        auto price = priceFromJson((*prices)[i], where, fmt::format("llm.prices[{}]", i));
        if (!price)
            return std::unexpected(price.error());
        settings.prices.push_back(std::move(*price));
    }
    return settings;
}

ModelPrices pricesWith(ModelPrices list, const ProviderSettings& settings)
{
    for (auto price = settings.prices.rbegin(); price != settings.prices.rend(); ++price) {
        ModelPrice own = *price;
        own.provider = settings.provider;
        own.as_of = "user";
        list.add(std::move(own));
    }
    return list;
}

std::string serverUrl(const ProviderSettings& settings)
{
    if (keyNames(settings.provider).empty())
        return {};
    if (!settings.base_url.empty())
        return settings.base_url;
    if (settings.provider == "anthropic")
        return "https://api.anthropic.com";
    if (settings.provider == "openai")
        return "https://api.openai.com/v1";
    const std::string region = awsRegion(settings);
    // China's regions have a domain of their own.
    return !isRegion(region) ? std::string()
                             : fmt::format("https://bedrock-runtime.{}.amazonaws.com{}", region,
                                           region.starts_with("cn-") ? ".cn" : "");
}

std::optional<std::string> consentNeeded(const ProviderSettings& settings)
{
    if (settings.provider == "command")
        return fmt::format("This program would be run, with your rights and outside the sandbox: {}",
                           fmt::join(settings.command, " "));
    if (keyNames(settings.provider).empty() || settings.base_url.empty())
        return std::nullopt;
    const std::string key = settings.key_name.empty() ? keyNames(settings.provider).front().name : settings.key_name;
    return fmt::format(
        "Prompts, and your key {} if you have it, would go to {}, which is not the provider's own server.", key,
        settings.base_url);
}

HttpLimits httpLimits(const ProviderSettings& settings)
{
    HttpLimits limits;
    limits.total = settings.call_limit;
    limits.stall = settings.stall_limit;
    limits.connect = settings.connect_limit;
    limits.ca_file = settings.ca_file;
    return limits;
}

}  // namespace cuco
