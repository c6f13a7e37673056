// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_session.h"
#include "ui/keys/key_places.h"
#include "ui/shell/main_actions.h"
#include "ui/shell/node_probes.h"
#include "ui/shell/open_runs.h"

#include <QMainWindow>

#include <memory>

class QDockWidget;
class QLabel;
class QProgressBar;
class QStackedWidget;
class QTabWidget;

namespace cuco::ui {

class AnswerPanel;
class CommandPalette;
class ErrorBar;
class FastPathView;
class Inspector;
class NotesView;
class PopulationView;
class RunList;
class RunListModel;
class SourceTab;
class StartPage;

enum class Tab { population, archive, diff, timeline, traces, notes, log };

/// The one window: list of runs, tabs, inspector, status line. It puts the parts together and says what the
/// actions do; what is shown is the parts' own business.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    /// Without a keychain keys come from the environment only.
    explicit MainWindow(std::shared_ptr<Keychain> keychain = nullptr);
    ~MainWindow() override;

    RunSession* session() { return &session_; }
    OpenRuns& runs() { return runs_; }
    const MainActions& actions() const { return actions_; }
    NodeProbes& nodes() { return nodes_; }

    /// Shows the error bar when it cannot be opened.
    /// A run; or a trace by its ending, in a window of its own.
    bool openFile(const QString& path);
    /// Whatever its ending; a file that is no trace says so in that window.
    void openTrace(const QString& path);
    void showRun(RunModel* run);
    void showTab(Tab tab);
    QWidget* part(const QString& name) const;  ///< "lineage", "inspector"; null for any other
    void showError(const Error& error);

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeCentre();
    void makeDocks();
    void makeStatusBar();
    void connectActions();
    void connectCandidateActions();
    void connectViewActions();
    void restoreWindow();

    void newRun();
    void showKeys();
    void chooseFile();
    void chooseTrace();
    void closeRun();
    /// What a person typed in the run and did not save or submit, as it is named to them.
    QStringList unsavedIn(const RunModel* run) const;
    /// Asks first where the run's provider needs a person's consent.
    void resumeRun();
    void continueFrom(const QString& id);
    void askForConsent();
    void compareWithBaseline();
    void showShortcuts();
    void showAbout();
    void showPopulationPage();
    void showAnswerDock();
    void refreshRecent();
    void refreshActions();
    void refreshStatus();

    NodeProbes nodes_;
    std::shared_ptr<Keychain> keychain_;
    KeyPlaces keys_;
    OpenRuns runs_;
    RunSession session_;
    MainActions actions_;
    QString demo_path_;
    ErrorBar* errors_ = nullptr;
    QStackedWidget* pages_ = nullptr;
    StartPage* start_page_ = nullptr;
    QTabWidget* tabs_ = nullptr;
    PopulationView* population_ = nullptr;
    FastPathView* fast_path_ = nullptr;
    QStackedWidget* population_pages_ = nullptr;  ///< which of the two, by what the run does
    SourceTab* sources_ = nullptr;
    NotesView* notes_ = nullptr;
    RunListModel* run_list_model_ = nullptr;
    RunList* run_list_ = nullptr;
    Inspector* inspector_ = nullptr;
    AnswerPanel* answer_ = nullptr;
    QDockWidget *runs_dock_ = nullptr, *inspector_dock_ = nullptr, *answer_dock_ = nullptr;
    bool inspector_wanted_ = true;  ///< shown whenever a run is
    QLabel* status_ = nullptr;
    QProgressBar* progress_ = nullptr;
    CommandPalette* palette_ = nullptr;
};

}  // namespace cuco::ui
