// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include "core/evaluation/data_paths.h"
#include "ui/fast_path/fast_path_outline.h"
#include "ui/fast_path/fast_path_view.h"
#include "ui/keys/keychain_keys.h"
#include "ui/population/archive_view.h"
#include "ui/population/candidate_format.h"
#include "ui/population/lineage_view.h"
#include "ui/population/population_view.h"
#include "ui/shell/answer_panel.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/error_bar.h"
#include "ui/shell/inspector.h"
#include "ui/shell/log_view.h"
#include "ui/shell/recent_files.h"
#include "ui/shell/run_list.h"
#include "ui/shell/start_page.h"
#include "ui/shell/status_text.h"
#include "ui/style/theme.h"
#include "ui/views/notes_view.h"
#include "ui/views/source_tab.h"
#include "ui/views/timeline_view.h"
#include "ui/views/timeline_window.h"
#include "ui/views/trace_view.h"

#include <QAction>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QProgressBar>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace cuco::ui {

namespace {

QString demoPath()
{
    const auto paths = DataPaths::find();
    if (!paths) {
        return {};
    }
    const QString path = QString::fromStdString((paths->resources / "demo.cuco").string());
    return QFileInfo::exists(path) ? path : QString();
}

bool isTraceFile(const QString& path)
{
    for (const auto* ending : {".json", ".json.gz", ".sqlite", ".trace"}) {
        if (path.endsWith(QLatin1String(ending), Qt::CaseInsensitive)) {
            return true;
        }
    }
    return false;
}

/// A run or a trace.
QString firstOpenableFile(const QMimeData& data)
{
    for (const QUrl& url : data.urls()) {
        const QString path = url.isLocalFile() ? url.toLocalFile() : QString();
        if (path.endsWith(QStringLiteral(".cuco")) || isTraceFile(path)) {
            return path;
        }
    }
    return {};
}

std::shared_ptr<Keychain> withoutKeychain()
{
    return noKeychain({MainWindow::tr("No keychain is used here").toStdString(),
                       {},
                       MainWindow::tr("Set the keys in the environment.").toStdString()});
}

}  // namespace

MainWindow::MainWindow(std::shared_ptr<Keychain> keychain)
    : keychain_(keychain ? std::move(keychain) : withoutKeychain()),
      keys_(keychain_),
      runs_(keysFrom(keychain_)),
      actions_(this),
      demo_path_(demoPath())
{
    setWindowTitle(tr("CUCo Desktop"));
    setAcceptDrops(true);
    setMinimumSize(80 * grid, 56 * grid);
    actions_.open_demo->setEnabled(!demo_path_.isEmpty());
    makeCentre();
    makeDocks();
    makeStatusBar();
    palette_ = new CommandPalette(this);
    connectActions();
    connectCandidateActions();
    connectViewActions();
    connect(&runs_, &OpenRuns::listChanged, run_list_model_, &RunListModel::refresh);
    connect(&runs_, &OpenRuns::runChanged, this, [this](RunModel* run) {
        run_list_model_->refreshRun(run);
        if (run == session_.run()) {
            refreshActions();
            refreshStatus();
        }
    });
    connect(&runs_, &OpenRuns::failed, this, &MainWindow::showError);
    connect(&nodes_, &NodeProbes::changed, this, [this] {
        run_list_model_->refresh();
        run_list_->setCurrentRun(session_.run());
    });
    connect(&session_, &RunSession::selectionChanged, this, &MainWindow::refreshActions);
    connect(&session_, &RunSession::decisionsChanged, this, &MainWindow::refreshActions);
    connect(&session_, &RunSession::sourceRequested, this, [this](const QString&, int line) {
        showTab(Tab::diff);
        sources_->showSource(line);
    });
    restoreWindow();
    showRun(nullptr);
}

MainWindow::~MainWindow()
{
    // The views look at the session to their end; it and the runs are members and would go before them.
    session_.setRun(nullptr);
    session_.disconnect();
    runs_.disconnect();
    nodes_.disconnect();
    delete takeCentralWidget();
    delete runs_dock_;
    delete inspector_dock_;
    delete answer_dock_;
}

