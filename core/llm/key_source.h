// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/llm/secret.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// Gives the key with a name, empty when there is none. Names are those of environment variables wherever the key is
/// kept. Asked before each attempt, so that a key which expires can be renewed; any thread may ask.
using KeySource = std::function<Secret(const std::string& name)>;

/// The environment variable of that name.
Secret environmentKey(const std::string& name);

struct KeyName {
    std::string name;   ///< "AWS_SESSION_TOKEN"
    std::string label;  ///< for people: "Session token"
    bool required = true;
};

/// The keys that a provider takes; none for those without.
std::vector<KeyName> keyNames(std::string_view provider);

/// Whether an environment variable may be called so.
bool isKeyName(std::string_view text);

}  // namespace cuco
