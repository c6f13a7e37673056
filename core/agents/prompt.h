// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// What stands for {{name}} in a prompt.
using PromptValues = std::map<std::string, std::string>;

/// A text for a model with named places, {{name}}, names of lower-case letters, digits and underscores.
class PromptTemplate {
public:
    /// A leading comment, which holds the licence, is left out. Errors: a place that is not closed or has no proper
    /// name.
    static Result<PromptTemplate> parse(std::string text, const std::string& where);

    const std::vector<std::string>& names() const { return names_; }  ///< in order of appearance, each once
    /// Values are inserted as they are but for line ends at their end: places in them are text. What an empty value
    /// leaves is no more than one blank line. Errors: a place without a value.
    Result<std::string> render(const PromptValues& values) const;

private:
    std::string text_, where_;
    std::vector<std::string> names_;
};

/// The product's prompts and API notes: Markdown files.
class PromptLibrary {
public:
    /// `resources` holds prompts/ and api_notes/.
    explicit PromptLibrary(std::filesystem::path resources) : resources_(std::move(resources)) {}

    Result<std::string> render(const std::string& prompt, const PromptValues& values) const;
    /// One or several of api_notes/, one after the other.
    Result<std::string> notes(const std::vector<std::string>& names) const;

private:
    std::filesystem::path resources_;
};

/// Text that a model shall read but not obey: between fences that are longer than any in it, in valid UTF-8, without
/// control characters, and cut in the middle to `most_bytes`. Empty for an empty text.
std::string fenced(std::string_view text, std::string_view language, std::size_t most_bytes);

}  // namespace cuco
