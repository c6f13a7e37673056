// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/stored_timeline.h"

#include <fmt/format.h>

namespace cuco::cli {

Result<Timeline> storedTimeline(RunFile& file, const std::string& name)
{
    auto timeline = file.timeline(name);
    if (timeline && !*timeline)
        timeline = file.baselineTimeline(name);
    if (!timeline)
        return std::unexpected(timeline.error());
    if (!*timeline)
        return failure(fmt::format("There is no timeline of {}", name), file.path().string(),
                       "Choose a verified candidate, or a baseline as host.cu, of those that `cucoctl show` lists.");
    return std::move(**timeline);
}

}  // namespace cuco::cli
