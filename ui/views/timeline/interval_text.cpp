// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/interval_text.h"

#include <QCoreApplication>
#include <QStringList>

namespace cuco::ui {

namespace {

QString text(const char* source)
{
    return QCoreApplication::translate("cuco::ui::Timeline", source);
}

QString nameOf(const TimelineIndex& index, IntervalRef ref)
{
    const std::string_view name = index.name(ref);
    return name.empty() ? text("(no name)") : QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

double durationOf(const Interval& interval)
{
    return static_cast<double>(interval.end_ns - interval.begin_ns);
}

QString transferOf(const Interval& interval)
{
    if (interval.bytes == 0)
        return {};
    const double bytes = static_cast<double>(interval.bytes);
    const double duration = durationOf(interval);
    if (duration <= 0)
        return formatBytes(bytes);
    // A byte a nanosecond is a gigabyte a second.
    return text("%1 at %2 GB/s").arg(formatBytes(bytes), QString::number(bytes / duration, 'f', 1));
}

QString percent(double share)
{
    return QString::number(100 * share, 'f', 0) + QStringLiteral("\u202f%");
}

}  // namespace

QString activityName(Activity activity)
{
    switch (activity) {
        case Activity::compute:
            return text("compute");
        case Activity::communication:
            return text("communication");
        case Activity::copy:
            return text("copy");
        case Activity::wait:
            return text("wait");
        case Activity::host:
            return text("host");
    }
    return {};
}

QString laneTitle(const Lane& lane)
{
    return text("rank %1").arg(lane.rank) + QStringLiteral(" · ") + QString::fromStdString(lane.name);
}

QString intervalTooltip(const TimelineIndex& index, IntervalRef ref)
{
    const Interval& interval = index.interval(ref);
    QStringList lines{
        QStringLiteral("<b>%1</b> (%2)").arg(nameOf(index, ref).toHtmlEscaped(), activityName(interval.activity)),
        text("begins at %1, takes %2")
            .arg(formatDuration(static_cast<double>(interval.begin_ns)), formatDuration(durationOf(interval)))};
    if (const QString transfer = transferOf(interval); !transfer.isEmpty())
        lines << transfer;
    lines << laneTitle(index.lane(ref)).toHtmlEscaped();
    return QStringLiteral("<p style='white-space:pre'>") + lines.join(QStringLiteral("<br>")) + QStringLiteral("</p>");
}

QString intervalDetails(const TimelineIndex& index, IntervalRef ref)
{
    const Interval& interval = index.interval(ref);
    QStringList parts{nameOf(index, ref), activityName(interval.activity), laneTitle(index.lane(ref)),
                      text("begin %1").arg(formatDuration(static_cast<double>(interval.begin_ns))),
                      text("duration %1").arg(formatDuration(durationOf(interval)))};
    if (const QString transfer = transferOf(interval); !transfer.isEmpty())
        parts << transfer;
    if (const auto flow = index.flowOf(ref); !flow.empty())
        parts << text("flow %1 with %2 more").arg(interval.flow).arg(flow.size());
    return parts.join(QStringLiteral("   "));
}

QString rangeTable(const TimelineIndex& index, TimeRange range)
{
    QString rows;
    for (const RangeStatistics& rank : index.statistics(range)) {
        const auto cell = [](const QString& value) {
            return QStringLiteral("<td align='right' style='padding-left:16px'>%1</td>").arg(value);
        };
        rows += QStringLiteral("<tr><td>%1</td>").arg(text("rank %1").arg(rank.rank)) +
                cell(formatDuration(rank.compute_ns)) + cell(formatDuration(rank.communication_ns)) +
                cell(formatDuration(rank.overlapped_ns)) + cell(formatDuration(rank.exposed_ns())) +
                cell(rank.communication_ns > 0 ? percent(rank.overlapped_ns / rank.communication_ns)
                                               : QStringLiteral("–")) +
                QStringLiteral("</tr>");
    }
    QString head;
    for (const char* title : {"compute", "communication", "overlapped", "exposed", "hidden"})
        head += QStringLiteral("<td align='right' style='padding-left:16px'><b>%1</b></td>").arg(text(title));
    return text("<b>Range %1</b> from %2 to %3")
               .arg(formatDuration(range.length()), formatDuration(range.begin_ns), formatDuration(range.end_ns)) +
           QStringLiteral("<table><tr><td></td>%1</tr>%2</table>").arg(head, rows);
}

QString overlapSummary(const OverlapReport& report)
{
    QStringList parts{text("makespan %1").arg(formatDuration(report.makespan_us * 1000)),
                      text("exposed communication %1").arg(formatDuration(report.exposed_us * 1000))};
    if (report.hidden_share)
        parts << text("%1 hidden").arg(percent(*report.hidden_share));
    if (report.bound_us)
        parts << text("bound %1").arg(formatDuration(*report.bound_us * 1000));
    return parts.join(QStringLiteral(" · "));
}

QString sourceBadge(TimeSource source)
{
    switch (source) {
        case TimeSource::modelled:
            return text("modelled time");
        case TimeSource::cupti:
            return text("measured by CUPTI");
        case TimeSource::in_kernel:
            return text("measured in the kernel");
        case TimeSource::imported:
            return text("imported");
    }
    return {};
}

}  // namespace cuco::ui
