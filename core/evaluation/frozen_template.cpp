// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/frozen_template.h"

#include "core/base/files.h"

#include <fmt/format.h>

namespace cuco {

Result<KernelSource> frozenTemplate(const Workload& workload)
{
    if (workload.seed_source.empty() && workload.strategies.empty())
        return failure(fmt::format("The workload {} has neither a seed nor a strategy.", workload.name),
                       (workload.folder / "workload.json").string(),
                       "Name a seed in its \"sources\"; its frozen code is that of all candidates.");
    const auto& file = workload.seed_source.empty() ? workload.strategies.front().file : workload.seed_source;
    const auto text = readFile(file, 4u << 20);
    if (!text)
        return std::unexpected(text.error());
    auto source = KernelSource::parse(*text);
    if (!source)
        return failure(source.error().message, fmt::format("{}:{}", file.string(), source.error().line),
                       "Correct the evolve markers of the workload's seed.");
    return std::move(*source);
}

}  // namespace cuco