void MainWindow::makeCentre()
{
    errors_ = new ErrorBar(this);
    population_ = new PopulationView(&session_);
    tabs_ = new QTabWidget;
    tabs_->setObjectName(QStringLiteral("tabs"));
    tabs_->tabBar()->setDrawBase(false);
    tabs_->tabBar()->setAccessibleName(tr("Views"));
    fast_path_ = new FastPathView(&session_);
    population_pages_ = new QStackedWidget;
    population_pages_->addWidget(population_);
    population_pages_->addWidget(fast_path_);
    tabs_->addTab(population_pages_, tr("Population"));
    tabs_->addTab(new ArchiveView(&session_), tr("Archive"));
    sources_ = new SourceTab(&session_, actions_.edit_copy);
    tabs_->addTab(sources_, tr("Diff"));
    tabs_->addTab(new TimelineView(&session_), tr("Timeline"));
    tabs_->addTab(new TraceView(&session_), tr("LLM traces"));
    notes_ = new NotesView(&session_);
    tabs_->addTab(notes_, tr("Notes"));
    tabs_->addTab(new LogView(&session_), tr("Log"));

    auto* corner = new QWidget;
    auto* corner_layout = new QHBoxLayout(corner);
    corner_layout->setContentsMargins(grid, 0, grid, 0);
    corner_layout->setSpacing(grid / 2);
    for (QAction* action : {actions_.start, actions_.pause, actions_.stop}) {
        auto* button = new QToolButton(corner);
        button->setDefaultAction(action);
        button->setAutoRaise(true);
        button->setFocusPolicy(Qt::StrongFocus);
        corner_layout->addWidget(button);
    }
    tabs_->setCornerWidget(corner);

    start_page_ = new StartPage(actions_.new_run, actions_.open, actions_.open_demo);
    connect(start_page_, &StartPage::fileChosen, this, &MainWindow::openFile);
    pages_ = new QStackedWidget;
    pages_->addWidget(start_page_);
    pages_->addWidget(tabs_);
    auto* centre = new QWidget;
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(errors_);
    layout->addWidget(pages_, 1);
    setCentralWidget(centre);
}

void MainWindow::makeDocks()
{
    run_list_model_ = new RunListModel(runs_.all(), nodes_, this);
    run_list_ = new RunList(run_list_model_);
    connect(run_list_, &RunList::runChosen, this, &MainWindow::showRun);
    connect(run_list_, &RunList::fileChosen, this, &MainWindow::openFile);
    inspector_ = new Inspector(
        &session_, {actions_.promote, actions_.reject, actions_.undo, actions_.compare_parent, actions_.compare_best,
                    actions_.compare_baseline, actions_.end_comparison, actions_.open_source, actions_.edit_copy});
    const auto dock = [this](const QString& title, const char* name, QWidget* widget, Qt::DockWidgetArea area) {
        auto* made = new QDockWidget(title, this);
        made->setObjectName(QString::fromLatin1(name));
        made->setWidget(widget);
        made->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
        addDockWidget(area, made);
        actions_.view_menu->addAction(made->toggleViewAction());
        return made;
    };
    runs_dock_ = dock(tr("Runs"), "runsDock", run_list_, Qt::LeftDockWidgetArea);
    inspector_dock_ = dock(tr("Inspector"), "inspectorDock", inspector_, Qt::RightDockWidgetArea);
    runs_dock_->toggleViewAction()->setShortcut(Qt::Key_F9);
    inspector_dock_->toggleViewAction()->setShortcut(Qt::Key_F10);
    connect(inspector_dock_->toggleViewAction(), &QAction::triggered, this,
            [this](bool wanted) { inspector_wanted_ = wanted; });
    // It comes and goes with the prompts.
    answer_ = new AnswerPanel;
    answer_dock_ = new QDockWidget(tr("Your answer"), this);
    answer_dock_->setObjectName(QStringLiteral("answerDock"));
    answer_dock_->setWidget(answer_);
    answer_dock_->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetFloatable);
    addDockWidget(Qt::BottomDockWidgetArea, answer_dock_);
    connect(answer_, &AnswerPanel::wantedChanged, this, &MainWindow::showAnswerDock);
    resizeDocks({runs_dock_, inspector_dock_}, {26 * grid, 34 * grid}, Qt::Horizontal);
}

