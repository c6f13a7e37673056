// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/overlap_report.h"
#include "ui/views/timeline/timeline_index.h"

#include <QString>

namespace cuco::ui {

QString activityName(Activity activity);
/// "rank 2 · stream 0"
QString laneTitle(const Lane& lane);
/// Name, activity, begin, duration, bytes with effective rate, rank and lane: lines for a tooltip.
QString intervalTooltip(const TimelineIndex& index, IntervalRef ref);
/// The same in one line for the details strip.
QString intervalDetails(const TimelineIndex& index, IntervalRef ref);
/// A table of what each rank does in the range, as rich text.
QString rangeTable(const TimelineIndex& index, TimeRange range);
/// "makespan 467.2 µs · exposed communication 84.0 µs · 62 % hidden"
QString overlapSummary(const OverlapReport& report);
/// Names where a timeline's times come from, as a badge: "modelled time".
QString sourceBadge(TimeSource source);

}  // namespace cuco::ui
