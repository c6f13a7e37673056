// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/trace_view.h"

#include "ui/engine/run_session.h"
#include "ui/style/theme.h"
#include "ui/views/missing_text.h"
#include "ui/views/trace/call_format.h"
#include "ui/views/trace/call_page.h"
#include "ui/views/trace/prompt_diff.h"
#include "ui/views/trace/step_text.h"
#include "ui/views/trace/trace_filter.h"
#include "ui/views/trace/trace_model.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QSplitter>
#include <QStackedWidget>
#include <QTreeView>
#include <QVBoxLayout>

namespace cuco::ui {

namespace {

constexpr auto search_pause = std::chrono::milliseconds(150);
constexpr auto running_pause = std::chrono::milliseconds(16);  // between two looks at a running answer
constexpr int width_for_agent = 700, width_for_time = 600, width_for_calls = 520, width_for_duration = 420,
              width_for_tokens = 300;

/// The choices after the first, which means all of them.
void fillChoices(QComboBox& box, const QString& all, const QStringList& choices)
{
    if (box.count() == 0)
        box.addItem(all, QString());
    while (box.count() - 1 > choices.size())
        box.removeItem(box.count() - 1);
    for (int i = 0; i < choices.size(); ++i) {
        if (i + 1 == box.count())
            box.addItem(choices[i], choices[i]);
        box.setItemText(i + 1, choices[i]);
        box.setItemData(i + 1, choices[i]);
    }
}

}  // namespace

TraceView::TraceView(RunSession* session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      model_(new TraceModel(this)),
      filter_(new TraceFilter(model_, this)),
      heading_(new QLabel(this)),
      found_(new QLabel(this)),
      search_(new QLineEdit(this)),
      grouping_(new QComboBox(this)),
      agent_(new QComboBox(this)),
      language_model_(new QComboBox(this)),
      failed_only_(new QCheckBox(tr("Failed only"), this)),
      tree_(new QTreeView(this)),
      text_(new StepText(this)),
      call_page_(new CallPage(this)),
      diff_(new PromptDiff(this)),
      pages_(new QStackedWidget(this))
{
    heading_->setWordWrap(true);
    heading_->setMargin(grid);
    heading_->setTextFormat(Qt::PlainText);
    pages_->addWidget(text_);
    pages_->addWidget(call_page_);
    pages_->addWidget(diff_);
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(buildLeft());
    splitter->addWidget(pages_);
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({430, 470});
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(heading_);
    layout->addWidget(splitter, 1);
    setFocusProxy(tree_);

    auto* find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, search_, qOverload<>(&QWidget::setFocus));
    search_timer_.setSingleShot(true);
    search_timer_.setInterval(search_pause);
    running_timer_.setSingleShot(true);
    running_timer_.setInterval(running_pause);
    running_timer_.setTimerType(Qt::PreciseTimer);
    connect(&search_timer_, &QTimer::timeout, this, &TraceView::search);
    connect(&running_timer_, &QTimer::timeout, this, [this] {
        if (more_text_)
            showRunningText();
    });
    connect(search_, &QLineEdit::textChanged, &search_timer_, qOverload<>(&QTimer::start));
    connect(search_, &QLineEdit::returnPressed, this, &TraceView::goToNextCall);
    connect(agent_, &QComboBox::currentIndexChanged, this,
            [this] { filter_->setAgent(agent_->currentData().toString()); });
    connect(language_model_, &QComboBox::currentIndexChanged, this,
            [this] { filter_->setModel(language_model_->currentData().toString()); });
    connect(failed_only_, &QCheckBox::toggled, this, [this](bool failed_only) {
        filter_->setFailedOnly(failed_only);
        tree_->expandAll();
    });
    connect(grouping_, &QComboBox::currentIndexChanged, this, &TraceView::reload);
    connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this] {
        showCurrent();
        selectCandidate();
    });
    connect(tree_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        if (pages_->currentWidget() == diff_ || tree_->selectionModel()->selectedRows().size() == 2)
            showCurrent();
    });
    connect(text_, &StepText::candidateClicked, session_, &RunSession::select);
    connect(call_page_, &CallPage::candidateClicked, session_, &RunSession::select);
    connectSession();
    reload();
}

