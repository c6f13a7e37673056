// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/kernel_source.h"

#include "core/source/cuda_lexer.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <optional>

namespace cuco {

namespace {

constexpr std::size_t max_source_bytes = std::size_t{4} << 20;
constexpr std::string_view start_marker = "// EVOLVE-BLOCK-START";
constexpr std::string_view end_marker = "// EVOLVE-BLOCK-END";
constexpr std::string_view blanks = " \t\r\n\f\v";

std::unexpected<SourceFault> fault(std::size_t line, std::string message)
{
    return std::unexpected(SourceFault{line, std::move(message)});
}

bool isMarker(std::string_view trimmed_line, std::string_view marker)
{
    return trimmed_line.starts_with(marker) &&
           (trimmed_line.size() == marker.size() || blanks.contains(trimmed_line[marker.size()]));
}

std::size_t lineAt(std::string_view text, std::size_t offset)
{
    return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, offset), '\n'));
}

/// A block and where the comments of its two markers begin.
struct MarkedBlock {
    EvolveBlock block;
    std::size_t start_comment = 0, end_comment = 0;
};

std::expected<std::vector<MarkedBlock>, SourceFault> findMarkers(std::string_view text)
{
    std::vector<MarkedBlock> blocks;
    std::optional<MarkedBlock> current;
    std::size_t line_number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        ++line_number;
        const std::size_t next = std::min(text.find('\n', begin), text.size() - 1) + 1;
        const std::size_t first = std::min(text.find_first_not_of(blanks, begin), next);
        const std::string_view trimmed = text.substr(first, next - first);
        if (isMarker(trimmed, start_marker)) {
            if (current) {
                return fault(line_number, fmt::format("EVOLVE-BLOCK-START inside the block that begins in line {}.",
                                                      current->block.first_line - 1));
            }
            current = MarkedBlock{{next, next, line_number + 1, line_number}, first, 0};
        } else if (isMarker(trimmed, end_marker)) {
            if (!current) {
                return fault(line_number, "EVOLVE-BLOCK-END without an EVOLVE-BLOCK-START before it.");
            }
            current->block.end = begin;
            current->block.last_line = line_number - 1;
            current->end_comment = first;
            blocks.push_back(*current);
            current.reset();
        }
        begin = next;
    }
    if (current) {
        return fault(current->block.first_line - 1, "This EVOLVE-BLOCK-START has no EVOLVE-BLOCK-END.");
    }
    if (blocks.empty()) {
        return fault(0, "There is no evolve block: no line \"// EVOLVE-BLOCK-START\".");
    }
    return blocks;
}

std::string_view directiveName(std::string_view directive)
{
    directive.remove_prefix(1);
    directive.remove_prefix(std::min(directive.find_first_not_of(" \t"), directive.size()));
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    return directive.substr(
        0, static_cast<std::size_t>(std::ranges::find_if_not(directive, is_letter) - directive.begin()));
}

/// Conditions opened in the block and still open behind this directive; negative when it belongs to a condition
/// from outside.
int depthAfter(int depth, std::string_view directive)
{
    const std::string_view name = directiveName(directive);
    if (name.starts_with("if")) {
        return depth + 1;
    }
    if (name == "endif") {
        return depth - 1;
    }
    return depth == 0 && name.starts_with("el") ? -1 : depth;
}

bool isAnnotation(LexemeKind kind, std::string_view token)
{
    if (kind == LexemeKind::identifier) {
        return token == KernelSource::tunable_macro;
    }
    if (kind != LexemeKind::comment || !token.starts_with("//")) {
        return false;
    }
    token.remove_prefix(std::min(token.find_first_not_of(" \t\r", 2), token.size()));
    return token.starts_with(KernelSource::directive_prefix);
}

