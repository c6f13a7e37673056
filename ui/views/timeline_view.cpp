// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline_view.h"

#include "ui/engine/run_session.h"
#include "ui/style/theme.h"
#include "ui/views/missing_text.h"
#include "ui/views/timeline/interval_text.h"
#include "ui/views/timeline/timeline_canvas.h"
#include "ui/views/timeline/timeline_pane.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace cuco::ui {

TimelineView::TimelineView(RunSession* session, QWidget* parent) : QWidget(parent), session_(session)
{
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setChildrenCollapsible(false);
    for (auto& pane : panes_) {
        pane = new TimelinePane(splitter);
        splitter->addWidget(pane);
    }
    panes_[1]->hide();

    details_ = new QLabel;
    details_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    details_->setFont(monoFont(-1));
    details_->setContentsMargins(grid, grid / 2, grid, grid / 2);
    details_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    details_area_ = new QScrollArea(this);
    details_area_->setFrameShape(QFrame::NoFrame);
    details_area_->setWidget(details_);
    details_area_->setWidgetResizable(true);
    details_area_->setFocusPolicy(Qt::NoFocus);
    buildSearch();
    auto* bottom = new QHBoxLayout;
    bottom->setContentsMargins(0, 0, grid, 0);
    bottom->setSpacing(grid / 2);
    bottom->addWidget(details_area_, 1);
    addButton(bottom, tr("Fit"), tr("Show all (F)"), [this] { activeCanvas()->fit(); });
    addButton(bottom, tr("Find"), tr("Find intervals by name (/)"), [this] { openSearch(); });
    addButton(bottom, tr("Keys"), tr("Keys and colours (?)"), [this] { toggleHelp(); });

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(splitter, 1);
    layout->addWidget(search_bar_);
    layout->addLayout(bottom);
    buildHelp();

    connectCanvas(0);
    connectCanvas(1);
    setFocusProxy(panes_[0]->canvas());

    const auto stale = [this] {
        stale_ = true;
        if (isVisible())
            refresh();
    };
    connect(session_, &RunSession::runReset, this, stale);
    connect(session_, &RunSession::selectionChanged, this, stale);
    connect(session_, &RunSession::candidateChanged, this, [this, stale](const QString& id) {
        const bool shown = id == session_->primary() || id == session_->secondary();
        // A decision changes a candidate, too; it must not throw away what is zoomed and selected.
        if (shown && !(id == session_->primary() ? panes_[0] : panes_[1])->hasTimeline())
            stale();
    });
    updateDetails();
}

void TimelineView::addButton(QBoxLayout* row, const QString& text, const QString& tip, std::function<void()> action)
{
    auto* button = new QToolButton(this);
    button->setText(text);
    button->setToolTip(tip);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::NoFocus);
    connect(button, &QToolButton::clicked, this, std::move(action));
    row->addWidget(button, 0, Qt::AlignTop);
}

void TimelineView::buildSearch()
{
    search_bar_ = new QWidget(this);
    search_ = new QLineEdit(search_bar_);
    search_->setPlaceholderText(tr("Find intervals by name"));
    search_->setClearButtonEnabled(true);
    search_->setMaxLength(256);
    search_->installEventFilter(this);
    search_count_ = new QLabel(search_bar_);
    auto* layout = new QHBoxLayout(search_bar_);
    layout->setContentsMargins(grid, grid / 2, grid, grid / 2);
    layout->addWidget(search_, 1);
    layout->addWidget(search_count_);
    const std::array<std::pair<QString, int>, 2> buttons{{{tr("Previous"), -1}, {tr("Next"), +1}}};
    for (const auto& [title, direction] : buttons) {
        addButton(layout, title, direction < 0 ? tr("Shift + Enter") : tr("Enter"),
                  [this, direction = direction] { nextMatch(direction); });
    }
    search_bar_->hide();
    connect(search_, &QLineEdit::textChanged, this, &TimelineView::searchChanged);
}

