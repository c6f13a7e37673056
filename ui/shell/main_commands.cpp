// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/data_paths.h"
#include "ui/fast_path/fast_path_view.h"
#include "ui/keys/api_keys_dialog.h"
#include "ui/population/candidate_table.h"
#include "ui/population/fitness_chart.h"
#include "ui/population/population_view.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/inspector.h"
#include "ui/shell/main_window.h"
#include "ui/shell/new_run_dialog.h"
#include "ui/shell/recent_files.h"
#include "ui/shell/run_list.h"
#include "ui/shell/shortcuts_dialog.h"
#include "ui/style/theme.h"
#include "ui/views/source_tab.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QMessageBox>
#include <QSettings>
#include <QStandardPaths>

namespace cuco::ui {

void MainWindow::connectActions()
{
    connect(actions_.new_run, &QAction::triggered, this, &MainWindow::newRun);
    connect(actions_.open, &QAction::triggered, this, &MainWindow::chooseFile);
    connect(actions_.open_trace, &QAction::triggered, this, &MainWindow::chooseTrace);
    connect(actions_.open_demo, &QAction::triggered, this, [this] { openFile(demo_path_); });
    connect(actions_.close_run, &QAction::triggered, this, &MainWindow::closeRun);
    connect(actions_.api_keys, &QAction::triggered, this, &MainWindow::showKeys);
    connect(actions_.quit, &QAction::triggered, this, &QWidget::close);
    connect(actions_.start, &QAction::triggered, this, &MainWindow::resumeRun);
    connect(fast_path_, &FastPathView::continueRequested, this, &MainWindow::continueFrom);
    connect(actions_.pause, &QAction::triggered, this, [this] {
        if (session_.run()) {
            session_.run()->pause();
        }
    });
    connect(actions_.stop, &QAction::triggered, this, [this] {
        if (session_.run()) {
            session_.run()->stop();
        }
    });
    connect(actions_.palette, &QAction::triggered, palette_, &CommandPalette::popUp);
    connect(actions_.shortcuts, &QAction::triggered, this, &MainWindow::showShortcuts);
    connect(actions_.about, &QAction::triggered, this, &MainWindow::showAbout);
}

void MainWindow::connectCandidateActions()
{
    const auto ask = [this](DecisionKind kind) {
        inspector_dock_->show();
        inspector_->askReason(kind);
    };
    connect(actions_.promote, &QAction::triggered, this, [ask] { ask(DecisionKind::promoted); });
    connect(actions_.reject, &QAction::triggered, this, [ask] { ask(DecisionKind::rejected); });
    connect(inspector_, &Inspector::decided, this, [this](const QString& id, DecisionKind kind, const QString& reason) {
        if (!session_.run()) {
            return;
        }
        if (kind == DecisionKind::promoted) {
            session_.run()->promote(id, reason);
        } else {
            session_.run()->reject(id, reason);
        }
    });
    connect(actions_.undo, &QAction::triggered, this, [this] {
        if (session_.run()) {
            session_.run()->undo();
        }
    });
    connect(actions_.open_source, &QAction::triggered, this, [this] { session_.openSource(session_.primary()); });
    connect(actions_.edit_copy, &QAction::triggered, this, [this] {
        showTab(Tab::diff);
        if (auto begun = sources_->editCopy(); !begun) {
            showError(begun.error());
        }
    });
    connect(sources_, &SourceTab::copiesChanged, this, &MainWindow::refreshActions);
    const auto best = [this] {
        const Candidate* candidate = bestOf(session_.snapshot());
        return candidate ? QString::fromStdString(candidate->id) : QString();
    };
    connect(actions_.select_best, &QAction::triggered, this, [this, best] { session_.select(best()); });
    connect(actions_.compare_best, &QAction::triggered, this, [this, best] { session_.compareWith(best()); });
    connect(actions_.compare_parent, &QAction::triggered, this, [this] {
        const Candidate* selected = session_.candidate(session_.primary());
        if (selected && !selected->parents.empty()) {
            session_.compareWith(QString::fromStdString(selected->parents.front()));
        }
    });
    connect(actions_.compare_baseline, &QAction::triggered, this, &MainWindow::compareWithBaseline);
    connect(actions_.end_comparison, &QAction::triggered, this, [this] { session_.compareWith({}); });
}

void MainWindow::connectViewActions()
{
    for (qsizetype i = 0; i < actions_.tabs.size(); ++i) {
        connect(actions_.tabs[i], &QAction::triggered, this, [this, i] { showTab(static_cast<Tab>(i)); });
    }
    connect(actions_.filter, &QAction::triggered, this, [this] {
        showTab(Tab::population);
        population_->table()->focusFilter();
    });
    connect(actions_.logarithmic, &QAction::toggled, population_->chart(), &FitnessChart::setLogarithmic);
    const auto choose = [this](ColorScheme scheme, const char* name) {
        QSettings().setValue(QStringLiteral("colors"), QString::fromLatin1(name));
        if (scheme == ColorScheme::system) {
            QMessageBox::information(this, tr("Colours"), tr("The system's colours are used from the next start on."));
        } else {
            applyTheme(*qApp, scheme);
        }
    };
    connect(actions_.system_colors, &QAction::triggered, this, [choose] { choose(ColorScheme::system, "system"); });
    connect(actions_.light_colors, &QAction::triggered, this, [choose] { choose(ColorScheme::light, "light"); });
    connect(actions_.dark_colors, &QAction::triggered, this, [choose] { choose(ColorScheme::dark, "dark"); });
}

void MainWindow::compareWithBaseline()
{
    // The strongest one is what the speed-ups refer to.
    const Candidate* selected = session_.candidate(session_.primary());
    std::string name;
    if (selected && selected->evaluation && !selected->evaluation->timings.empty()) {
        name = selected->evaluation->timings.front().baseline;
    }
    if (!session_.evaluation(baselineId(name)) && !session_.snapshot().baselines.empty()) {
        name = session_.snapshot().baselines.front().name;
    }
    session_.compareWith(baselineId(name));
}

void MainWindow::newRun()
{
    const auto paths = DataPaths::find();
    if (!paths) {
        showError(paths.error());
        return;
    }
    auto workloads = loadWorkloads(paths->workloads);
    if (!workloads) {
        showError(workloads.error());
        return;
    }
    nodes_.start();
    auto* dialog = new NewRunDialog(std::move(*workloads), nodes_, keys_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        RunModel* run = runs_.create(dialog->path(), dialog->config());
        addRecentFile(run->path());
        showRun(run);
        showTab(Tab::population);
    });
    dialog->open();
}

