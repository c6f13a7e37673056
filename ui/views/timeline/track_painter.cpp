// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/track_painter.h"

#include "ui/views/timeline/interval_text.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPixmap>

#include <cmath>

namespace cuco::ui {

namespace {

constexpr int tile_size = 8;
constexpr int narrowest_pattern = 4, narrowest_text = 28;

QBrush tile(const QColor& color, Activity activity)
{
    if (activity == Activity::compute)
        return color;
    QPixmap pixmap(tile_size, tile_size);
    pixmap.fill(color);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color.darker(activity == Activity::wait ? 140 : 122), 2));
    switch (activity) {
        case Activity::communication:  // "/"; drawn thrice, so that the tile's corners meet
            for (const int x : {-tile_size, 0, tile_size})
                painter.drawLine(QPointF(x, tile_size), QPointF(x + tile_size, 0));
            break;
        case Activity::wait:  // "\" fine
            painter.setPen(QPen(color.darker(140), 1));
            for (int x = -tile_size; x <= tile_size; x += tile_size / 2)
                painter.drawLine(QPointF(x, 0), QPointF(x + tile_size, tile_size));
            break;
        case Activity::copy:
            painter.setRenderHint(QPainter::Antialiasing, false);
            painter.fillRect(0, tile_size / 2, tile_size, 2, color.darker(122));
            break;
        case Activity::host:
            painter.setRenderHint(QPainter::Antialiasing, false);
            painter.fillRect(tile_size / 2, 0, 1, tile_size, color.darker(122));
            break;
        case Activity::compute:
            break;
    }
    return pixmap;
}

QString text(const char* source)
{
    return QCoreApplication::translate("cuco::ui::Timeline", source);
}

}  // namespace

const std::vector<PaintedRun>& RunCache::runs(const SpanRow& row, TimeRange range, int width)
{
    if (range != range_ || width != width_) {
        runs_.clear();
        range_ = range;
        width_ = width;
    }
    const auto [entry, is_new] = runs_.try_emplace(&row);
    if (is_new)
        entry->second = layOut(row, range, width);
    return entry->second;
}

ActivityBrushes::ActivityBrushes(const Colors& colors)
{
    for (const Activity activity :
         {Activity::compute, Activity::communication, Activity::copy, Activity::wait, Activity::host}) {
        const auto index = static_cast<std::size_t>(activity);
        colors_[index] = colors.of(activity);
        brushes_[index] = tile(colors_[index], activity);
    }
}

QColor ActivityBrushes::textOn(Activity activity) const
{
    const QColor& fill = color(activity);
    return contrastRatio(fill, Qt::white) >= 4.5 ? QColor(Qt::white) : QColor(Qt::black);
}

double TrackView::xOf(double ns) const
{
    return label_width + (ns - range.begin_ns) / range.length() * tracksWidth();
}

double TrackView::timeAt(double x) const
{
    return range.begin_ns + (x - label_width) * range.length() / std::max(tracksWidth(), 1);
}

TrackPainter::TrackPainter(QPainter& painter, const TrackView& view, const Colors& colors,
                           const ActivityBrushes& brushes, RunCache& cache)
    : painter_(painter),
      view_(view),
      colors_(colors),
      brushes_(brushes),
      cache_(cache),
      ticks_(rulerTicks(view.range, view.tracksWidth(), 12 * grid)),
      small_(textFont(-1)),
      bold_(textFont(0, QFont::DemiBold))
{
}

void TrackPainter::paint(const TimelineIndex& index, const TimelineLayout& layout, const std::set<int>& collapsed_ranks,
                         std::optional<double> bound_ns)
{
    painter_.fillRect(QRect(QPoint(0, 0), view_.size), colors_.background);
    paintGrid();
    for (const Band& band : layout.bands()) {
        const int y = view_.yOf(band);
        if (y + band.height < view_.ruler_height || y > view_.size.height())
            continue;
        paintBand(index, band, collapsed_ranks.contains(index.ranks()[band.group].rank));
    }
    if (bound_ns)
        paintBound(*bound_ns);
    paintRuler();
    painter_.setPen(colors_.border);
    painter_.drawLine(view_.label_width - 1, 0, view_.label_width - 1, view_.size.height());
}

