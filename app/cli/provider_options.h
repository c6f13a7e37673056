// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/provider_settings.h"

#include <CLI/CLI.hpp>

namespace cuco::cli {

/// --provider, --model and what else says who answers. `settings` must outlive the parsing.
void addProviderOptions(CLI::App& command, ProviderSettings& settings);

/// What a terminal needs beyond validate(): a folder for a person's answers.
Result<void> canAskHere(const ProviderSettings& settings);

}  // namespace cuco::cli