void TimelineView::buildHelp()
{
    const std::array<std::pair<QString, QString>, 14> keys{{
        {tr("W / S"), tr("zoom in, zoom out")},
        {tr("A / D"), tr("earlier, later")},
        {tr("Ctrl + wheel"), tr("zoom at the cursor")},
        {tr("Shift + wheel"), tr("earlier, later")},
        {tr("wheel"), tr("scroll the lanes")},
        {tr("F"), tr("show all; with Shift: the selected range")},
        {tr("drag"), tr("select a range and see its statistics")},
        {tr("middle drag"), tr("move the picture")},
        {tr("M"), tr("mark the range or the interval; again: remove the mark")},
        {tr("click / double click"), tr("select, zoom to an interval")},
        {tr(". / ,"), tr("next, previous interval of the lane")},
        {tr("/"), tr("find by name; Enter: next match")},
        {tr("Esc"), tr("clear what is selected, then the marks")},
        {tr("?"), tr("this help")},
    }};
    QString rows;
    for (const auto& [key, meaning] : keys)
        rows += QStringLiteral("<tr><td style='padding-right:16px'><b>%1</b></td><td>%2</td></tr>")
                    .arg(key.toHtmlEscaped(), meaning.toHtmlEscaped());
    QString legend;
    const Colors colors;
    for (const Activity activity :
         {Activity::compute, Activity::communication, Activity::copy, Activity::wait, Activity::host})
        legend += QStringLiteral("<span style='background:%1'>&nbsp;&nbsp;&nbsp;&nbsp;</span> %2 &nbsp; ")
                      .arg(colors.of(activity).name(), activityName(activity).toHtmlEscaped());
    help_ = new QFrame(this);
    help_->setFrameShape(QFrame::StyledPanel);
    help_->setAutoFillBackground(true);
    auto* label = new QLabel(QStringLiteral("<p>%1</p><table cellspacing='3'>%2</table>").arg(legend, rows), help_);
    auto* layout = new QVBoxLayout(help_);
    layout->addWidget(label);
    help_->hide();
    help_->installEventFilter(this);
}

void TimelineView::connectCanvas(int index)
{
    TimelineCanvas* canvas = panes_[static_cast<std::size_t>(index)]->canvas();
    TimelineCanvas* other = panes_[static_cast<std::size_t>(1 - index)]->canvas();
    canvas->installEventFilter(this);
    connect(canvas, &TimelineCanvas::rangeChanged, other, [this, other](TimeRange range) {
        if (panes_[1]->isVisibleTo(this) && other->index())
            other->setRange(range);
    });
    connect(canvas, &TimelineCanvas::selectedRangeChanged, other, [this, canvas, other] {
        if (panes_[1]->isVisibleTo(this) && other->index() && canvas->index())
            other->setSelectedRange(canvas->selectedRange());
        updateDetails();
    });
    connect(canvas, &TimelineCanvas::selectedChanged, this, &TimelineView::updateDetails);
    connect(canvas, &TimelineCanvas::searchRequested, this, &TimelineView::openSearch);
    connect(canvas, &TimelineCanvas::helpRequested, this, &TimelineView::toggleHelp);
    connect(canvas, &TimelineCanvas::cleared, help_, &QWidget::hide);
}

TimelineCanvas* TimelineView::activeCanvas() const
{
    return panes_[static_cast<std::size_t>(active_)]->canvas();
}

void TimelineView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (stale_)
        refresh();
}

void TimelineView::refresh()
{
    stale_ = false;
    active_ = 0;
    const QString primary = session_->primary(), secondary = session_->secondary();
    panes_[1]->setVisible(!secondary.isEmpty());
    load(panes_[0], primary);
    if (secondary.isEmpty())
        panes_[1]->showMessage({}, {});
    else
        load(panes_[1], secondary);
    shareAxis();
    searchChanged(search_->text());
    updateDetails();
}

void TimelineView::load(TimelinePane* pane, const QString& id)
{
    if (id.isEmpty()) {
        pane->showMessage({}, session_->run() ? tr("Select a candidate to see its timeline.")
                                              : tr("Open a run, or start one, to see its timelines."));
        return;
    }
    auto timeline = session_->timeline(id);
    if (!timeline) {
        pane->showMessage(
            session_->title(id),
            errorText(tr("The timeline of %1 cannot be read").arg(session_->title(id)), timeline.error()));
        return;
    }
    if (!*timeline) {
        pane->showMessage(session_->title(id), missingTimelineText(*session_, id));
        return;
    }
    const Evaluation* evaluation = session_->evaluation(id);
    const auto bound = evaluation && evaluation->overlap ? evaluation->overlap->bound_us : std::nullopt;
    pane->showTimeline(session_->title(id), std::make_shared<const Timeline>(std::move(**timeline)), bound);
}