void TrackPainter::paintGrid()
{
    painter_.setPen(colors_.grid_line);
    for (const RulerTick& tick : ticks_) {
        const int x = static_cast<int>(view_.xOf(tick.at_ns));
        painter_.drawLine(x, view_.ruler_height, x, view_.size.height());
    }
}

void TrackPainter::paintRuler()
{
    const QRect ruler(0, 0, view_.size.width(), view_.ruler_height);
    painter_.fillRect(ruler, colors_.surface);
    painter_.setFont(small_);
    for (const RulerTick& tick : ticks_) {
        const int x = static_cast<int>(view_.xOf(tick.at_ns));
        painter_.setPen(colors_.border);
        painter_.drawLine(x, view_.ruler_height - 6, x, view_.ruler_height);
        painter_.setPen(colors_.secondary);
        painter_.drawText(QRect(x + 4, 0, 12 * grid, view_.ruler_height - 2), Qt::AlignVCenter, tick.label);
    }
    painter_.fillRect(QRect(0, 0, view_.label_width, view_.ruler_height), colors_.surface);
    painter_.setPen(colors_.border);
    painter_.drawLine(ruler.bottomLeft(), ruler.bottomRight());
}

void TrackPainter::paintBand(const TimelineIndex& index, const Band& band, bool collapsed)
{
    switch (band.kind) {
        case Band::Kind::rank_header:
            paintHeader(index, band, collapsed);
            break;
        case Band::Kind::lane:
            painter_.save();
            painter_.setClipRect(view_.tracks());
            paintLane(index, band);
            painter_.restore();
            paintLabel(index, band);
            break;
        case Band::Kind::overlap:
            painter_.save();
            painter_.setClipRect(view_.tracks());
            paintOverlap(index, band);
            painter_.restore();
            paintLabel(index, band);
            break;
    }
}

void TrackPainter::paintHeader(const TimelineIndex& index, const Band& band, bool collapsed)
{
    const auto& group = index.ranks()[band.group];
    const QRect rect(0, view_.yOf(band), view_.size.width(), band.height);
    painter_.fillRect(rect, colors_.raised);
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(colors_.secondary);
    painter_.setRenderHint(QPainter::Antialiasing);
    const QPointF center(rect.left() + 12, rect.center().y() + 0.5);
    const QPolygonF arrow =
        collapsed ? QPolygonF({center + QPointF(-2, -4), center + QPointF(3, 0), center + QPointF(-2, 4)})
                  : QPolygonF({center + QPointF(-4, -2), center + QPointF(4, -2), center + QPointF(0, 3)});
    painter_.drawPolygon(arrow);
    painter_.setRenderHint(QPainter::Antialiasing, false);
    painter_.setFont(bold_);
    painter_.setPen(colors_.text);
    painter_.drawText(rect.adjusted(22, 0, 0, 0), Qt::AlignVCenter, text("rank %1").arg(group.rank));

    const RangeStatistics& whole = group.total;
    QString summary = text("exposed %1").arg(formatDuration(whole.exposed_ns()));
    if (whole.communication_ns > 0)
        summary += text(" · %1 % of communication hidden")
                       .arg(QString::number(100 * whole.overlapped_ns / whole.communication_ns, 'f', 0));
    painter_.setFont(small_);
    painter_.setPen(colors_.secondary);
    painter_.drawText(rect.adjusted(view_.label_width + grid, 0, 0, 0), Qt::AlignVCenter,
                      whole.communication_ns > 0 ? summary : text("no communication"));
}

