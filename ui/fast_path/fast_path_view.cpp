// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/fast_path/fast_path_view.h"

#include "ui/population/candidate_format.h"
#include "ui/style/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <chrono>
#include <utility>

namespace cuco::ui {

namespace {

enum Column { attempt_column, verdict_column, judge_column, time_column, said_column, column_count };

constexpr int id_role = Qt::UserRole;
constexpr int width_for_said = 640;  // narrower, it stands only below
constexpr auto refresh_pause = std::chrono::milliseconds(50);

QString titleOf(FastPathStage stage)
{
    switch (stage) {
        case FastPathStage::infrastructure:
            return FastPathView::tr("Stage A, infrastructure");
        case FastPathStage::replacement:
            return FastPathView::tr("Stage B, replacement");
        case FastPathStage::annotation:
            break;
    }
    return FastPathView::tr("Annotation");
}

/// Answers and compilers' lines are untrusted and long: one line of them in a table.
QString oneLine(const std::string& text)
{
    constexpr std::size_t most = 300;
    return QString::fromStdString(text.substr(0, most)).simplified();
}

QString judgeText(const Judgement* judgement)
{
    if (!judgement) {
        return {};
    }
    if (!judgement->answered) {
        return FastPathView::tr("is asked");
    }
    return !judgement->answer          ? FastPathView::tr("not readable")
           : judgement->answer->accept ? FastPathView::tr("accepts")
                                       : FastPathView::tr("sends back");
}

QColor verdictColor(const Candidate& candidate, const Colors& colors)
{
    switch (standingOf(candidate)) {
        case Standing::verified:
            return colors.readable(colors.copy);
        case Standing::failed:
            return colors.readable(colors.failed);
        case Standing::in_flight:
            break;
    }
    return colors.secondary;
}

}  // namespace

FastPathView::FastPathView(RunSession* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      heading_(new QLabel(this)),
      tree_(new QTreeWidget(this)),
      detail_(new QPlainTextEdit(this)),
      difference_(new QPushButton(tr("Show the &difference"), this)),
      continue_(new QPushButton(tr("Continue from &here"), this))
{
    heading_->setTextFormat(Qt::PlainText);
    heading_->setWordWrap(true);
    heading_->setMargin(grid);
    heading_->setObjectName(QStringLiteral("fastPathHeading"));
    tree_->setObjectName(QStringLiteral("attempts"));
    tree_->setAccessibleName(tr("Stages and attempts"));
    tree_->setColumnCount(column_count);
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->setRootIsDecorated(false);
    tree_->setItemsExpandable(false);
    tree_->setUniformRowHeights(true);
    tree_->setExpandsOnDoubleClick(false);
    tree_->header()->setStretchLastSection(true);
    tree_->headerItem()->setTextAlignment(time_column, Qt::AlignRight | Qt::AlignVCenter);
    const int widths[] = {168, 128, 88, 104};
    for (int column = 0; column < said_column; ++column) {
        tree_->setColumnWidth(column, widths[column]);
    }
    tree_->installEventFilter(this);
    detail_->setObjectName(QStringLiteral("attemptDetail"));
    detail_->setAccessibleName(tr("What was said of the attempt"));
    detail_->setReadOnly(true);
    detail_->setTabChangesFocus(true);
    detail_->setFrameShape(QFrame::NoFrame);
    difference_->setObjectName(QStringLiteral("showDifference"));
    difference_->setToolTip(tr("What changed against the attempt before, in the Diff tab"));
    continue_->setObjectName(QStringLiteral("continueFrom"));

    auto* bar = new QHBoxLayout;
    bar->setContentsMargins(grid, 0, grid, grid);
    bar->setSpacing(grid);
    bar->addWidget(difference_);
    bar->addWidget(continue_);
    bar->addStretch(1);
    auto* rows = new QSplitter(Qt::Vertical, this);
    rows->setChildrenCollapsible(false);
    rows->setHandleWidth(1);
    rows->addWidget(tree_);
    rows->addWidget(detail_);
    rows->setStretchFactor(0, 3);
    rows->setStretchFactor(1, 2);
    rows->setSizes({320, 200});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(heading_);
    layout->addLayout(bar);
    layout->addWidget(rows, 1);
    setFocusProxy(tree_);
    QWidget::setTabOrder(difference_, continue_);
    QWidget::setTabOrder(continue_, tree_);
    QWidget::setTabOrder(tree_, detail_);

    connect(tree_, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem* current) {
        const QString id = current ? current->data(attempt_column, id_role).toString() : QString();
        if (!syncing_ && !id.isEmpty()) {
            session_->select(id);
        }
    });
    connect(tree_, &QTreeWidget::itemDoubleClicked, this, [this](const QTreeWidgetItem* item) {
        if (const QString id = item->data(attempt_column, id_role).toString(); !id.isEmpty()) {
            session_->openSource(id);
        }
    });
    connect(difference_, &QPushButton::clicked, this, [this] { session_->openSource(session_->primary()); });
    connect(continue_, &QPushButton::clicked, this, [this] {
        Q_EMIT continueRequested(session_->primary());
        showButtons();  // the engine is being opened
    });
    connectSession();
    refresh();
}

void FastPathView::connectSession()
{
    refresh_timer_.setSingleShot(true);
    refresh_timer_.setInterval(refresh_pause);
    connect(&refresh_timer_, &QTimer::timeout, this, &FastPathView::refresh);
    const auto later = [this] {
        if (session_->snapshot().config.proposer == "fastpath") {
            refresh_timer_.start();
        }
    };
    const auto later_with_judgements = [this, later] {
        judgements_stale_ = true;
        later();
    };
    connect(session_, &RunSession::runReset, this, [this] {
        judgements_.clear();
        judgements_stale_ = true;
        refresh();
    });
    connect(session_, &RunSession::stepsAdded, this, later_with_judgements);
    connect(session_, &RunSession::llmCallEnded, this, later_with_judgements);
    connect(session_, &RunSession::llmCallStarted, this, later);
    connect(session_, &RunSession::candidateChanged, this, later);
    connect(session_, &RunSession::baselinesChanged, this, later);
    connect(session_, &RunSession::decisionsChanged, this, later);
    connect(session_, &RunSession::stateChanged, this, later_with_judgements);
    connect(session_, &RunSession::stateChanged, this, &FastPathView::showButtons);
    connect(session_, &RunSession::selectionChanged, this, &FastPathView::showSelection);
}

QString FastPathView::headingText() const
{
    const RunSnapshot& snapshot = session_->snapshot();
    const ProviderSettings& provider = snapshot.config.provider;
    QString text = tr("Converts to %1").arg(QString::fromStdString(snapshot.config.fast_path.backend).toUpper());
    if (provider.provider.empty()) {
        text = tr("No model is asked: the workload's own seed is taken");
    } else {
        text += tr(" · answers: %1").arg(QString::fromStdString(provider.provider));
        if (!provider.model.empty()) {
            text += QLatin1Char(' ') + QString::fromStdString(provider.model);
        }
        if (!provider.judge_model.empty()) {
            text += tr(", judge %1").arg(QString::fromStdString(provider.judge_model));
        }
        if (!provider.folder.empty()) {
            text += tr(" in %1").arg(QString::fromStdString(provider.folder.string()));
        }
    }
    if (!snapshot.message.empty()) {
        text += QLatin1Char('\n') + oneLine(snapshot.message);
    }
    return text;
}

void FastPathView::refresh()
{
    refresh_timer_.stop();
    const RunSnapshot& snapshot = session_->snapshot();
    syncing_ = true;
    const int scrolled = tree_->verticalScrollBar()->value();
    tree_->clear();
    if (session_->run() && snapshot.config.proposer == "fastpath") {
        if (std::exchange(judgements_stale_, false)) {
            judgements_.update(*session_);
        }
        const QString note = session_->timesNote();
        tree_->setHeaderLabels({tr("Attempt"), tr("Verdict"), tr("Judge"),
                                note.isEmpty() ? tr("Time µs") : note.left(1).toUpper() + note.mid(1) + tr(" µs"),
                                tr("What was said")});
        heading_->setText(headingText());
        const FastPathOutline outline = outlineOf(snapshot);
        for (const std::string& id : outline.others) {
            addAttempt(tree_->invisibleRootItem(), id);
        }
        if (!snapshot.config.provider.provider.empty()) {
            for (const StageOutline& stage : outline.stages) {
                addStage(stage);
            }
            addRunning(tree_->invisibleRootItem());
        }
        tree_->expandAll();
    }
    tree_->verticalScrollBar()->setValue(scrolled);
    syncing_ = false;
    showSelection();
}

void FastPathView::addStage(const StageOutline& stage)
{
    auto* item = new QTreeWidgetItem(tree_);
    item->setFlags(Qt::ItemIsEnabled);
    item->setSizeHint(attempt_column, {0, 3 * grid});
    item->setText(attempt_column, titleOf(stage.stage));
    item->setText(verdict_column, tr("%1 of %2 attempts").arg(stage.made).arg(stage.most));
    if (!stage.accepted.empty()) {
        item->setText(judge_column, tr("done: %1").arg(QString::fromStdString(stage.accepted)));
    }
    const Colors colors = colorsFor(palette());
    for (int column = 0; column < column_count; ++column) {
        item->setFont(column, textFont(0, column == attempt_column ? QFont::DemiBold : QFont::Normal));
        item->setBackground(column, colors.raised);
    }
    for (const std::string& id : stage.attempts) {
        addAttempt(item, id);
    }
}

void FastPathView::addAttempt(QTreeWidgetItem* stage, const std::string& id)
{
    const Candidate* candidate = session_->candidate(QString::fromStdString(id));
    if (!candidate) {
        return;
    }
    const Colors colors = colorsFor(palette());
    auto* item = new QTreeWidgetItem(stage);
    item->setSizeHint(attempt_column, {0, 3 * grid});
    item->setData(attempt_column, id_role, QString::fromStdString(id));
    item->setText(attempt_column, QString::fromStdString(id));
    item->setFont(attempt_column, monoFont());
    item->setText(verdict_column, standingSymbol(*candidate) + QLatin1Char(' ') + standingText(*candidate));
    item->setForeground(verdict_column, verdictColor(*candidate, colors));
    const Judgement* judgement = judgements_.find(id);
    item->setText(judge_column, judgeText(judgement));
    item->setFont(time_column, monoFont());
    item->setTextAlignment(time_column, Qt::AlignRight | Qt::AlignVCenter);
    if (const auto time = candidate->evaluation ? timeUsOf(*candidate->evaluation) : std::nullopt) {
        item->setText(time_column, figureText(*time));
    }
    std::string said = candidate->evaluation ? candidate->evaluation->message : std::string();
    if (said.empty() && judgement && judgement->answer) {
        said = judgement->answer->cause.empty() ? judgement->answer->advice : judgement->answer->cause;
    }
    if (candidate->decision == DecisionKind::rejected) {
        said = tr("rejected").toStdString() +
               (candidate->decision_reason.empty() ? "" : ": " + candidate->decision_reason);
        for (const int column : {attempt_column, verdict_column, judge_column, time_column}) {
            item->setForeground(column, colors.secondary);
        }
    }
    item->setText(said_column, oneLine(said));
    item->setForeground(said_column, colors.secondary);
}

void FastPathView::addRunning(QTreeWidgetItem* stage)
{
    for (const auto& [number, call] : session_->run()->runningCalls()) {
        auto* item = new QTreeWidgetItem(stage);
        item->setFlags(Qt::ItemIsEnabled);
        item->setText(attempt_column, QString::fromStdString(call.started.origin.candidate_id));
        item->setFont(attempt_column, monoFont());
        item->setText(verdict_column, tr("○ waits for an answer: %1").arg(oneLine(call.started.origin.agent)));
        item->setForeground(verdict_column, colorsFor(palette()).secondary);
    }
}

QString FastPathView::detailText(const Candidate& candidate) const
{
    QStringList parts{QString::fromStdString(candidate.id + ": " + candidate.summary)};
    QString verdict = standingSymbol(candidate) + QLatin1Char(' ') + standingText(candidate);
    if (candidate.evaluation && !candidate.evaluation->message.empty()) {
        verdict += QStringLiteral(": ") + QString::fromStdString(candidate.evaluation->message);
    }
    parts << verdict;
    if (const Judgement* judgement = judgements_.find(candidate.id)) {
        if (!judgement->finding.empty()) {
            parts << tr("Checked: %1").arg(QString::fromStdString(judgement->finding));
        }
        parts << tr("The judge: %1").arg(judgeText(judgement));
        if (judgement->answer && !judgement->answer->cause.empty()) {
            parts << tr("Cause: %1").arg(QString::fromStdString(judgement->answer->cause));
        }
        if (judgement->answer && !judgement->answer->advice.empty()) {
            parts << tr("Advice: %1").arg(QString::fromStdString(judgement->answer->advice));
        }
    } else if (candidate.evaluation) {
        parts << tr("No judge was asked about it.");
    }
    if (candidate.decision == DecisionKind::rejected) {
        parts << tr("Rejected: %1").arg(QString::fromStdString(candidate.decision_reason));
    }
    return parts.join(QStringLiteral("\n\n"));
}

void FastPathView::showSelection()
{
    const QString id = session_->primary();
    QTreeWidgetItem* wanted = nullptr;
    for (QTreeWidgetItemIterator item(tree_); *item && !wanted; ++item) {
        if (!id.isEmpty() && (*item)->data(attempt_column, id_role).toString() == id) {
            wanted = *item;
        }
    }
    syncing_ = true;
    if (wanted) {
        tree_->setCurrentItem(wanted);
        tree_->scrollToItem(wanted);
    } else {
        tree_->selectionModel()->clear();
    }
    syncing_ = false;
    const Candidate* selected = session_->candidate(id);
    const QString text = selected ? detailText(*selected)
                         : session_->snapshot().candidates.empty()
                             ? tr("No attempt has been made yet.")
                             : tr("Select an attempt to see what was said of it.");
    if (text != detail_->toPlainText()) {
        detail_->setPlainText(text);
    }
    showButtons();
}

void FastPathView::showButtons()
{
    const RunModel* run = session_->run();
    const Candidate* selected = session_->candidate(session_->primary());
    difference_->setEnabled(selected);
    QString why;
    if (!run || !selected) {
        why = tr("Select the attempt to continue from.");
    } else if (run->isActive()) {
        why = tr("Stop the run first.");
    } else if (selected->decision == DecisionKind::rejected) {
        why = tr("%1 is rejected. Choose an attempt that is not, or undo that.").arg(session_->primary());
    } else if (attemptsAfter(session_->snapshot(), selected->id).empty()) {
        why = tr("There is no attempt after it. Continue the run instead.");
    }
    continue_->setEnabled(why.isEmpty());
    continue_->setToolTip(why.isEmpty() ? tr("Reject the attempts after it, and resume the run. Undo takes a "
                                             "rejection back.")
                                        : why);
}

void FastPathView::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    tree_->setColumnHidden(said_column, width() < width_for_said);
}

void FastPathView::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        refresh_timer_.start();
    }
}

bool FastPathView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == tree_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if ((key == Qt::Key_Return || key == Qt::Key_Enter) && session_->candidate(session_->primary())) {
            session_->openSource(session_->primary());
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace cuco::ui
