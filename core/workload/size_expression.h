// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <cstdint>
#include <map>
#include <string>

namespace cuco {

using SizeValues = std::map<std::string, std::int64_t>;

/// Integer arithmetic of a workload manifest: + - * / % ( ) < <= == != > >= min(a,b) max(a,b) ceil_div(a,b),
/// names and decimal literals. A comparison is 1 or 0. Overflow and division by zero are errors.
class SizeExpression {
public:
    SizeExpression() = default;
    static Result<SizeExpression> parse(std::string text);
    Result<std::int64_t> evaluate(const SizeValues& values) const;
    const std::string& text() const { return text_; }

private:
    std::string text_ = "0";
};

}  // namespace cuco
