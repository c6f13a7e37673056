// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/source/kernel_source.h"
#include "core/workload/workload.h"

#include <string>

namespace cuco {

/// A workload for a prompt: parameters, buffers, shapes, ranks, tolerance, the headers its sources may include, with
/// their texts. Markdown.
Result<std::string> workloadFacts(const Workload& workload);

/// A source with nothing in its evolve blocks but a comment.
KernelSource emptyFrame(const KernelSource& source);

}  // namespace cuco
