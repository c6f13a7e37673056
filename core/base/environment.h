// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace cuco {

/// The variables of this process whose names are wanted.
std::map<std::string, std::string> variablesWhere(const std::function<bool(std::string_view name)>& wanted);

}  // namespace cuco