void MainWindow::makeStatusBar()
{
    status_ = new QLabel;
    status_->setTextFormat(Qt::PlainText);
    status_->setObjectName(QStringLiteral("status"));
    progress_ = new QProgressBar;
    progress_->setFixedWidth(20 * grid);
    progress_->setMaximumHeight(2 * grid);
    progress_->setFormat(tr("%v of %m"));
    status_->setContentsMargins(grid, 0, grid, 0);
    statusBar()->addWidget(status_, 1);
    statusBar()->addPermanentWidget(progress_);
    statusBar()->setSizeGripEnabled(false);
}

void MainWindow::showError(const Error& error)
{
    errors_->add(error);
}

QWidget* MainWindow::part(const QString& name) const
{
    if (name == QStringLiteral("lineage")) {
        return population_->lineage();
    }
    return name == QStringLiteral("inspector") ? inspector_ : nullptr;
}

void MainWindow::openTrace(const QString& path)
{
    auto* window = new TimelineWindow(path, this);
    window->show();
}

bool MainWindow::openFile(const QString& path)
{
    if (isTraceFile(path)) {
        openTrace(path);
        return true;
    }
    auto run = runs_.open(path);
    if (!run) {
        removeRecentFile(path);
        refreshRecent();
        showError(run.error());
        return false;
    }
    addRecentFile((*run)->path());
    refreshRecent();
    showRun(*run);
    return true;
}

void MainWindow::showRun(RunModel* run)
{
    session_.setRun(run);
    answer_->setRun(run);
    pages_->setCurrentWidget(run ? static_cast<QWidget*>(tabs_) : start_page_);
    inspector_dock_->setVisible(run && inspector_wanted_);
    run_list_->setCurrentRun(run);
    showPopulationPage();
    setWindowTitle(run ? tr("%1 – CUCo Desktop").arg(QFileInfo(run->path()).completeBaseName()) : tr("CUCo Desktop"));
    if (run) {
        const RunSnapshot& snapshot = run->snapshot();
        const bool converts = snapshot.config.proposer == "fastpath" && !snapshot.candidates.empty();
        // The fastest attempt of a conversion may be one that still leaves the work to the host.
        if (const Candidate* shown = converts ? &snapshot.candidates.back() : bestOf(snapshot)) {
            session_.select(QString::fromStdString(shown->id));
        }
    } else {
        start_page_->refresh();
        start_page_->setFocus();
    }
    refreshActions();
    refreshStatus();
}

void MainWindow::showPopulationPage()
{
    const bool converts = session_.snapshot().config.proposer == "fastpath";
    population_pages_->setCurrentWidget(converts ? static_cast<QWidget*>(fast_path_) : population_);
    tabs_->setTabText(static_cast<int>(Tab::population), converts ? tr("Fast path") : tr("Population"));
}

void MainWindow::showAnswerDock()
{
    if (answer_dock_->isHidden() == answer_->isWanted()) {
        answer_dock_->setVisible(answer_->isWanted());
    }
}

void MainWindow::showTab(Tab tab)
{
    tabs_->setCurrentIndex(static_cast<int>(tab));
    QWidget* page = tabs_->currentWidget();
    (page == population_pages_ ? population_pages_->currentWidget() : page)->setFocus();
}

void MainWindow::refreshRecent()
{
    actions_.recent_menu->clear();
    for (const QString& path : recentFiles()) {
        actions_.recent_menu->addAction(QFileInfo(path).completeBaseName(), this, [this, path] { openFile(path); })
            ->setToolTip(path);
    }
    actions_.recent_menu->setEnabled(!actions_.recent_menu->isEmpty());
    run_list_model_->refresh();
    run_list_->setCurrentRun(session_.run());
}

