// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diff/hunk_overview.h"

#include "ui/style/theme.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace cuco::ui {

HunkOverview::HunkOverview(QWidget* parent) : QWidget(parent)
{
    setFixedWidth(2 * grid);
    setToolTip(tr("The changes over the whole file; click to go there"));
}

void HunkOverview::setMarks(std::vector<Mark> marks, int lines)
{
    marks_ = std::move(marks);
    lines_ = lines;
    update();
}

void HunkOverview::setSight(int first_line, int last_line)
{
    first_in_sight_ = first_line;
    last_in_sight_ = last_line;
    update();
}

int HunkOverview::yOf(int line) const
{
    return static_cast<int>(static_cast<std::int64_t>(line) * height() / std::max(lines_, 1));
}

void HunkOverview::paintEvent(QPaintEvent*)
{
    const Colors colors = colorsFor(palette());
    QPainter painter(this);
    painter.fillRect(rect(), colors.surface);
    for (const Mark& mark : marks_) {
        const int top = yOf(mark.first);
        const int bottom = std::max(yOf(mark.last + 1), top + 3);
        const bool removed = mark.kind != DiffRowKind::added, added = mark.kind != DiffRowKind::removed;
        const int half = width() / 2;
        if (removed)
            painter.fillRect(2, top, half - 2, bottom - top, colors.failed);
        if (added)
            painter.fillRect(half, top, half - 2, bottom - top, colors.copy);
    }
    if (lines_ > 0) {
        painter.setPen(colors.secondary);
        painter.drawRect(0, yOf(first_in_sight_), width() - 1,
                         std::max(yOf(last_in_sight_ + 1) - yOf(first_in_sight_) - 1, 4));
    }
}

void HunkOverview::mousePressEvent(QMouseEvent* event)
{
    if (lines_ > 0 && height() > 0)
        Q_EMIT lineClicked(std::clamp(event->pos().y() * lines_ / height(), 0, lines_ - 1));
}

void HunkOverview::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() & Qt::LeftButton)
        mousePressEvent(event);
}

}  // namespace cuco::ui