void TimelineView::shareAxis()
{
    if (session_->secondary().isEmpty() || !panes_[0]->hasTimeline() || !panes_[1]->hasTimeline())
        return;
    const auto extentOf = [&](std::size_t pane) { return panes_[pane]->canvas()->index()->extent(); };
    const TimeRange shared{0, std::max(extentOf(0).end_ns, extentOf(1).end_ns)};
    const int label_width = std::max(panes_[0]->canvas()->labelWidth(), panes_[1]->canvas()->labelWidth());
    for (TimelinePane* pane : panes_) {
        pane->canvas()->setLabelWidth(label_width);
        pane->canvas()->setExtent(shared);
    }
    for (TimelinePane* pane : panes_)
        pane->canvas()->fit();
}

void TimelineView::openSearch()
{
    search_bar_->show();
    search_->setFocus();
    search_->selectAll();
}

void TimelineView::closeSearch()
{
    search_bar_->hide();
    activeCanvas()->setFocus();
}

void TimelineView::searchChanged(const QString& text)
{
    match_ = -1;
    matches_.clear();
    if (const TimelineIndex* index = activeCanvas()->index(); index && !text.isEmpty())
        matches_ = index->search(text.toStdString());
    search_count_->setText(text.isEmpty()         ? QString()
                           : matches_.size() == 1 ? tr("1 match")
                                                  : tr("%1 matches").arg(matches_.size()));
}

void TimelineView::nextMatch(int direction)
{
    if (matches_.empty())
        return;
    const auto count = static_cast<std::ptrdiff_t>(matches_.size());
    match_ = match_ < 0 ? (direction > 0 ? 0 : count - 1) : (match_ + direction + count) % count;
    activeCanvas()->select(matches_[static_cast<std::size_t>(match_)]);
    search_count_->setText(tr("%1 of %2").arg(match_ + 1).arg(count));
}

void TimelineView::toggleHelp()
{
    help_->setVisible(!help_->isVisible());
    if (help_->isVisible()) {
        help_->adjustSize();
        help_->move((width() - help_->width()) / 2, std::max((height() - help_->height()) / 2, 0));
        help_->raise();
    }
}

void TimelineView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    help_->move((width() - help_->width()) / 2, std::max((height() - help_->height()) / 2, 0));
}

bool TimelineView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == help_ && event->type() == QEvent::MouseButtonPress) {
        help_->hide();
        return true;
    }
    if (event->type() == QEvent::FocusIn) {
        for (int index = 0; index < 2; ++index) {
            if (watched == panes_[static_cast<std::size_t>(index)]->canvas() && active_ != index) {
                active_ = index;
                searchChanged(search_->text());
                updateDetails();
            }
        }
    }
    if (event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->key() == Qt::Key_Escape && help_->isVisible()) {
            help_->hide();
            return true;
        }
        if (watched == search_ && key->key() == Qt::Key_Escape) {
            closeSearch();
            return true;
        }
        if (watched == search_ && (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter)) {
            nextMatch(key->modifiers() & Qt::ShiftModifier ? -1 : +1);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void TimelineView::updateDetails()
{
    QString text;
    const TimelineCanvas* canvas = activeCanvas();
    if (canvas->index() && canvas->selectedRange()) {
        QString cells;
        for (const TimelinePane* pane : panes_) {
            if (pane->isVisibleTo(this) && pane->hasTimeline() && pane->canvas()->selectedRange())
                cells += QStringLiteral("<td style='padding-right:32px'>%1</td>")
                             .arg(rangeTable(*pane->canvas()->index(), *pane->canvas()->selectedRange()));
        }
        text = QStringLiteral("<table><tr>%1</tr></table>").arg(cells);
    } else if (canvas->index() && canvas->selected()) {
        text = intervalDetails(*canvas->index(), *canvas->selected()).toHtmlEscaped();
    } else if (canvas->index()) {
        text = tr("Click an interval, or drag over a range.");
    }
    details_->setText(text);
    details_area_->setFixedHeight(std::min(details_->sizeHint().height() + 2, 20 * grid));
}

}  // namespace cuco::ui