QWidget* TraceView::buildLeft()
{
    search_->setPlaceholderText(tr("Find in prompts, answers and steps"));
    search_->setClearButtonEnabled(true);
    search_->setMaxLength(256);
    grouping_->setAccessibleName(tr("Grouping"));
    grouping_->addItem(tr("By candidate"), QVariant::fromValue(TraceModel::Grouping::by_candidate));
    grouping_->addItem(tr("By agent"), QVariant::fromValue(TraceModel::Grouping::by_agent));
    agent_->setObjectName(QStringLiteral("agent"));
    agent_->setAccessibleName(tr("Agent"));
    language_model_->setAccessibleName(tr("Model"));
    for (QComboBox* box : {grouping_, agent_, language_model_}) {
        box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        box->setMinimumContentsLength(3);
    }
    fillChoices(*agent_, tr("All agents"), {});
    fillChoices(*language_model_, tr("All models"), {});

    tree_->setModel(filter_);
    tree_->setUniformRowHeights(true);
    tree_->setIndentation(3 * grid / 2);
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    tree_->setAccessibleName(tr("Steps of the run's agents and their calls of models"));
    tree_->header()->setStretchLastSection(false);
    tree_->header()->setMinimumSectionSize(4 * grid);
    for (int column = 0; column < TraceModel::column_count; ++column)
        tree_->header()->setSectionResizeMode(
            column, column == TraceModel::title_column ? QHeaderView::Stretch : QHeaderView::ResizeToContents);
    tree_->header()->setResizeContentsPrecision(200);  // rows that are looked at; all would take seconds
    tree_->installEventFilter(this);

    auto* filters = new QHBoxLayout;
    filters->setContentsMargins(grid, 0, grid, grid / 2);
    filters->setSpacing(grid);
    filters->addWidget(search_, 1);
    filters->addWidget(found_);
    filters->addWidget(failed_only_);
    auto* choices = new QHBoxLayout;
    choices->setContentsMargins(grid, 0, grid, grid / 2);
    choices->setSpacing(grid / 2);
    choices->addWidget(grouping_, 1);
    choices->addWidget(agent_, 1);
    choices->addWidget(language_model_, 1);
    auto* left = new QWidget(this);
    auto* layout = new QVBoxLayout(left);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(filters);
    layout->addLayout(choices);
    layout->addWidget(tree_, 1);
    return left;
}

void TraceView::connectSession()
{
    const auto addLater = [this] {
        stale_ = true;
        if (isVisible())
            addNew();
    };
    connect(session_, &RunSession::runReset, this, &TraceView::reload);
    connect(session_, &RunSession::stepsAdded, this, addLater);
    connect(session_, &RunSession::llmCallStarted, this, [this](int running) {
        if (stale_)
            return;  // addNew takes it up with the rest
        const auto& calls = session_->run()->runningCalls();
        if (const auto call = calls.find(running); call != calls.end())
            model_->addRunning(call->second.started);
        updateChoices();
    });
    connect(session_, &RunSession::llmText, this, [this](int running) {
        if (!isVisible() || model_->running(filter_->mapToSource(tree_->currentIndex())) != running)
            return;
        // At once after a pause; pieces that come faster are shown together.
        more_text_ = true;
        if (!running_timer_.isActive())
            showRunningText();
    });
    connect(session_, &RunSession::llmCallEnded, this, [this](const LlmCallEnded& call) {
        if (stale_)
            return;
        const QModelIndex current = filter_->mapToSource(tree_->currentIndex());
        const bool shown = model_->running(current) == call.running;
        model_->endRunning(call);
        updateHeading();
        updateColumns();
        if (shown)
            showCurrent();
    });
    connect(session_, &RunSession::selectionChanged, this, &TraceView::followSelection);
}

void TraceView::showRunningText()
{
    more_text_ = false;
    showCurrent();
    running_timer_.start();
}

QString TraceView::headingText() const
{
    return heading_->text();
}

QString TraceView::modelTitle() const
{
    const QString workload = QString::fromStdString(session_->snapshot().config.workload);
    return workload.isEmpty() ? tr("Run") : workload;
}

void TraceView::reload()
{
    model_->reset(modelTitle(), grouping_->currentData().value<TraceModel::Grouping>());
    text_->showSentence({});
    pages_->setCurrentWidget(text_);
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

bool TraceView::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        updateColumns();
    return QWidget::eventFilter(watched, event);
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
    const auto calls = session_->run()->llmCalls();
    if (!calls) {
        heading_->setText(errorText(tr("The calls of this run cannot be read"), calls.error()));
        return;
    }
    const bool was_empty = model_->stepCount() == 0 && model_->callCount() == 0;
    model_->add(*steps, *calls);
    for (const auto& [running, call] : session_->run()->runningCalls())
        model_->addRunning(call.started);
    updateHeading();
    updateChoices();
    updateColumns();
    if (was_empty) {
        tree_->expand(filter_->mapFromSource(model_->runIndex()));
        followSelection();
    }
}

void TraceView::updateHeading()
{
    const RunConfig& config = session_->snapshot().config;
    const QString sums = totalsText(model_->totals(model_->runIndex()));
    if (!session_->run())
        heading_->setText(tr("Open a run, or start one, to see what its agents decided."));
    else if (!sums.isEmpty())
        heading_->setText(tr("What the agents of this run asked and decided: %1.").arg(sums));
    else if (config.proposer == "tunable")
        heading_->setText(tr("This run's proposer used no model: these are its own decisions."));
    else
        heading_->setText(tr("What the agents of this run asked and decided. No model has answered yet."));
}

void TraceView::updateChoices()
{
    fillChoices(*agent_, tr("All agents"), model_->agents());
    fillChoices(*language_model_, tr("All models"), model_->models());
}

