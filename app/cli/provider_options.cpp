// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/provider_options.h"

namespace cuco::cli {

void addProviderOptions(CLI::App& command, ProviderSettings& settings)
{
    const char* const group = "Models";
    command.add_option("--provider", settings.provider, "Who answers; keys come from the environment")
        ->check(CLI::IsMember(providerNames()))
        ->group(group);
    command.add_option("--model", settings.model, "Its name as the provider spells it")->group(group);
    command.add_option("--judge-model", settings.judge_model, "Of the judge; by default the same")->group(group);
    command
        .add_option("--embedding-model", settings.embedding_model,
                    "openai: tells whether a candidate is new; by default its tokens do")
        ->group(group);
    command.add_option("--base-url", settings.base_url, "A server that speaks the provider's protocol")->group(group);
    command
        .add_option("--key-name", settings.key_name,
                    "anthropic, openai: the variable with the key; by default the provider's usual one")
        ->group(group);
    command.add_option("--region", settings.region, "bedrock: by default AWS_REGION's")->group(group);
    command
        .add_option("--command", settings.command,
                    "command: a program with its arguments; the prompt on its standard input, the answer on its output")
        ->expected(1, -1)
        ->group(group);
    command
        .add_option("--answers", settings.folder,
                    "manual: a folder in which each question is written and its answer awaited")
        ->group(group);
    command.add_option("--recording", settings.recording, "replay: a file of recorded answers")->group(group);
}

Result<void> canAskHere(const ProviderSettings& settings)
{
    if (settings.provider == "manual" && settings.folder.empty())
        return failure("No folder is named for prompts and answers.", {},
                       "Name one that may be written to with --answers.");
    return {};
}

}  // namespace cuco::cli