void MainWindow::showKeys()
{
    for (const auto& run : runs_.all()) {
        keys_.mention(run->snapshot().config.provider.key_name);
    }
    auto* dialog = new ApiKeysDialog(keys_, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::chooseFile()
{
    const QStringList recent = recentFiles();
    const QString folder = recent.isEmpty() ? QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation)
                                            : QFileInfo(recent.first()).absolutePath();
    const QString path = QFileDialog::getOpenFileName(this, tr("Open a run"), folder, tr("Runs (*.cuco)"));
    if (!path.isEmpty()) {
        openFile(path);
    }
}

void MainWindow::chooseTrace()
{
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open a trace"), QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation),
        tr("Traces (*.json *.json.gz *.sqlite *.trace);;All files (*)"));
    if (!path.isEmpty()) {
        openTrace(path);
    }
}

void MainWindow::resumeRun()
{
    if (!session_.run()) {
        return;
    }
    askForConsent();
    if (session_.snapshot().state == RunState::paused) {
        session_.run()->resume();
    } else {
        session_.run()->start();
    }
}

void MainWindow::continueFrom(const QString& id)
{
    if (session_.run() && session_.candidate(id)) {
        askForConsent();
        session_.run()->continueFrom(id);
    }
}

void MainWindow::askForConsent()
{
    RunModel* run = session_.run();
    const auto question = run->consentQuestion();
    if (!question) {
        return;
    }
    // The file says what stands there: plain text, without lines of its own.
    QMessageBox box(
        QMessageBox::Question, tr("Use the provider of this file?"),
        tr("%1\n\nDo you want that? Otherwise the run pauses when it needs an answer.").arg(question->simplified()),
        QMessageBox::Yes | QMessageBox::No, this);
    box.setObjectName(QStringLiteral("consent"));
    box.setTextFormat(Qt::PlainText);
    box.setDefaultButton(QMessageBox::No);
    box.setEscapeButton(QMessageBox::No);
    if (box.exec() == QMessageBox::Yes) {
        run->agreeToProvider();
    }
}

void MainWindow::showShortcuts()
{
    auto* dialog = new ShortcutsDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::showAbout()
{
    QMessageBox::about(this, tr("CUCo Desktop"),
                       tr("<h3>CUCo Desktop %1</h3><p>Finds faster multi-GPU CUDA kernels. The method is CUCo's "
                          "(arXiv 2603.02376).</p><p>GPL-3.0-or-later; the workloads are Apache-2.0.</p>")
                           .arg(QStringLiteral(CUCO_VERSION)));
}

}  // namespace cuco::ui