/// What a compiler takes for a comment must be the markers, and what it takes for conditions must stay inside blocks.
/// Gives the annotations.
std::expected<std::vector<Lexeme>, SourceFault> checkAsCode(std::string_view text,
                                                            const std::vector<MarkedBlock>& blocks)
{
    std::vector<Lexeme> annotations;
    std::vector<std::size_t> markers;
    for (const MarkedBlock& marked : blocks) {
        markers.push_back(marked.start_comment);
        markers.push_back(marked.end_comment);
    }
    const auto hidden = [&](std::size_t marker) {
        return fault(lineAt(text, marker), "This marker lies inside a comment, a literal or a continued line.");
    };
    std::size_t seen = 0;
    int depth = 0;
    CudaLexer lexer(text);
    for (Lexeme token = lexer.next(); token.kind != LexemeKind::end; token = lexer.next()) {
        if (isAnnotation(token.kind, text.substr(token.begin, token.end - token.begin))) {
            annotations.push_back(token);
        }
        if (seen < markers.size() && token.end > markers[seen]) {
            if (token.begin != markers[seen]) {
                return hidden(markers[seen]);
            }
            if (depth > 0) {
                return fault(token.line, "A preprocessor condition opened in this block is not closed in it.");
            }
            ++seen;
        } else if (token.kind == LexemeKind::preprocessor && seen % 2 == 1) {
            depth = depthAfter(depth, text.substr(token.begin, token.end - token.begin));
            if (depth < 0) {
                return fault(token.line, "This directive belongs to a preprocessor condition outside its block.");
            }
        }
    }
    return annotations;
}

}  // namespace

std::expected<KernelSource, SourceFault> KernelSource::parse(std::string text)
{
    if (text.size() > max_source_bytes) {
        return fault(0, fmt::format("The source has {} bytes; at most {} are allowed.", text.size(), max_source_bytes));
    }
    if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
        return fault(lineAt(text, nul), "The source has a zero byte.");
    }
    const auto marked = findMarkers(text);
    if (!marked) {
        return std::unexpected(marked.error());
    }
    auto annotations = checkAsCode(text, *marked);
    if (!annotations) {
        return std::unexpected(std::move(annotations.error()));
    }
    KernelSource source;
    source.annotations_ = std::move(*annotations);
    for (const MarkedBlock& block : *marked) {
        source.blocks_.push_back(block.block);
    }
    source.text_ = std::move(text);
    return source;
}

std::string_view KernelSource::blockText(std::size_t index) const
{
    const EvolveBlock& block = blocks_.at(index);
    return std::string_view(text_).substr(block.begin, block.end - block.begin);
}

std::vector<std::string_view> KernelSource::frozenSegments() const
{
    std::vector<std::string_view> segments;
    std::size_t begin = 0;
    for (const EvolveBlock& block : blocks_) {
        segments.push_back(std::string_view(text_).substr(begin, block.begin - begin));
        begin = block.end;
    }
    segments.push_back(std::string_view(text_).substr(begin));
    return segments;
}

std::expected<void, SourceFault> compareFrozen(const KernelSource& original, const KernelSource& candidate)
{
    const auto expected = original.frozenSegments();
    const auto found = candidate.frozenSegments();
    for (std::size_t i = 0; i < std::min(expected.size(), found.size()); ++i) {
        if (expected[i] == found[i]) {
            continue;
        }
        const auto differs = std::ranges::mismatch(expected[i], found[i]).in2 - found[i].begin();
        const std::size_t offset = static_cast<std::size_t>(found[i].data() - candidate.text().data() + differs);
        std::string message = "This line is outside the evolve blocks and differs from the original.";
        if (expected.size() != found.size()) {
            message = fmt::format(
                "Code outside the evolve blocks differs from here on: the original has {} blocks, "
                "the candidate {}.",
                expected.size() - 1, found.size() - 1);
        }
        return fault(lineAt(candidate.text(), offset), std::move(message));
    }
    return {};
}

std::string sha256Hex(std::string_view bytes)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
    std::string hex;
    for (const unsigned char byte : digest) {
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
    }
    return hex;
}

}  // namespace cuco
