// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/error_bar.h"
#include "ui/shell/new_run_dialog.h"
#include "ui/shell/recent_files.h"
#include "ui/style/theme.h"
#include "ui/views/diff/diff_editor.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/diff_view.h"
#include "ui_test_support.h"

#include <QAction>
#include <QComboBox>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabWidget>
#include <QTest>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

class MainWindowTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void startsWithAWayToANewRun();
    void opensARunAndSelectsItsBest();
    void aDamagedFileIsAnErrorThatStaysUntilDismissed();
    void aDroppedFileOpens();
    void anOpenedFileIsRecent();
    void keysReachEveryTab();
    void openingTheSourceShowsTheDiff();
    void promotingAndUndoingIsStoredInTheFile();
    void rejectingIsStoredWithItsReason();
    void thePaletteRunsACommand();
    void thePaletteHasEveryActionThatIsEnabled();
    void closingARunLeadsBackToTheStart();
    void twoRunsAreOpenSideBySide();
    void theWindowComesBackAsItWas();
    void aNewRunGoesToItsEndOnTheEmulatedNode();

private:
    QString freshRun(const QString& name);
    template <class Widget>
    Widget* child(const char* name) const
    {
        return window_->findChild<Widget*>(QString::fromLatin1(name));
    }

    PrivateFolder folder_;
    std::unique_ptr<MainWindow> window_;
};

void MainWindowTest::initTestCase()
{
    qputenv("CUCO_DATA_DIR", CUCO_TEST_ROOT);
    applyTheme(*qApp, ColorScheme::light);
}

void MainWindowTest::init()
{
    window_ = std::make_unique<MainWindow>();
    window_->resize(1280, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
}

void MainWindowTest::cleanup()
{
    window_.reset();
}

QString MainWindowTest::freshRun(const QString& name)
{
    const QString path = folder_.file(name + QStringLiteral(".cuco"));
    writeRunFile(path);
    return path;
}

void MainWindowTest::startsWithAWayToANewRun()
{
    QVERIFY(!child<QTabWidget>("tabs")->isVisible());
    QVERIFY(window_->actions().new_run->isEnabled());
    QVERIFY(!window_->actions().promote->isEnabled());
    QVERIFY(!window_->actions().close_run->isEnabled());
    QCOMPARE(window_->actions().new_run->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_N));
}

void MainWindowTest::opensARunAndSelectsItsBest()
{
    QVERIFY(window_->openFile(freshRun(QStringLiteral("opens"))));
    QVERIFY(child<QTabWidget>("tabs")->isVisible());
    QCOMPARE(window_->session()->primary(), QString::fromStdString(bestOf(window_->session()->snapshot())->id));
    QVERIFY(window_->windowTitle().startsWith(QStringLiteral("opens")));
    QVERIFY(child<QLabel>("status")->text().contains(QStringLiteral("modelled")));
    QVERIFY(window_->actions().promote->isEnabled());
    QVERIFY(!window_->actions().start->isEnabled());
    QVERIFY(!window_->actions().undo->isEnabled());
}

void MainWindowTest::aDamagedFileIsAnErrorThatStaysUntilDismissed()
{
    QFile file(folder_.file(QStringLiteral("damaged.cuco")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("no run");
    file.close();
    QVERIFY(!window_->openFile(file.fileName()));
    auto* bar = child<ErrorBar>("errorBar");
    QVERIFY(bar->isVisible());
    QVERIFY(!bar->text().isEmpty());
    QVERIFY(window_->openFile(freshRun(QStringLiteral("sound"))));
    QVERIFY(bar->isVisible());
    bar->dismiss();
    QVERIFY(!bar->isVisible());
}

void MainWindowTest::aDroppedFileOpens()
{
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(freshRun(QStringLiteral("dropped")))});
    QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window_.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window_.get(), &drop);
    QVERIFY(window_->session()->run());
}

void MainWindowTest::anOpenedFileIsRecent()
{
    const QString path = freshRun(QStringLiteral("recent"));
    QVERIFY(window_->openFile(path));
    QCOMPARE(recentFiles().first(), path);
    QCOMPARE(window_->actions().recent_menu->actions().first()->text(), QStringLiteral("recent"));
    QVERIFY(QFile::remove(path));
    QVERIFY(!recentFiles().contains(path));
}

