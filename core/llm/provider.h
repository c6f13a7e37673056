// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/budget.h"
#include "core/llm/chat.h"
#include "core/llm/http_chat.h"
#include "core/llm/key_source.h"
#include "core/llm/manual_exchange.h"
#include "core/llm/provider_settings.h"

#include <memory>

namespace cuco {

/// What calls are paid from. Without a budget they are not limited, and models without a price may be asked.
struct Spending {
    std::shared_ptr<Budget> budget{};
    ModelPrices prices{};  ///< the list; pricesWith() adds the user's own
};

/// The whole chain for these settings, which owns its parts: attempts again after failures that may pass, each attempt
/// reserved in the budget, around the provider's client. A person's answers and recorded ones cost nothing and pass
/// the budget by. `person` answers where `manual` has no folder. Errors: what validate() says, a required key that is
/// missing, a recording that cannot be read.
Result<std::unique_ptr<ChatClient>> makeChatClient(const ProviderSettings& settings, const KeySource& keys,
                                                   const Spending& spending = {},
                                                   std::shared_ptr<ManualExchange> person = nullptr);

/// The same for embeddings (embedding.h) by ProviderSettings::embedding_model. Errors: also no such model, and a
/// provider without embeddings.
Result<std::unique_ptr<ChatClient>> makeEmbeddingClient(const ProviderSettings& settings, const KeySource& keys,
                                                        const Spending& spending = {});

/// The settings' server with its key. Only a server that is not the provider's own may want none, and then none is
/// sent. Errors: a key that is missing; `name` is the provider's for the sentence.
Result<ChatServer> serverWithKey(const ProviderSettings& settings, const KeySource& keys, const std::string& name);

}  // namespace cuco
