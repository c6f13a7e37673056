// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/cuda_lexer.h"

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// Lines between `// EVOLVE-BLOCK-START` and `// EVOLVE-BLOCK-END`, the markers excluded. A marker has a line of
/// its own and may be followed by a blank and more text.
struct EvolveBlock {
    std::size_t begin = 0, end = 0;             ///< byte range of the block's text in the file
    std::size_t first_line = 0, last_line = 0;  ///< 1-based; last_line < first_line when empty
};

struct SourceFault {
    std::size_t line = 0;  ///< 1-based; 0 when no line applies
    std::string message;
};

/// One translation unit of a candidate, split at its evolve markers. Frozen code is everything else,
/// the marker lines included.
class KernelSource {
public:
    static constexpr std::string_view directive_prefix = "cuco:", tunable_macro = "CUCO_TUNE";

    /// Faults: no block, an END without START, a START inside a block, a block that is never closed,
    /// a NUL byte, more than 4 MiB. Also a marker inside a comment or literal, and a block that opens or
    /// closes a preprocessor condition it does not close or open: either would switch frozen code off.
    static std::expected<KernelSource, SourceFault> parse(std::string text);

    const std::string& text() const { return text_; }
    const std::vector<EvolveBlock>& blocks() const { return blocks_; }
    std::string_view blockText(std::size_t index) const;
    /// Frozen segments in order; blocks().size() + 1 of them.
    std::vector<std::string_view> frozenSegments() const;
    /// What the code says of itself, in evolve blocks or not, by place: comments that begin with "// cuco:" and the
    /// word CUCO_TUNE.
    const std::vector<Lexeme>& annotations() const { return annotations_; }

private:
    std::string text_;
    std::vector<EvolveBlock> blocks_;
    std::vector<Lexeme> annotations_;
};

/// Nothing when all frozen bytes of `candidate` equal those of `original`; otherwise the candidate's
/// first line that differs.
std::expected<void, SourceFault> compareFrozen(const KernelSource& original, const KernelSource& candidate);

std::string sha256Hex(std::string_view bytes);

}  // namespace cuco