void MainWindowTest::keysReachEveryTab()
{
    QVERIFY(window_->openFile(freshRun(QStringLiteral("keys"))));
    window_->activateWindow();
    for (int tab = 6; tab >= 0; --tab) {
        QTest::keyClick(window_.get(), static_cast<Qt::Key>(Qt::Key_1 + tab), Qt::ControlModifier);
        QCOMPARE(child<QTabWidget>("tabs")->currentIndex(), tab);
    }
}

void MainWindowTest::openingTheSourceShowsTheDiff()
{
    QVERIFY(window_->openFile(freshRun(QStringLiteral("source"))));
    window_->actions().open_source->trigger();
    QCOMPARE(child<QTabWidget>("tabs")->currentIndex(), static_cast<int>(Tab::diff));
    window_->showTab(Tab::population);
    window_->session()->openSource(QStringLiteral("c4"), 7);
    const auto* editor = window_->findChild<DiffView*>()->panel()->editor(PageKind::right);
    int line = -1, column = -1;
    editor->getCursorPosition(&line, &column);
    QCOMPARE(editor->page().lines[static_cast<std::size_t>(line)].right_line, 7);
    window_->session()->openSource(QStringLiteral("c0"));
    QVERIFY2(window_->findChild<DiffView*>()->message().isEmpty(), "a seed has no parent, but a source");
    QVERIFY(editor->text().contains(QStringLiteral("// c0")));
}