void TrackPainter::paintLane(const TimelineIndex& index, const Band& band)
{
    const auto& rows = index.rowsOf(band.lane).rows;
    painter_.setFont(small_);
    const QFontMetrics metrics(small_);
    for (std::size_t level = 0; level < rows.size(); ++level) {
        const int y = view_.yOf(band) + static_cast<int>(level) * TimelineLayout::level_height;
        const int height = TimelineLayout::level_height - 2;
        for (const PaintedRun& run : cache_.runs(rows[level], view_.range, view_.tracksWidth())) {
            const auto activity = static_cast<Activity>(run.kind);
            const int x = view_.label_width + run.x;
            // A hairline between neighbours, once they are wide enough to lose a pixel.
            const int width = run.merged || run.width < narrowest_pattern ? run.width : run.width - 1;
            if (run.width < narrowest_pattern)
                painter_.fillRect(x, y, width, height, brushes_.color(activity));
            else
                painter_.fillRect(x, y, width, height, brushes_.brush(activity));
            if (run.merged || run.width < narrowest_text)
                continue;
            const std::string_view name = index.name({band.lane, rows[level][run.span].item});
            const QString label = metrics.elidedText(
                QString::fromUtf8(name.data(), static_cast<qsizetype>(std::min<std::size_t>(name.size(), 256))),
                Qt::ElideRight, width - 8);
            if (label.size() < 3 && label.size() < static_cast<qsizetype>(name.size()))
                continue;
            const QRect box(x + 4, y, width - 8, height);
            if (activity != Activity::compute)  // plain ground below the letters: the pattern would cut them
                painter_.fillRect(QRect(x + 2, y + 2, metrics.horizontalAdvance(label) + 4, height - 4),
                                  brushes_.color(activity));
            painter_.setPen(brushes_.textOn(activity));
            painter_.drawText(box, Qt::AlignVCenter, label);
        }
    }
}

void TrackPainter::paintLabel(const TimelineIndex& index, const Band& band)
{
    const bool is_lane = band.kind == Band::Kind::lane;
    const QRect rect(0, view_.yOf(band), view_.label_width - 1, band.height);
    painter_.fillRect(rect, colors_.background);
    painter_.setFont(small_);
    painter_.setPen(is_lane ? colors_.text : colors_.secondary);
    const QRect box = rect.adjusted(22, is_lane ? 0 : -3, -grid, is_lane ? 0 : 3);
    const QString name = is_lane ? QString::fromStdString(index.timeline().lanes[band.lane].name) : text("overlap");
    painter_.drawText(box, is_lane ? Qt::AlignTop : Qt::AlignVCenter,
                      QFontMetrics(small_).elidedText(name, Qt::ElideRight, box.width()));
}

void TrackPainter::paintOverlap(const TimelineIndex& index, const Band& band)
{
    const int y = view_.yOf(band);
    const int half = band.height / 2;
    for (const PaintedRun& run : cache_.runs(index.ranks()[band.group].overlap, view_.range, view_.tracksWidth())) {
        const int x = view_.label_width + run.x;
        switch (static_cast<OverlapKind>(run.kind)) {
            case OverlapKind::compute_only:
                painter_.fillRect(x, y, run.width, half, brushes_.color(Activity::compute));
                break;
            case OverlapKind::hidden:
                painter_.fillRect(x, y, run.width, half, brushes_.color(Activity::compute));
                painter_.fillRect(x, y + half, run.width, band.height - half, brushes_.color(Activity::communication));
                break;
            case OverlapKind::exposed:
                painter_.fillRect(x, y, run.width, band.height, brushes_.color(Activity::communication));
                painter_.fillRect(x, y, run.width, 2, colors_.failed);
                break;
        }
    }
}

void TrackPainter::paintBound(double bound_ns)
{
    const double x = view_.xOf(bound_ns);
    if (x < view_.label_width || x > view_.size.width())
        return;
    QPen pen(colors_.reference, 2, Qt::DashLine);
    painter_.setPen(pen);
    painter_.drawLine(QPointF(x, view_.ruler_height), QPointF(x, view_.size.height()));
    const QString label = text("bound %1").arg(formatDuration(bound_ns));
    painter_.setFont(small_);
    const int width = QFontMetrics(small_).horizontalAdvance(label) + grid;
    const int left = x + width < view_.size.width() ? static_cast<int>(x) + 2 : static_cast<int>(x) - width - 2;
    const QRect box(left, view_.size.height() - 18, width, 16);
    painter_.fillRect(box, colors_.background);
    painter_.setPen(colors_.readable(colors_.reference));
    painter_.drawText(box, Qt::AlignCenter, label);
}

}  // namespace cuco::ui
