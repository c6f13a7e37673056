// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/source/patch.h"

#include "core/source/patch_apply.h"

#include <fmt/format.h>

namespace cuco {

std::string_view toString(PatchKind kind)
{
    switch (kind) {
        case PatchKind::diff:
            return "diff";
        case PatchKind::full:
            return "full";
        case PatchKind::crossover:
            return "crossover";
    }
    return "";
}

std::string_view toString(PatchFaultKind kind)
{
    switch (kind) {
        case PatchFaultKind::too_large:
            return "too_large";
        case PatchFaultKind::no_patch:
            return "no_patch";
        case PatchFaultKind::unified_diff:
            return "unified_diff";
        case PatchFaultKind::malformed_block:
            return "malformed_block";
        case PatchFaultKind::cut_off:
            return "cut_off";
        case PatchFaultKind::empty_search:
            return "empty_search";
        case PatchFaultKind::not_found:
            return "not_found";
        case PatchFaultKind::ambiguous:
            return "ambiguous";
        case PatchFaultKind::frozen_code:
            return "frozen_code";
        case PatchFaultKind::evolve_markers:
            return "evolve_markers";
        case PatchFaultKind::elided_code:
            return "elided_code";
        case PatchFaultKind::broken_source:
            return "broken_source";
        case PatchFaultKind::no_change:
            return "no_change";
    }
    return "";
}

std::string_view toString(MatchTolerance tolerance)
{
    switch (tolerance) {
        case MatchTolerance::exact:
            return "exact";
        case MatchTolerance::trailing_blanks:
            return "trailing_blanks";
        case MatchTolerance::indentation:
            return "indentation";
    }
    return "";
}

std::string describe(const PatchFault& fault)
{
    return fault.block > 0 ? fmt::format("Block {}: {}", fault.block, fault.message) : fault.message;
}

std::expected<PatchedSource, PatchFault> applyPatch(const KernelSource& original, const Patch& patch)
{
    auto draft = patch.edits.empty() ? applyRewrite(original, patch) : applyEdits(original, patch.edits);
    if (!draft) {
        return std::unexpected(std::move(draft.error()));
    }
    if (draft->text == original.text()) {
        return std::unexpected(PatchFault{PatchFaultKind::no_change, "The result is the source as it was.", 0, 0, {}});
    }
    auto source = KernelSource::parse(std::move(draft->text));
    if (!source) {
        const std::string where =
            source.error().line > 0 ? fmt::format("In line {} of the result: ", source.error().line) : std::string();
        return std::unexpected(PatchFault{PatchFaultKind::broken_source, where + source.error().message, 0, 0, {}});
    }
    if (const auto frozen = compareFrozen(original, *source); !frozen) {
        return std::unexpected(PatchFault{PatchFaultKind::frozen_code, frozen.error().message, 0, 0, {}});
    }
    return PatchedSource{std::move(*source), std::move(draft->edits)};
}

}  // namespace cuco