void MainWindow::refreshActions()
{
    const RunModel* run = session_.run();
    const bool preparing = run && !run->activity().isEmpty();
    const bool active = run && run->isActive();
    const bool finished = run && run->snapshot().state == RunState::finished;
    actions_.close_run->setEnabled(run);
    // A finished conversion goes on from an earlier attempt once later ones are rejected.
    const bool converts = run && run->snapshot().config.proposer == "fastpath";
    // A promotion that was cut short is measured when the run is gone on with.
    const bool promotes = run && !pendingPromotions(run->snapshot().decisions).empty();
    actions_.start->setEnabled(run && !active && (!finished || converts || promotes));
    actions_.start->setText(run && !run->snapshot().candidates.empty() ? tr("&Continue") : tr("&Start"));
    actions_.pause->setEnabled(active && !preparing);
    actions_.stop->setEnabled(active);

    const Candidate* selected = session_.candidate(session_.primary());
    const bool settled = selected && selected->evaluation;
    const Decision* last_on = selected ? lastDecisionOn(session_.snapshot().decisions, selected->id) : nullptr;
    // One that is pending is measured already, or at the next start.
    const bool promoted =
        last_on && last_on->kind == DecisionKind::promoted && last_on->standing != PromotionStanding::refused;
    actions_.promote->setEnabled(settled && selected->evaluation->verified() && !promoted);
    actions_.reject->setEnabled(settled && selected->decision != DecisionKind::rejected);
    actions_.undo->setEnabled(run && run->canUndo());
    actions_.undo->setText(tr("&Undo decision"));
    if (run) {
        const LastAct last = lastActOf(run->snapshot().decisions);
        if (!last.continued_from.empty()) {
            actions_.undo->setText(tr("&Undo continuing from %1").arg(QString::fromStdString(last.continued_from)));
        } else if (!last.decisions.empty()) {
            const Decision& decision = last.decisions.front();
            actions_.undo->setText(
                (decision.kind == DecisionKind::promoted ? tr("&Undo promoting %1") : tr("&Undo rejecting %1"))
                    .arg(QString::fromStdString(decision.candidate_id)));
        }
    }
    const Candidate* best = bestOf(session_.snapshot());
    actions_.select_best->setEnabled(best);
    actions_.open_source->setEnabled(!session_.primary().isEmpty());
    // Nothing can be evaluated in a run that another program made.
    actions_.edit_copy->setEnabled(selected && !session_.isImported());
    actions_.edit_copy->setText(sources_->hasCopy(session_.primary()) ? tr("Go on editing the &copy")
                                                                      : tr("Edit a &copy…"));
    actions_.compare_parent->setEnabled(selected && !selected->parents.empty());
    actions_.compare_best->setEnabled(best && !session_.primary().isEmpty() &&
                                      QString::fromStdString(best->id) != session_.primary());
    actions_.compare_baseline->setEnabled(selected && !session_.snapshot().baselines.empty());
    actions_.end_comparison->setEnabled(!session_.secondary().isEmpty());
    for (QAction* tab : actions_.tabs) {
        tab->setEnabled(run);
    }
    actions_.filter->setEnabled(run && !converts);
    actions_.logarithmic->setEnabled(run && !converts);
}

void MainWindow::refreshStatus()
{
    const RunModel* run = session_.run();
    status_->setText(run ? statusText(*run) : QString());
    const bool active = run && run->isActive();
    progress_->setVisible(active);
    if (active) {
        const auto& candidates = run->snapshot().candidates;
        const auto settled = std::count_if(candidates.begin(), candidates.end(),
                                           [](const Candidate& candidate) { return candidate.evaluation.has_value(); });
        const bool preparing = !run->activity().isEmpty();
        progress_->setRange(0, preparing ? 0 : run->snapshot().config.proposals());
        progress_->setValue(static_cast<int>(settled));
    }
}

void MainWindow::restoreWindow()
{
    const QSettings settings;
    refreshRecent();
    if (!restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray())) {
        resize(1280, 800);
    }
    inspector_wanted_ = settings.value(QStringLiteral("window/inspector"), true).toBool();
    restoreState(settings.value(QStringLiteral("window/state")).toByteArray());
    if (const QByteArray state = settings.value(QStringLiteral("window/population")).toByteArray(); !state.isEmpty()) {
        population_->restoreState(state);
    }
    const QString colors = settings.value(QStringLiteral("colors")).toString();
    QAction* chosen = colors == QStringLiteral("dark")    ? actions_.dark_colors
                      : colors == QStringLiteral("light") ? actions_.light_colors
                                                          : actions_.system_colors;
    chosen->setChecked(true);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!firstOpenableFile(*event->mimeData()).isEmpty()) {
        event->acceptProposedAction();
    }
}

void MainWindow::dropEvent(QDropEvent* event)
{
    if (const QString path = firstOpenableFile(*event->mimeData()); !path.isEmpty()) {
        event->acceptProposedAction();
        openFile(path);
    }
}

}  // namespace cuco::ui
