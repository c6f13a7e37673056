// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/patch.h"
#include "tests/support/patch_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cuco::fuzz {

/// Sources of every shape that patches tell apart.
inline std::vector<KernelSource> patchedSources()
{
    const std::string two =
        "head();\n// EVOLVE-BLOCK-START\na;\n\nb;\n// EVOLVE-BLOCK-END\nmiddle();\n  // EVOLVE-BLOCK-START\n"
        "  // EVOLVE-BLOCK-END\ntail();";
    std::vector<KernelSource> sources;
    for (const std::string& text :
         {testing::ring_source, testing::withWindowsLineEnds(testing::ring_source), two,
          std::string("// EVOLVE-BLOCK-START\n// EVOLVE-BLOCK-END"),
          std::string("{\n// EVOLVE-BLOCK-START\na;\na;\n  a;\r\n\ta;\n// EVOLVE-BLOCK-END\n}\n")}) {
        sources.push_back(KernelSource::parse(text).value());
    }
    return sources;
}

inline std::size_t lineCount(const std::string& text)
{
    return 1 + static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// Nothing, or how a patched source breaks what is promised of it.
inline std::string violationOf(const KernelSource& original, const PatchedSource& patched)
{
    const auto again = KernelSource::parse(patched.source.text());
    if (!again || again->blocks().size() != original.blocks().size()) {
        return "the result's markers are broken";
    }
    if (const auto frozen = compareFrozen(original, *again); !frozen) {
        return fmt::format("frozen code changed in line {}", frozen.error().line);
    }
    if (patched.source.text() == original.text()) {
        return "a result without a change is no fault";
    }
    for (const AppliedEdit& edit : patched.edits) {
        if (edit.evolve_block >= original.blocks().size() || edit.line == 0) {
            return "an edit outside the evolve blocks is reported";
        }
    }
    const auto answer = writeSearchReplace(original, patched.source);
    const auto patch = answer ? readPatch(*answer) : std::unexpected(PatchFault{});
    if (answer && (!patch || applyPatch(original, *patch)->source.text() != patched.source.text())) {
        return "the difference written as SEARCH/REPLACE gives another source";
    }
    return {};
}

inline std::string violationOf(const KernelSource& original, const std::string& answer, const PatchFault& fault)
{
    if (fault.message.empty() || fault.message.size() > 4096 || toString(fault.kind).empty()) {
        return "a fault without a sentence, or with a book";
    }
    const std::size_t lines = lineCount(original.text());
    if (fault.lines.size() > 20 || std::ranges::any_of(fault.lines, [&](std::size_t line) { return line > lines; })) {
        return "a fault names lines that the original does not have";
    }
    if (fault.block > max_edits + 1 || fault.answer_line > lineCount(answer) + 1) {
        return "a fault names a place that the answer does not have";
    }
    return {};
}

/// Reads and applies an answer; nothing, or what went wrong.
inline std::string violationOf(const KernelSource& original, const std::string& answer)
{
    const auto patch = readPatch(answer);
    if (!patch) {
        return violationOf(original, answer, patch.error());
    }
    const auto patched = applyPatch(original, *patch);
    return patched ? violationOf(original, *patched) : violationOf(original, answer, patched.error());
}

}  // namespace cuco::fuzz
