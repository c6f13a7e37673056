// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace cuco {

/// A key. It is never printed, compared or serialised; only what sends it asks
/// for its text.
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string text);
    /// The variable's value without the white space around it; empty when it is
    /// not set.
    static Secret fromEnvironment(const std::string& variable);

    bool empty() const { return text_.empty(); }
    /// False when it has characters that would break a header line.
    bool fitsHeader() const;
    const std::string& reveal() const { return text_; }

    /// The text with each occurrence of the key replaced. Keys shorter than 4
    /// characters are not looked for: they protect nothing and would tear any
    /// text apart.
    std::string redact(std::string_view text) const;

private:
    std::string text_;
};

}  // namespace cuco
