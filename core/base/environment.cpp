// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/environment.h"

#include <unistd.h>

namespace cuco {

std::map<std::string, std::string> variablesWhere(const std::function<bool(std::string_view name)>& wanted)
{
    std::map<std::string, std::string> variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const auto equals = text.find('=');
        if (equals != text.npos && wanted(text.substr(0, equals)))
            variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return variables;
}

}  // namespace cuco
