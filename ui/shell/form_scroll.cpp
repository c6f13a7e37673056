// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/form_scroll.h"

#include "ui/style/theme.h"

#include <QEvent>
#include <QScrollBar>

#include <algorithm>

namespace cuco::ui {

namespace {

constexpr int least_height = 20 * grid;

}  // namespace

FormScroll::FormScroll(QWidget* form, QWidget* parent) : QScrollArea(parent)
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    // The colour behind a form is that of its window.
    viewport()->setAutoFillBackground(false);
    setWidget(form);
    form->setAutoFillBackground(false);
}

QSize FormScroll::sizeHint() const
{
    // As high as the form is at that width: where it is narrower than it would like to be, its texts wrap more often.
    const int width = minimumSizeHint().width(), inner = width - verticalScrollBar()->sizeHint().width();
    const int height = widget()->hasHeightForWidth() ? widget()->heightForWidth(inner) : 0;
    return {width, std::max(height, widget()->sizeHint().height())};
}

QSize FormScroll::minimumSizeHint() const
{
    const int width = std::max(widget()->minimumSizeHint().width(), widget()->sizeHint().width());
    return {width + verticalScrollBar()->sizeHint().width(), std::min(least_height, widget()->sizeHint().height())};
}

bool FormScroll::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == widget() && event->type() == QEvent::LayoutRequest) {
        updateGeometry();
    }
    return QScrollArea::eventFilter(watched, event);
}

}  // namespace cuco::ui
