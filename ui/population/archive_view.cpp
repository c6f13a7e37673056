// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/population/archive_view.h"

#include "ui/style/theme.h"

#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QPainter>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <chrono>

namespace cuco::ui {

namespace {

constexpr std::chrono::milliseconds refresh_delay{100};
constexpr double faintest = 0.12, strongest = 0.6;  ///< share of the hue in a cell's ground

QColor blend(const QColor& ground, const QColor& hue, double share)
{
    const auto mix = [share](int from, int to) { return static_cast<int>(from + (to - from) * share); };
    return {mix(ground.red(), hue.red()), mix(ground.green(), hue.green()), mix(ground.blue(), hue.blue())};
}

/// The faster, the stronger the ground; what the design space forbids has the window's.
class CellDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Colors colors = colorsFor(option.palette);
        const bool allowed = index.data(ArchiveModel::allowed_role).toBool();
        const bool filled = !index.data(ArchiveModel::id_role).toString().isEmpty();
        const double share = index.data(ArchiveModel::fitness_share_role).toDouble();
        QColor ground = allowed ? colors.background : colors.surface;
        if (filled) {
            ground = blend(ground, colors.compute, faintest + (strongest - faintest) * share);
        }
        const QRectF cell = QRectF(option.rect).adjusted(1, 1, -1, -1);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(option.state & QStyle::State_Selected ? QPen(colors.selected, 2)
                                                              : QPen(allowed ? colors.border : ground, 1));
        painter->setBrush(ground);
        painter->drawRoundedRect(cell, grid / 4.0, grid / 4.0);
        painter->setPen(colors.text);
        painter->setFont(monoFont(-1));
        painter->drawText(cell, Qt::AlignCenter, index.data().toString());
        painter->restore();
    }
};

}  // namespace

ArchiveView::ArchiveView(RunSession* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new ArchiveModel(session, this)),
      coverage_(new QLabel(this)),
      view_(new QTableView(this))
{
    coverage_->setObjectName(QStringLiteral("archiveCoverage"));
    coverage_->setTextFormat(Qt::PlainText);
    coverage_->setWordWrap(true);
    coverage_->setMargin(grid);
    view_->setObjectName(QStringLiteral("archiveMap"));
    view_->setAccessibleName(tr("Archive: a map of the design space"));
    view_->setModel(model_);
    view_->setItemDelegate(new CellDelegate(view_));
    view_->setSelectionMode(QAbstractItemView::SingleSelection);
    view_->setShowGrid(false);
    view_->setTabKeyNavigation(false);
    view_->setFrameShape(QFrame::NoFrame);
    view_->verticalHeader()->setDefaultSectionSize(5 * grid);
    view_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    view_->horizontalHeader()->setDefaultSectionSize(11 * grid);
    view_->horizontalHeader()->setHighlightSections(true);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(coverage_);
    layout->addWidget(view_, 1);

    refresh_timer_.setSingleShot(true);
    refresh_timer_.setInterval(refresh_delay);
    connect(&refresh_timer_, &QTimer::timeout, this, &ArchiveView::refresh);
    const auto soon = [this] {
        if (!refresh_timer_.isActive()) {
            refresh_timer_.start();
        }
    };
    connect(session_, &RunSession::runReset, this, &ArchiveView::refresh);
    connect(session_, &RunSession::candidateChanged, this, soon);
    connect(session_, &RunSession::decisionsChanged, this, soon);
    connect(session_, &RunSession::selectionChanged, this, &ArchiveView::showSelection);
    connect(view_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
        const QString id = current.data(ArchiveModel::id_role).toString();
        if (!id.isEmpty()) {
            session_->select(id);
        }
    });
    refresh();
}

void ArchiveView::refresh()
{
    {
        const QSignalBlocker blocker(view_->selectionModel());
        model_->refresh();
    }
    const ArchiveCoverage coverage = model_->coverage();
    if (!model_->problem().isEmpty()) {
        coverage_->setText(model_->problem());
    } else if (session_->snapshot().candidates.empty()) {
        coverage_->setText(
            tr("No candidate has verified yet. Each cell will show the fastest of its kind of directive."));
    } else if (session_->isImported()) {
        coverage_->setText(
            tr("The programs of an imported run declare no directive, so none of them has a place on this "
               "map of the design space."));
    } else {
        const QString note = session_->timesNote();
        coverage_->setText(tr("Verified candidates in %1 of %2 kinds of directive (chunks in %3 sizes share a cell). "
                              "Speed-ups are lower "
                              "bounds of the 95 % interval%4.")
                               .arg(coverage.filled)
                               .arg(coverage.valid)
                               .arg(chunk_sizes)
                               .arg(note.isEmpty() ? QString() : QStringLiteral(", ") + note));
    }
    showSelection();
}

/// Where the selected candidate's directive is, also when another is the fittest there.
void ArchiveView::showSelection()
{
    const QSignalBlocker blocker(view_->selectionModel());
    const QModelIndex index = model_->indexOf(session_->primary());
    if (index.isValid()) {
        view_->setCurrentIndex(index);
    } else {
        view_->clearSelection();
        view_->setCurrentIndex({});
    }
    view_->viewport()->update();
}

}  // namespace cuco::ui
