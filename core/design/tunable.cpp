// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/design/tunable.h"

#include "core/source/cuda_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace cuco {

namespace {

constexpr std::string_view macro_name = KernelSource::tunable_macro;
constexpr std::size_t max_choices = 64;
constexpr std::size_t max_tunables = 64;

std::unexpected<SourceFault> fault(std::size_t line, std::string message)
{
    return std::unexpected(SourceFault{line, std::move(message)});
}

/// Decimal or hexadecimal with digit separators. No octal, which nobody means, and no suffix.
std::optional<std::int64_t> integerLiteral(bool negative, std::string_view token)
{
    std::string digits = negative ? "-" : "";
    const bool hexadecimal = token.starts_with("0x") || token.starts_with("0X");
    if (!hexadecimal && token.size() > 1 && token.front() == '0') {
        return std::nullopt;
    }
    std::ranges::copy_if(token.substr(hexadecimal ? 2 : 0), std::back_inserter(digits),
                         [](char c) { return c != '\''; });
    std::int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, value, hexadecimal ? 16 : 10);
    // from_chars would take a second sign after "0x".
    const bool starts_well = !digits.empty() && (negative || digits.front() != '-');
    return parsed.ec == std::errc() && parsed.ptr == end && starts_well ? std::optional(value) : std::nullopt;
}

/// Reads one declaration behind its macro name.
class DeclarationParser {
public:
    DeclarationParser(std::string_view text, CudaLexer& lexer, std::size_t line) : text_(text), lexer_(lexer)
    {
        tunable_.line = line;
    }

    std::expected<Tunable, SourceFault> parse()
    {
        advance();
        if (!takes('(')) {
            return wrong("an opening parenthesis must follow");
        }
        if (token_.kind != LexemeKind::identifier) {
            return wrong("the first argument must be a name");
        }
        tunable_.name = word();
        advance();
        bool is_value = true;
        while (takes(',')) {
            const std::size_t begin = token_.begin;
            const bool negative = takes('-');
            const auto number = token_.kind == LexemeKind::number ? integerLiteral(negative, word()) : std::nullopt;
            if (!number) {
                return wrong(fmt::format("\"{}\" is no integer literal", word()));
            }
            if (is_value) {
                tunable_.value = *number;
                tunable_.value_begin = begin;
                tunable_.value_end = token_.end;
            } else if (std::ranges::find(tunable_.choices, *number) != tunable_.choices.end()) {
                return wrong(fmt::format("the choice {} is there twice", *number));
            } else {
                tunable_.choices.push_back(*number);
            }
            is_value = false;
            advance();
        }
        if (token_.kind != LexemeKind::punctuation || word() != ")") {
            return wrong("a comma or the closing parenthesis is missing");
        }
        if (tunable_.choices.empty() || tunable_.choices.size() > max_choices) {
            return wrong(fmt::format("it needs a value and 1 to {} choices", max_choices));
        }
        if (std::ranges::find(tunable_.choices, tunable_.value) == tunable_.choices.end()) {
            return wrong(fmt::format("its value {} is not one of its choices", tunable_.value));
        }
        return std::move(tunable_);
    }

private:
    std::string_view word() const { return text_.substr(token_.begin, token_.end - token_.begin); }

    void advance()
    {
        do {
            token_ = lexer_.next();
        } while (token_.kind == LexemeKind::comment);
    }

    bool takes(char punctuation)
    {
        const bool there = token_.kind == LexemeKind::punctuation && text_[token_.begin] == punctuation;
        if (there) {
            advance();
        }
        return there;
    }

    std::unexpected<SourceFault> wrong(const std::string& reason) const
    {
        const std::string name = tunable_.name.empty() ? std::string(macro_name) : tunable_.name;
        return fault(tunable_.line, fmt::format("The tunable {} is not well formed: {}.", name, reason));
    }

    std::string_view text_;
    CudaLexer& lexer_;
    Lexeme token_;
    Tunable tunable_;
};

}  // namespace

std::expected<std::vector<Tunable>, SourceFault> findTunables(const KernelSource& source)
{
    const std::string_view text = source.text();
    std::vector<Tunable> tunables;
    std::set<std::string> names;
    for (const Lexeme& token : source.annotations()) {
        if (token.kind != LexemeKind::identifier) {
            continue;
        }
        CudaLexer lexer(text, token);
        const bool evolvable = std::ranges::any_of(source.blocks(), [&](const EvolveBlock& block) {
            return token.begin >= block.begin && token.begin < block.end;
        });
        if (!evolvable) {
            return fault(token.line, "CUCO_TUNE stands outside the evolve blocks, where nothing may change.");
        }
        auto tunable = DeclarationParser(text, lexer, token.line).parse();
        if (!tunable) {
            return std::unexpected(std::move(tunable.error()));
        }
        if (!names.insert(tunable->name).second) {
            return fault(token.line, fmt::format("The tunable {} is declared twice.", tunable->name));
        }
        if (tunables.size() == max_tunables) {
            return fault(token.line, fmt::format("There are more than {} tunables.", max_tunables));
        }
        tunables.push_back(std::move(*tunable));
    }
    return tunables;
}

std::expected<std::string, SourceFault> withTunables(const KernelSource& source, const TunableValues& values)
{
    const auto tunables = findTunables(source);
    if (!tunables) {
        return std::unexpected(tunables.error());
    }
    for (const auto& [name, value] : values) {
        const auto tunable = std::ranges::find(*tunables, name, &Tunable::name);
        if (tunable == tunables->end()) {
            return fault(0, fmt::format("There is no tunable {}.", name));
        }
        if (std::ranges::find(tunable->choices, value) == tunable->choices.end()) {
            return fault(tunable->line, fmt::format("{} is not one of the choices of the tunable {}.", value, name));
        }
    }
    std::string text;
    std::size_t copied = 0;
    for (const Tunable& tunable : *tunables) {
        const auto wanted = values.find(tunable.name);
        if (wanted == values.end() || wanted->second == tunable.value) {
            continue;  // keeps the author's spelling
        }
        text.append(source.text(), copied, tunable.value_begin - copied);
        text += std::to_string(wanted->second);
        copied = tunable.value_end;
    }
    text.append(source.text(), copied);
    return text;
}

}  // namespace cuco
