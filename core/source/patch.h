// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/kernel_source.h"

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuco {

/// How a patch came about. A crossover is a full rewrite for which the model saw further parents.
enum class PatchKind { diff, full, crossover };
std::string_view toString(PatchKind kind);

/// One SEARCH/REPLACE block. Every line ends with '\n', so that "" is no line and "\n" is one empty line.
struct SearchReplace {
    std::string search, replace;
    std::size_t answer_line = 0;  ///< 1-based, of its first mark
};

/// What a model's answer asks for, read without the source it is meant for.
struct Patch {
    PatchKind kind = PatchKind::diff;
    std::string name, description;     ///< as the answer gives them; may be empty
    std::string directive;             ///< what prose announces after "cuco:"; may be empty
    std::vector<SearchReplace> edits;  ///< when there are any, `code` is empty
    std::string code;                  ///< a full rewrite: the whole source or the inside of its evolve block
    bool fenced = false;               ///< else prose may stand around `code`
    std::size_t answer_line = 0;       ///< 1-based, of the first line of `code`
};

enum class PatchFaultKind {
    too_large,
    no_patch,         ///< neither blocks nor code
    unified_diff,     ///< a format that is not taken
    malformed_block,  ///< marks missing or in the wrong order
    cut_off,          ///< the answer ends inside its code
    empty_search,
    not_found,
    ambiguous,
    frozen_code,     ///< code outside the evolve blocks would change
    evolve_markers,  ///< marker lines missing, moved or added
    elided_code,     ///< a comment stands for code
    broken_source,   ///< the result would hide frozen code: an open comment, literal or preprocessor condition
    no_change,
};
std::string_view toString(PatchFaultKind kind);

/// Why a patch was not applied, in words for the model that wrote it.
struct PatchFault {
    PatchFaultKind kind = PatchFaultKind::no_patch;
    std::string message;             ///< sentences; quoted code is shortened
    std::size_t block = 0;           ///< 1-based SEARCH/REPLACE block; 0 when none applies
    std::size_t answer_line = 0;     ///< 1-based; 0 when none applies
    std::vector<std::size_t> lines;  ///< 1-based lines of the original source; at most 20
};
/// "Block 2: …" or the message alone.
std::string describe(const PatchFault& fault);

/// Limits on an answer and on what it may make of a source.
inline constexpr std::size_t max_answer_bytes = std::size_t{4} << 20;
inline constexpr std::size_t max_edits = 256;
inline constexpr std::size_t max_patched_lines = std::size_t{1} << 18;

/// SEARCH/REPLACE blocks where the answer has any, else the code of a full rewrite. `asked` is what the model was asked
/// for: a rewrite or a crossover; blocks that answer a request for a rewrite are a diff.
std::expected<Patch, PatchFault> readPatch(std::string_view answer, PatchKind asked = PatchKind::full);

/// How a SEARCH was found.
enum class MatchTolerance {
    exact,
    trailing_blanks,  ///< ignored
    indentation,      ///< shifted by the same blanks in every line; REPLACE is shifted too
};
std::string_view toString(MatchTolerance tolerance);

/// One change. `line` counts in the source as the edits before have left it.
struct AppliedEdit {
    std::size_t evolve_block = 0;  ///< 0-based
    std::size_t line = 0;          ///< 1-based, of the first line removed, or before which lines were added
    std::size_t removed_lines = 0, added_lines = 0;
    MatchTolerance tolerance = MatchTolerance::exact;
};

struct PatchedSource {
    KernelSource source;
    std::vector<AppliedEdit> edits;  ///< one a SEARCH/REPLACE block; of a rewrite, one an evolve block that differs
};

/// All of the patch or nothing. Frozen bytes of the result are those of `original`. A fault's line numbers are those of
/// `original`, whatever earlier blocks of the same patch have moved.
std::expected<PatchedSource, PatchFault> applyPatch(const KernelSource& original, const Patch& patch);

/// SEARCH/REPLACE blocks that make `changed` of `original`. Nothing when no SEARCH tells the places apart, when frozen
/// code differs, or when the texts mix kinds of line end.
std::optional<std::string> writeSearchReplace(const KernelSource& original, const KernelSource& changed);

}  // namespace cuco