void MainWindowTest::promotingAndUndoingIsStoredInTheFile()
{
    const QString path = freshRun(QStringLiteral("promote"));
    QVERIFY(window_->openFile(path));
    const QString best = window_->session()->primary();
    window_->actions().promote->trigger();
    QTest::keyClicks(child<QLineEdit>("reason"), QStringLiteral("fast"));
    QTest::keyClick(child<QLineEdit>("reason"), Qt::Key_Return);
    // Its source is a stand-in that the emulated node refuses, so the promotion is stored, measured again and refused.
    const auto decisions = [&] { return window_->session()->snapshot().decisions; };
    QTRY_VERIFY_WITH_TIMEOUT(!decisions().empty() && decisions().back().standing != PromotionStanding::pending,
                             120'000);
    QVERIFY(decisions().back().standing == PromotionStanding::refused);
    QVERIFY(!decisions().back().finding.empty());
    QVERIFY(!window_->session()->candidate(best)->decision);
    QTRY_VERIFY(window_->actions().undo->isEnabled());
    QCOMPARE(window_->session()->primary(), best);
    {
        const auto stored = RunModel::open(path);
        QCOMPARE((*stored)->snapshot().decisions.size(), std::size_t{1});
        QCOMPARE((*stored)->snapshot().decisions.back().reason, std::string("fast"));
        QVERIFY((*stored)->snapshot().decisions.back().standing == PromotionStanding::refused);
    }
    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(decisions().back().undone);
    QTRY_VERIFY(!window_->actions().undo->isEnabled());
}

void MainWindowTest::rejectingIsStoredWithItsReason()
{
    const QString path = freshRun(QStringLiteral("reject"));
    QVERIFY(window_->openFile(path));
    window_->session()->select(QStringLiteral("c12"));
    window_->actions().reject->trigger();
    QTest::keyClicks(child<QLineEdit>("reason"), QStringLiteral("too clever"));
    QTest::keyClick(child<QLineEdit>("reason"), Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(window_->session()->candidate(QStringLiteral("c12"))->decision == DecisionKind::rejected,
                             20'000);
    window_.reset();
    const auto stored = RunModel::open(path);
    QCOMPARE((*stored)->candidate(QStringLiteral("c12"))->decision_reason, std::string("too clever"));
}

void MainWindowTest::thePaletteRunsACommand()
{
    QVERIFY(window_->openFile(freshRun(QStringLiteral("palette"))));
    window_->actions().palette->trigger();
    auto* palette = child<CommandPalette>("commandPalette");
    QVERIFY(palette->isVisible());
    auto* words = palette->findChild<QLineEdit*>();
    QTest::keyClicks(words, QStringLiteral("timel"));
    QVERIFY(palette->shown().first().contains(QStringLiteral("Timeline")));
    QTest::keyClick(words, Qt::Key_Return);
    QTRY_COMPARE(child<QTabWidget>("tabs")->currentIndex(), static_cast<int>(Tab::timeline));
    QVERIFY(!palette->isVisible());
}

void MainWindowTest::thePaletteHasEveryActionThatIsEnabled()
{
    auto* palette = child<CommandPalette>("commandPalette");
    palette->popUp();
    const QString without_run = palette->shown().join(QLatin1Char('\n'));
    QVERIFY(without_run.contains(QStringLiteral("New run")));
    QVERIFY(!without_run.contains(QStringLiteral("Close run")));
    palette->close();
    QVERIFY(window_->openFile(freshRun(QStringLiteral("all"))));
    palette->popUp();
    const QString with_run = palette->shown().join(QLatin1Char('\n'));
    for (const char* text : {"Close run", "Promote", "Reject", "Open source", "Compare with its parent", "Inspector"}) {
        QVERIFY2(with_run.contains(QLatin1String(text)), text);
    }
    palette->close();
}

void MainWindowTest::closingARunLeadsBackToTheStart()
{
    QVERIFY(window_->openFile(freshRun(QStringLiteral("closing"))));
    window_->actions().close_run->trigger();
    QVERIFY(!child<QTabWidget>("tabs")->isVisible());
    QVERIFY(window_->runs().all().empty());
    QVERIFY(window_->session()->primary().isEmpty());
}

void MainWindowTest::twoRunsAreOpenSideBySide()
{
    QVERIFY(window_->openFile(freshRun(QStringLiteral("first"))));
    QVERIFY(window_->openFile(freshRun(QStringLiteral("second"))));
    QCOMPARE(window_->runs().all().size(), std::size_t{2});
    window_->showRun(window_->runs().all().front().get());
    QVERIFY(window_->windowTitle().startsWith(QStringLiteral("first")));
    window_->actions().close_run->trigger();
    QVERIFY(window_->windowTitle().startsWith(QStringLiteral("second")));
}

void MainWindowTest::theWindowComesBackAsItWas()
{
    window_->resize(1000, 700);
    window_->close();
    window_ = std::make_unique<MainWindow>();
    QCOMPARE(window_->size(), QSize(1000, 700));
}

void MainWindowTest::aNewRunGoesToItsEndOnTheEmulatedNode()
{
    QSettings().setValue(QStringLiteral("newRun/folder"), folder_.file({}));
    window_->actions().new_run->trigger();
    auto* dialog = child<NewRunDialog>("newRun");
    QVERIFY(dialog);
    QTRY_VERIFY_WITH_TIMEOUT(window_->nodes().find(QStringLiteral("emulated")), 20'000);
    for (const char* field : {"generations", "islands", "children"}) {
        dialog->findChild<QSpinBox*>(QString::fromLatin1(field))->setValue(1);
    }
    auto* node = dialog->findChild<QComboBox*>(QStringLiteral("node"));
    node->setCurrentIndex(node->findData(QStringLiteral("emulated")));
    auto* ranks = dialog->findChild<QComboBox*>(QStringLiteral("ranks"));
    ranks->setCurrentIndex(ranks->findData(2));
    QTest::keyClick(dialog, Qt::Key_Return);
    QVERIFY(window_->session()->run()->isActive());
    QVERIFY(!child<QLabel>("status")->text().isEmpty());
    const auto state = [this] { return window_->session()->snapshot().state; };
    QTRY_VERIFY_WITH_TIMEOUT(state() == RunState::finished || state() == RunState::failed, 240'000);
    QVERIFY2(state() == RunState::finished, window_->session()->snapshot().message.c_str());
    QCOMPARE(window_->session()->snapshot().candidates.size(), std::size_t{2});
    QVERIFY(bestOf(window_->session()->snapshot()));
    QCOMPARE(window_->session()->timesNote(), QStringLiteral("modelled"));
    QVERIFY(
        window_->session()->timeline(QString::fromStdString(bestOf(window_->session()->snapshot())->id))->has_value());
}

QTEST_MAIN(MainWindowTest)
#include "main_window_test.moc"
