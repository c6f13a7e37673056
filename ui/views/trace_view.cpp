// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace_view.h"

#include "ui/engine/run_session.h"
#include "ui/style/theme.h"
#include "ui/views/missing_text.h"
#include "ui/views/trace/step_text.h"
#include "ui/views/trace/trace_model.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QSplitter>
#include <QTreeView>
#include <QVBoxLayout>

namespace cuco::ui {

TraceView::TraceView(RunSession* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new TraceModel(this)),
      filter_(new TraceFilter(this)),
      heading_(new QLabel(this)),
      search_(new QLineEdit(this)),
      agent_(new QComboBox(this)),
      tree_(new QTreeView(this)),
      text_(new StepText(this))
{
    filter_->setSourceModel(model_);
    heading_->setWordWrap(true);
    heading_->setMargin(grid);
    heading_->setTextFormat(Qt::PlainText);
    search_->setPlaceholderText(tr("Find in titles and texts"));
    search_->setClearButtonEnabled(true);
    search_->setMaxLength(256);
    agent_->setAccessibleName(tr("Agent"));
    agent_->setSizeAdjustPolicy(QComboBox::AdjustToContents);

    tree_->setModel(filter_);
    tree_->setUniformRowHeights(true);
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->setAccessibleName(tr("Steps of the run's agents"));
    tree_->header()->setStretchLastSection(false);
    tree_->header()->setSectionResizeMode(TraceModel::title_column, QHeaderView::Stretch);
    tree_->header()->setSectionResizeMode(TraceModel::agent_column, QHeaderView::ResizeToContents);
    tree_->header()->setSectionResizeMode(TraceModel::time_column, QHeaderView::ResizeToContents);

    auto* filters = new QHBoxLayout;
    filters->setContentsMargins(grid, 0, grid, grid / 2);
    filters->addWidget(search_, 1);
    filters->addWidget(agent_);
    auto* left = new QWidget(this);
    auto* left_layout = new QVBoxLayout(left);
    left_layout->setContentsMargins(0, 0, 0, 0);
    left_layout->setSpacing(0);
    left_layout->addLayout(filters);
    left_layout->addWidget(tree_, 1);
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(left);
    splitter->addWidget(text_);
    splitter->setStretchFactor(0, 2);
    splitter->setStretchFactor(1, 3);
    splitter->setSizes({480, 640});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(heading_);
    layout->addWidget(splitter, 1);
    setFocusProxy(tree_);

    auto* find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, search_, qOverload<>(&QWidget::setFocus));
    connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
        filter_->setText(text);
        tree_->expandAll();
    });
    connect(agent_, &QComboBox::currentIndexChanged, this,
            [this] { filter_->setAgent(agent_->currentData().toString()); });
    connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this] {
        showCurrent();
        selectCandidate();
    });
    connect(text_, &StepText::candidateClicked, session_, &RunSession::select);
    connect(session_, &RunSession::runReset, this, &TraceView::reload);
    connect(session_, &RunSession::stepsAdded, this, [this] {
        stale_ = true;
        if (isVisible())
            addNew();
    });
    connect(session_, &RunSession::selectionChanged, this, &TraceView::followSelection);
    reload();
}

QString TraceView::headingText() const
{
    return heading_->text();
}

void TraceView::reload()
{
    const QString workload = QString::fromStdString(session_->snapshot().config.workload);
    model_->reset(workload.isEmpty() ? tr("Run") : workload);
    text_->showSentence({});
    updateHeading();
    stale_ = true;
    if (isVisible())
        addNew();
}

void TraceView::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (stale_) {
        addNew();
        followSelection();
    }
}

void TraceView::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        showCurrent();  // the text holds the colours it was made with
}

void TraceView::addNew()
{
    stale_ = false;
    if (!session_->run())
        return;
    const auto steps = session_->steps();
    if (!steps) {
        heading_->setText(errorText(tr("The steps of this run cannot be read"), steps.error()));
        return;
    }
    const bool was_empty = model_->stepCount() == 0;
    model_->add(*steps);
    updateAgents();
    if (was_empty) {
        tree_->expand(filter_->mapFromSource(model_->runIndex()));
        followSelection();
    }
}

void TraceView::updateHeading()
{
    const RunConfig& config = session_->snapshot().config;
    if (!session_->run())
        heading_->setText(tr("Open a run, or start one, to see what its agents decided."));
    else if (config.proposer == "tunable")
        heading_->setText(tr("This run's proposer used no model: these are its own decisions."));
    else
        heading_->setText(tr("What the agents of this run asked and decided."));
}

void TraceView::updateAgents()
{
    if (agent_->count() == 0)
        agent_->addItem(tr("All agents"), QString());
    const QStringList agents = model_->agents();
    while (agent_->count() - 1 > agents.size())
        agent_->removeItem(agent_->count() - 1);
    for (int i = 0; i < agents.size(); ++i) {
        if (i + 1 == agent_->count())
            agent_->addItem(agents[i], agents[i]);
        agent_->setItemText(i + 1, agents[i]);
        agent_->setItemData(i + 1, agents[i]);
    }
}

void TraceView::showCurrent()
{
    const QModelIndex index = filter_->mapToSource(tree_->currentIndex());
    if (const AgentStep* step = model_->step(index)) {
        text_->showStep(*step, [this](const QString& id) { return session_->candidate(id) != nullptr; });
    } else {
        const QString id = index.data(TraceModel::candidate_role).toString();
        const int count = model_->rowCount(index);
        text_->showSentence(id.isEmpty() ? QString()
                            : count == 1 ? tr("%1: one step. Choose it to read it.").arg(id)
                                         : tr("%1: %2 steps. Choose one to read it.").arg(id).arg(count));
    }
}

void TraceView::selectCandidate()
{
    const QString candidate = tree_->currentIndex().data(TraceModel::candidate_role).toString();
    if (!following_ && !candidate.isEmpty() && candidate != session_->primary() && session_->candidate(candidate))
        session_->select(candidate);
}

void TraceView::followSelection()
{
    const QString id = session_->primary();
    const QModelIndex current = filter_->mapToSource(tree_->currentIndex());
    if (id.isEmpty() || current.data(TraceModel::candidate_role).toString() == id)
        return;
    const QModelIndex candidate = filter_->mapFromSource(model_->candidateIndex(id));
    if (!candidate.isValid())
        return;
    following_ = true;
    tree_->expandRecursively(candidate);
    const QModelIndex first_step = filter_->index(0, 0, candidate);
    tree_->setCurrentIndex(first_step.isValid() ? first_step : candidate);
    tree_->scrollTo(tree_->currentIndex());
    following_ = false;
}

}  // namespace cuco::ui
