// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/design/directive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace cuco {

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view example = "// cuco: backend=lsa placement=sequential sync=world issuer=cta chunk=0";

std::unexpected<SourceFault> fault(std::size_t line, std::string message)
{
    return std::unexpected(SourceFault{line, std::move(message)});
}

std::expected<Directive, SourceFault> parseFields(std::string_view text, std::size_t line)
{
    Directive directive;
    std::string chunk;
    struct Field {
        std::string_view key;
        std::string* value;
    };
    const std::array<Field, 5> fields{{{"backend", &directive.backend},
                                       {"placement", &directive.placement},
                                       {"sync", &directive.sync},
                                       {"issuer", &directive.issuer},
                                       {"chunk", &chunk}}};
    while (true) {
        text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
        if (text.empty()) {
            break;
        }
        const std::string_view word = text.substr(0, text.find_first_of(blanks));
        text.remove_prefix(word.size());
        const std::size_t equals = word.find('=');
        const std::string_view key = word.substr(0, equals);
        const auto field = std::ranges::find(fields, key, &Field::key);
        if (equals == std::string_view::npos || field == fields.end()) {
            return fault(line, fmt::format("The directive has \"{}\", which is none of backend=, placement=, sync=, "
                                           "issuer= and chunk=.",
                                           word));
        }
        if (!field->value->empty()) {
            return fault(line, fmt::format("The directive says {} twice.", key));
        }
        *field->value = word.substr(equals + 1);
        if (field->value->empty()) {
            return fault(line, fmt::format("The directive gives {} no value.", key));
        }
    }
    for (const Field& field : fields) {
        if (field.value->empty()) {
            return fault(line,
                         fmt::format("The directive does not say {}; it must look like \"{}\".", field.key, example));
        }
    }
    const char* const end = chunk.data() + chunk.size();
    const auto parsed = std::from_chars(chunk.data(), end, directive.chunk_bytes);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
        return fault(line, fmt::format("The directive's chunk \"{}\" is no number of bytes.", chunk));
    }
    return directive;
}

}  // namespace

std::expected<Directive, SourceFault> parseDirective(const KernelSource& source)
{
    const std::string_view text = source.text();
    std::expected<Directive, SourceFault> found =
        fault(0, fmt::format("The evolve blocks have no directive; one line must look like \"{}\".", example));
    std::size_t found_line = 0;
    for (const Lexeme& token : source.annotations()) {
        const bool evolvable = std::ranges::any_of(source.blocks(), [&](const EvolveBlock& block) {
            return token.begin >= block.begin && token.begin < block.end;
        });
        if (token.kind != LexemeKind::comment || !evolvable) {
            continue;
        }
        if (found_line != 0) {
            return fault(token.line, fmt::format("This is a second directive; the first is in line {}.", found_line));
        }
        found_line = token.line;
        constexpr std::string_view prefix = KernelSource::directive_prefix;
        const std::string_view comment = text.substr(token.begin, token.end - token.begin);
        found = parseFields(comment.substr(comment.find(prefix) + prefix.size()), token.line);
        if (!found) {
            return found;
        }
    }
    return found;
}

std::string toString(const Directive& directive)
{
    return fmt::format("backend={} placement={} sync={} issuer={} chunk={}", directive.backend, directive.placement,
                       directive.sync, directive.issuer, directive.chunk_bytes);
}

}  // namespace cuco
