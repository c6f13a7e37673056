// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/patch.h"

#include <span>

namespace cuco {

/// A result whose frozen code and markers have yet to be checked.
struct PatchDraft {
    std::string text;
    std::vector<AppliedEdit> edits;
};

std::expected<PatchDraft, PatchFault> applyEdits(const KernelSource& original, std::span<const SearchReplace> edits);
std::expected<PatchDraft, PatchFault> applyRewrite(const KernelSource& original, const Patch& patch);

}  // namespace cuco
