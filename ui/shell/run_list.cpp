// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_list.h"

#include "ui/style/theme.h"

#include <QPainter>
#include <QStyledItemDelegate>

namespace cuco::ui {

namespace {

constexpr int light_radius = 4;

/// Two lines with a light before them and, for a run that goes on, a bar below.
class RunListDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override
    {
        const bool is_heading = index.data(RunListModel::kind_role).toInt() == RunListModel::heading;
        return {20 * grid, is_heading ? 4 * grid : 6 * grid};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const Colors colors = colorsFor(option.palette);
        const QRect area = option.rect.adjusted(grid, 0, -grid, 0);
        if (index.data(RunListModel::kind_role).toInt() == RunListModel::heading) {
            painter->setFont(textFont(-1, QFont::DemiBold));
            painter->setPen(colors.secondary);
            painter->drawText(area, Qt::AlignBottom | Qt::AlignLeft, index.data().toString());
            painter->restore();
            return;
        }
        if (option.state.testFlag(QStyle::State_Selected)) {
            painter->fillRect(option.rect, option.palette.highlight());
        }
        if (option.state.testFlag(QStyle::State_HasFocus)) {
            painter->setPen(colors.readable(colors.selected));
            painter->drawRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5));
        }
        paintLight(*painter, colors, index, QPointF(area.left() + light_radius, area.top() + 2 * grid));
        const QRect text = area.adjusted(2 * grid, grid / 2, 0, -grid / 2);
        paintLines(*painter, colors, index, text);
        painter->restore();
    }

private:
    static void paintLight(QPainter& painter, const Colors& colors, const QModelIndex& index, const QPointF& at)
    {
        QColor color = colors.wait;
        switch (static_cast<RunListModel::Light>(index.data(RunListModel::light_role).toInt())) {
            case RunListModel::Light::working:
                color = colors.selected;
                break;
            case RunListModel::Light::good:
                color = colors.copy;
                break;
            case RunListModel::Light::bad:
                color = colors.failed;
                break;
            case RunListModel::Light::off:
                painter.setPen(QPen(color, 1.5));
                painter.setBrush(Qt::NoBrush);
                painter.drawEllipse(at, light_radius - 1, light_radius - 1);
                return;
        }
        painter.setPen(Qt::NoPen);
        painter.setBrush(color);
        painter.drawEllipse(at, light_radius, light_radius);
    }

    static void paintLines(QPainter& painter, const Colors& colors, const QModelIndex& index, const QRect& text)
    {
        const QRect first(text.left(), text.top(), text.width(), text.height() / 2);
        const QRect second(text.left(), first.bottom() + 1, text.width(), text.height() - first.height());
        painter.setFont(textFont());
        painter.setPen(colors.text);
        painter.drawText(first, Qt::AlignVCenter | Qt::AlignLeft,
                         painter.fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, first.width()));
        painter.setFont(textFont(-1));
        painter.setPen(colors.secondary);
        painter.drawText(second, Qt::AlignVCenter | Qt::AlignLeft,
                         painter.fontMetrics().elidedText(index.data(RunListModel::detail_role).toString(),
                                                          Qt::ElideRight, second.width()));
        if (const double progress = index.data(RunListModel::progress_role).toDouble(); progress >= 0) {
            const QRectF bar(text.left(), text.bottom() + 1, text.width(), 2);
            painter.fillRect(bar, colors.border);
            painter.fillRect(QRectF(bar.topLeft(), QSizeF(bar.width() * progress, bar.height())), colors.selected);
        }
    }
};

}  // namespace

RunList::RunList(RunListModel* model, QWidget* parent) : QListView(parent), model_(model)
{
    setModel(model);
    setItemDelegate(new RunListDelegate(this));
    setObjectName(QStringLiteral("runList"));
    setAccessibleName(tr("Runs and nodes"));
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMinimumWidth(18 * grid);
    connect(this, &QListView::clicked, this, &RunList::choose);
    connect(this, &QListView::activated, this, &RunList::choose);
}

QSize RunList::sizeHint() const
{
    return {26 * grid, 60 * grid};
}

void RunList::setCurrentRun(const RunModel* run)
{
    const int row = model_->rowOf(run);
    if (row >= 0) {
        setCurrentIndex(model_->index(row));
    } else {
        selectionModel()->clear();
    }
}

void RunList::choose(const QModelIndex& index)
{
    if (RunModel* run = model_->runAt(index.row())) {
        Q_EMIT runChosen(run);
    } else if (const QString path = index.data(RunListModel::path_role).toString(); !path.isEmpty()) {
        Q_EMIT fileChosen(path);
    }
}

}  // namespace cuco::ui
