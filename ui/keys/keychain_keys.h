// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/key_source.h"
#include "ui/keys/keychain.h"

#include <chrono>

namespace cuco::ui {

/// Asks the keychain first, then the environment. Whoever asks waits for the keychain, at most `patience`: it may ask
/// the person for a password. After it failed or stayed silent, only the environment is asked for as long again.
KeySource keysFrom(std::shared_ptr<Keychain> keychain, std::chrono::milliseconds patience = std::chrono::seconds(60));

}  // namespace cuco::ui
