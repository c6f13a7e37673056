// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace cuco {

/// Finds one text in many, upper and lower case of ASCII letters being equal.
class TextSearch {
public:
    explicit TextSearch(std::string_view text);
    /// Where it stands at or after `from`; npos when it does not.
    std::size_t find(std::string_view in, std::size_t from = 0) const;
    bool empty() const { return lower_.empty(); }
    std::size_t size() const { return lower_.size(); }

private:
    bool matches(const char* at) const;

    std::string lower_, upper_;
    std::size_t anchor_ = 0;  ///< of the character that is looked for first
};

}  // namespace cuco
