// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline/timeline_pane.h"

#include "core/trace/overlap_report.h"
#include "ui/style/theme.h"
#include "ui/views/timeline/interval_text.h"
#include "ui/views/timeline/timeline_canvas.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedLayout>
#include <QVBoxLayout>

namespace cuco::ui {

TimelinePane::TimelinePane(QWidget* parent)
    : QWidget(parent),
      name_(new QLabel(this)),
      badge_(new QLabel(this)),
      summary_(new QLabel(this)),
      message_(new QLabel(this)),
      content_(new QStackedLayout),
      canvas_(new TimelineCanvas(this))
{
    for (QLabel* label : {name_, badge_, summary_, message_})
        label->setTextFormat(Qt::PlainText);
    summary_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    message_->setAlignment(Qt::AlignCenter);
    message_->setWordWrap(true);
    message_->setMargin(4 * grid);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* heading = new QHBoxLayout;
    heading->setContentsMargins(grid, grid / 2, grid, grid / 2);
    heading->setSpacing(grid);
    heading->addWidget(name_);
    heading->addWidget(badge_);
    heading->addWidget(summary_, 1);
    content_->addWidget(message_);
    content_->addWidget(canvas_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(heading);
    layout->addLayout(content_, 1);
    styleHeading();
}

void TimelinePane::styleHeading()
{
    const Colors colors = colorsFor(palette());
    name_->setFont(textFont(0, QFont::DemiBold));
    badge_->setFont(textFont(-1));
    badge_->setStyleSheet(
        QStringLiteral("QLabel { color: %1; border: 1px solid %1; border-radius: 4px; padding: 1px 6px; }")
            .arg(colors.readable(colors.reference).name()));
}

void TimelinePane::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        styleHeading();
}

void TimelinePane::showTimeline(const QString& name, std::shared_ptr<const Timeline> timeline,
                                std::optional<double> bound_us)
{
    const OverlapReport report = overlapOf(*timeline, bound_us);
    name_->setText(name);
    badge_->setText(sourceBadge(timeline->source));
    badge_->setVisible(true);
    QString summary = overlapSummary(report);
    if (timeline->dropped > 0)
        summary += QStringLiteral(" · ") + tr("%1 records were lost").arg(timeline->dropped);
    if (timeline->axis_error_us)
        summary += QStringLiteral(" · ") + tr("axes within %1 µs").arg(*timeline->axis_error_us, 0, 'f', 2);
    if (timeline->untraced_us && timeline->traced_us && *timeline->untraced_us > 0)
        summary += QStringLiteral(" · ") +
                   tr("tracing cost %1 %").arg(100 * (*timeline->traced_us / *timeline->untraced_us - 1), 0, 'f', 1);
    if (!timeline->title.empty())
        summary += QStringLiteral("   ") + QString::fromStdString(timeline->title);
    summary_->setText(summary);
    summary_->setToolTip(summary);
    message_->clear();
    canvas_->setTimeline(std::move(timeline));
    canvas_->setBound(bound_us ? std::optional(*bound_us * 1000) : std::nullopt);
    content_->setCurrentWidget(canvas_);
}

void TimelinePane::showMessage(const QString& name, const QString& sentence)
{
    name_->setText(name);
    badge_->setVisible(false);
    summary_->clear();
    summary_->setToolTip({});
    message_->setText(sentence);
    canvas_->setTimeline(nullptr);
    content_->setCurrentWidget(message_);
}

bool TimelinePane::hasTimeline() const
{
    return content_->currentWidget() == canvas_;
}

QString TimelinePane::headingText() const
{
    return name_->text() + QLatin1Char(' ') + (hasTimeline() ? badge_->text() + QLatin1Char(' ') : QString()) +
           summary_->text();
}

QString TimelinePane::message() const
{
    return message_->text();
}

}  // namespace cuco::ui