void TraceView::updateColumns()
{
    const bool calls = model_->totals(model_->runIndex()).calls > 0;
    const int width = tree_->width();
    tree_->setColumnHidden(TraceModel::agent_column, calls && width < width_for_agent);
    tree_->setColumnHidden(TraceModel::calls_column, !calls || width < width_for_calls);
    tree_->setColumnHidden(TraceModel::tokens_column, !calls || width < width_for_tokens);
    tree_->setColumnHidden(TraceModel::cost_column, !calls);
    tree_->setColumnHidden(TraceModel::duration_column, !calls || width < width_for_duration);
    tree_->setColumnHidden(TraceModel::time_column, calls && width < width_for_time);
    language_model_->setVisible(calls);
    failed_only_->setVisible(calls);
}

void TraceView::search()
{
    const QString text = search_->text();
    std::vector<int> hits;
    QString found;
    if (!text.isEmpty() && session_->run()) {
        if (auto calls = session_->run()->searchLlmCalls(text)) {
            hits = std::move(*calls);
            if (model_->callCount() > 0)
                found = hits.size() == 1 ? tr("1 call") : tr("%1 calls").arg(hits.size());
        } else {
            heading_->setText(errorText(tr("The calls cannot be searched"), calls.error()));
        }
    }
    found_->setText(found);
    filter_->setText(text, hits);
    tree_->expandAll();
    call_page_->mark(text);
}

void TraceView::goToNextCall()
{
    if (search_timer_.isActive()) {
        search_timer_.stop();
        search();
    }
    QModelIndex at = tree_->currentIndex().siblingAtColumn(0);
    if (!at.isValid())
        at = filter_->index(0, 0);
    for (QModelIndex next = tree_->indexBelow(at); next != at; next = tree_->indexBelow(next)) {
        if (!next.isValid()) {
            next = filter_->index(0, 0);  // on from the top
            if (next == at)
                return;
        }
        if (model_->call(filter_->mapToSource(next))) {
            tree_->setCurrentIndex(next);
            return;
        }
    }
}

bool TraceView::showTwoCalls()
{
    std::vector<int> ids;
    for (const QModelIndex& row : tree_->selectionModel()->selectedRows()) {
        const LlmCallSummary* call = model_->call(filter_->mapToSource(row));
        if (!call || call->id == 0)
            return false;
        ids.push_back(call->id);
    }
    if (ids.size() != 2)
        return false;
    std::ranges::sort(ids);
    const auto left = session_->run()->llmCall(ids[0]), right = session_->run()->llmCall(ids[1]);
    if (!left || !right)
        return false;
    diff_->showCalls(ids[0], *left, ids[1], *right);
    pages_->setCurrentWidget(diff_);
    return true;
}

void TraceView::showCurrent()
{
    if (session_->run() && showTwoCalls())
        return;
    const QModelIndex index = filter_->mapToSource(tree_->currentIndex().siblingAtColumn(0));
    if (model_->call(index)) {
        showCall(index);
        return;
    }
    pages_->setCurrentWidget(text_);
    if (const AgentStep* step = model_->step(index)) {
        text_->showStep(*step, [this](const QString& id) { return session_->candidate(id) != nullptr; });
        return;
    }
    const QString title = index.data().toString();
    const int count = model_->rowCount(index);
    const QString sums = totalsText(model_->totals(index));
    text_->showSentence(!index.isValid()  ? QString()
                        : !sums.isEmpty() ? tr("%1: %2.\n\nChoose a step or a call to read it. With two calls chosen "
                                               "(Ctrl+click) you see how their prompts differ.")
                                                .arg(title, sums)
                        : !index.parent().isValid() ? QString()
                        : count == 1                ? tr("%1: one step. Choose it to read it.").arg(title)
                                                    : tr("%1: %2 steps. Choose one to read it.").arg(title).arg(count));
}

void TraceView::showCall(const QModelIndex& index)
{
    pages_->setCurrentWidget(call_page_);
    const LlmCallSummary& summary = *model_->call(index);
    if (const int running = model_->running(index)) {
        const auto& calls = session_->run()->runningCalls();
        const auto call = calls.find(running);
        call_page_->showRunning(summary, call != calls.end() ? call->second.text : std::string());
        return;
    }
    if (summary.id == 0) {
        call_page_->showError(tr("This call could not be saved; the log says why."));
        return;
    }
    const auto call = session_->run()->llmCall(summary.id);
    if (!call) {
        call_page_->showError(errorText(tr("This call cannot be read"), call.error()));
        return;
    }
    call_page_->showCall(summary, *call, [this](const QString& id) { return session_->candidate(id) != nullptr; });
    call_page_->mark(search_->text());
}

void TraceView::selectCandidate()
{
    const QString candidate = tree_->currentIndex().siblingAtColumn(0).data(TraceModel::candidate_role).toString();
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
    QModelIndex first = model_->step(model_->candidateIndex(id)) ? candidate : filter_->index(0, 0, candidate);
    if (!first.isValid())
        first = candidate;
    // The step's first call says more than the step.
    QModelIndex shown = first;
    for (int row = filter_->rowCount(first) - 1; row >= 0; --row)
        if (const QModelIndex call = filter_->index(row, 0, first); model_->call(filter_->mapToSource(call)))
            shown = call;
    tree_->setCurrentIndex(shown);
    tree_->scrollTo(shown);
    following_ = false;
}

}  // namespace cuco::ui
