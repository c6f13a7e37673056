// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/notes_view.h"
#include "ui/shell/main_window.h"
#include "ui/style/theme.h"
#include "ui/views/diff/diff_editor.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/notes/notes_model.h"
#include "ui/views/trace/step_text.h"
#include "ui_test_support.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QLabel>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QTimer>
#include <QTreeView>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

namespace {

/// A paused search by a person's answers, with what a model and a person noted.
std::unique_ptr<RunFile> writeSearch(const QString& path, const std::string& proposer = "llm")
{
    RunConfig config;
    config.workload = "gemm_allgather";
    config.proposer = proposer;
    config.provider.provider = "manual";
    auto file = RunFile::create(path.toStdString(), config);
    if (!file)
        qFatal("%s", describe(file.error()).c_str());
    require((*file)->setState(RunState::paused, {}));
    return std::move(*file);
}

void addVersion(RunFile& file, const Scratchpad& notes)
{
    AgentStep step = toStep(notes);
    step.time_ms = 1'700'000'000'000;
    if (auto added = file.addSteps({step}); !added)
        qFatal("%s", describe(added.error()).c_str());
}

}  // namespace

class NotesViewTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void theLatestVersionStandsFirstAndIsRead();
    void twoChosenVersionsShowWhatChangedBetweenThem();
    void changesSinceTheVersionBeforeAreACheckAway();
    void aRunWithoutModelsSaysWhyItHasNoNotes();
    void aSearchWithoutNotesCanBeGivenSome();
    void savingMakesAVersionThatTheFileHas();
    void notesThatAreTooLongAreSaidBeforeTheyAreSaved();
    void aTextThatIsFarTooLongIsNotPasted();
    void aRunThatAnotherProgramWritesKeepsWhatWasTyped();
    void revertingCanBeUndone();
    void aVersionThatCameMeanwhileIsTold();
    void whatWasTypedSurvivesAnotherRunAndClosingAsks();

private:
    /// Opens the run and shows its notes.
    void open(const QString& path);
    NotesView& view() const { return *window_->findChild<NotesView*>(); }
    template <class Widget>
    Widget* child(const char* name) const
    {
        return view().findChild<Widget*>(QString::fromLatin1(name));
    }
    void beginEditing();
    QString problem() const { return child<QLabel>("notesProblem")->text(); }
    QString text() const { return child<QPlainTextEdit>("notesText")->toPlainText(); }
    QString cell(int row, int column) const { return view().model()->index(row, column).data().toString(); }
    /// Clicks a button of the question as soon as it is asked.
    static void answerQuestion(bool throws_away, bool* asked);

    std::unique_ptr<PrivateFolder> folder_;
    std::unique_ptr<MainWindow> window_;
    QString path_;
    int runs_ = 0;
};

void NotesViewTest::initTestCase()
{
    qputenv("CUCO_DATA_DIR", CUCO_TEST_ROOT);
    folder_ = std::make_unique<PrivateFolder>();
    applyTheme(*qApp, ColorScheme::light);
}

void NotesViewTest::init()
{
    path_ = folder_->file(QStringLiteral("search%1.cuco").arg(++runs_));
    window_ = std::make_unique<MainWindow>();
    window_->resize(1280, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
}

void NotesViewTest::cleanup()
{
    window_.reset();
}

void NotesViewTest::open(const QString& path)
{
    QVERIFY(window_->openFile(path));
    window_->showTab(Tab::notes);
}

void NotesViewTest::beginEditing()
{
    QTest::mouseClick(child<QPushButton>("editNotes"), Qt::LeftButton);
    QVERIFY(child<QPlainTextEdit>("notesText")->hasFocus());
}

void NotesViewTest::answerQuestion(bool throws_away, bool* asked)
{
    QTimer::singleShot(0, qApp, [=] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        QVERIFY(box);
        *asked = true;
        for (QAbstractButton* button : box->buttons())
            if ((box->buttonRole(button) == QMessageBox::DestructiveRole) == throws_away)
                QTest::mouseClick(button, Qt::LeftButton);
    });
}

void NotesViewTest::theLatestVersionStandsFirstAndIsRead()
{
    {
        const auto file = writeSearch(path_);
        addVersion(*file, {8, false, "## Findings\nChunks of 1 MiB help.\n"});
        addVersion(*file, {11, true, "## Findings\n**Engines** too.\n"});
    }
    open(path_);
    QAbstractItemModelTester tester(view().model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    QCOMPARE(view().model()->rowCount(), 2);
    QCOMPARE(cell(0, NotesModel::number_column), QStringLiteral("2"));
    QCOMPARE(cell(0, NotesModel::writer_column), QStringLiteral("a person"));
    QCOMPARE(cell(0, NotesModel::candidates_column), QStringLiteral("11 candidates"));
    QCOMPARE(cell(1, NotesModel::writer_column), QStringLiteral("a model"));
    QVERIFY(view().text()->toPlainText().contains(QStringLiteral("Engines too.")));
    QVERIFY2(!view().text()->toPlainText().contains(QStringLiteral("**")), "Markdown is rendered");
    QTest::keyClick(view().list(), Qt::Key_Down);
    QVERIFY(view().text()->toPlainText().contains(QStringLiteral("Chunks of 1 MiB help.")));
    QVERIFY(child<QLabel>("notesHeading")->text().contains(QStringLiteral("prompts of all later proposals")));
}

void NotesViewTest::twoChosenVersionsShowWhatChangedBetweenThem()
{
    {
        const auto file = writeSearch(path_);
        addVersion(*file, {8, false, "one\ntwo\n"});
        addVersion(*file, {16, false, "one\ntwo\nthree\n"});
        addVersion(*file, {24, false, "one\nthree\nfour\n"});
    }
    open(path_);
    const QRect first = view().list()->visualRect(view().model()->index(2, 0));
    QTest::mouseClick(view().list()->viewport(), Qt::LeftButton, Qt::ControlModifier, first.center());
    QCOMPARE(child<QLabel>("notesShown")->text(), QStringLiteral("Version 1 ↔ 3: +2 −1"));
    QVERIFY(view().changes()->isVisible());
    QVERIFY(view().changes()->editor(PageKind::right)->text().contains(QStringLiteral("four")));
}

void NotesViewTest::changesSinceTheVersionBeforeAreACheckAway()
{
    {
        const auto file = writeSearch(path_);
        addVersion(*file, {8, false, "one\n"});
        addVersion(*file, {16, false, "one\ntwo\n"});
    }
    open(path_);
    QTest::mouseClick(child<QCheckBox>("notesChanges"), Qt::LeftButton, {}, {10, 10});
    QCOMPARE(child<QLabel>("notesShown")->text(), QStringLiteral("Version 1 ↔ 2: +1 −0"));
    QTest::keyClick(view().list(), Qt::Key_Down);
    QCOMPARE(child<QLabel>("notesShown")->text(), QStringLiteral("Version 1, the first: +1 −0"));
}

void NotesViewTest::aRunWithoutModelsSaysWhyItHasNoNotes()
{
    writeSearch(path_, "tunable");
    open(path_);
    QVERIFY(child<QLabel>("notesHeading")->text().contains(QStringLiteral("asks no model")));
    QVERIFY(!child<QPushButton>("editNotes")->isEnabled());
}

void NotesViewTest::aSearchWithoutNotesCanBeGivenSome()
{
    writeSearch(path_);
    open(path_);
    QVERIFY(child<QLabel>("notesHeading")->text().contains(QStringLiteral("Every 8 candidates")));
    beginEditing();
    QCOMPARE(text(), QString());
    QVERIFY(!child<QPushButton>("saveNotes")->isEnabled());
}

void NotesViewTest::savingMakesAVersionThatTheFileHas()
{
    addVersion(*writeSearch(path_), {8, false, "Chunks help."});
    open(path_);
    beginEditing();
    auto* typed = child<QPlainTextEdit>("notesText");
    QTest::keyClick(typed, Qt::Key_End, Qt::ControlModifier);
    QTest::keyClick(typed, Qt::Key_Return);
    QTest::keyClicks(typed, QStringLiteral("Try GIN."));
    QTest::keyClick(typed, Qt::Key_S, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(view().model()->rowCount(), 2, 20'000);
    QTRY_VERIFY(view().text()->isVisible());
    QVERIFY(view().text()->toPlainText().contains(QStringLiteral("Try GIN.")));
    QCOMPARE(cell(0, NotesModel::writer_column), QStringLiteral("a person"));
    QVERIFY(!view().isUnsaved(window_->session()->run()));
    const auto stored = RunFile::open(path_.toStdString(), RunFile::Access::read);
    const auto versions = scratchpadVersions(*(*stored)->scratchpads());
    QCOMPARE(versions.back().notes.text, std::string("Chunks help.\nTry GIN."));
    QVERIFY(versions.back().notes.by_person);
}

void NotesViewTest::notesThatAreTooLongAreSaidBeforeTheyAreSaved()
{
    addVersion(*writeSearch(path_), {8, false, std::string(most_scratchpad_bytes, 'x')});
    open(path_);
    beginEditing();
    QTest::keyClicks(child<QPlainTextEdit>("notesText"), QStringLiteral("yy"));
    QCOMPARE(problem(), QStringLiteral("The notes are too long by 2 bytes. Shorten them."));
    QVERIFY(!child<QPushButton>("saveNotes")->isEnabled());
    QTest::keyClick(child<QPlainTextEdit>("notesText"), Qt::Key_Backspace);
    QTest::keyClick(child<QPlainTextEdit>("notesText"), Qt::Key_Backspace);
    QVERIFY(problem().isEmpty());
}

void NotesViewTest::aTextThatIsFarTooLongIsNotPasted()
{
    writeSearch(path_);
    open(path_);
    beginEditing();
    QGuiApplication::clipboard()->setText(QString(1'000'000, QLatin1Char('x')));
    QTest::keyClick(child<QPlainTextEdit>("notesText"), Qt::Key_V, Qt::ControlModifier);
    QVERIFY(text().isEmpty());
    QVERIFY(problem().contains(QStringLiteral("far too long")));
}

void NotesViewTest::aRunThatAnotherProgramWritesKeepsWhatWasTyped()
{
    auto writer = writeSearch(path_);
    open(path_);
    beginEditing();
    QTest::keyClicks(child<QPlainTextEdit>("notesText"), QStringLiteral("mine"));
    QTest::mouseClick(child<QPushButton>("saveNotes"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!problem().isEmpty() && problem() != QStringLiteral("Saving…"), 20'000);
    QCOMPARE(text(), QStringLiteral("mine"));
    QVERIFY(view().isUnsaved(window_->session()->run()));
    writer.reset();
    QTest::mouseClick(child<QPushButton>("saveNotes"), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(view().model()->rowCount(), 1, 20'000);
}

void NotesViewTest::revertingCanBeUndone()
{
    addVersion(*writeSearch(path_), {8, false, "theirs"});
    open(path_);
    beginEditing();
    auto* typed = child<QPlainTextEdit>("notesText");
    QTest::keyClicks(typed, QStringLiteral("mine, not "));
    QTest::mouseClick(child<QPushButton>("revertNotes"), Qt::LeftButton);
    QCOMPARE(text(), QStringLiteral("theirs"));
    QVERIFY(!view().isUnsaved(window_->session()->run()));
    QTest::keyClick(typed, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(text(), QStringLiteral("mine, not theirs"));
}

void NotesViewTest::aVersionThatCameMeanwhileIsTold()
{
    const auto writer = writeSearch(path_);
    addVersion(*writer, {8, false, "old"});
    open(path_);
    beginEditing();
    QTest::keyClicks(child<QPlainTextEdit>("notesText"), QStringLiteral("mine "));
    addVersion(*writer, {16, false, "new"});
    window_->session()->run()->apply(StepsAdded{});
    QVERIFY2(problem().contains(QStringLiteral("version 2, by a model")), qPrintable(problem()));
    QCOMPARE(text(), QStringLiteral("mine old"));
    QTest::mouseClick(child<QPushButton>("revertNotes"), Qt::LeftButton);
    QCOMPARE(text(), QStringLiteral("new"));
}

void NotesViewTest::whatWasTypedSurvivesAnotherRunAndClosingAsks()
{
    writeSearch(path_);
    const QString other = folder_->file(QStringLiteral("other%1.cuco").arg(runs_));
    writeSearch(other);
    open(path_);
    RunModel* run = window_->session()->run();
    beginEditing();
    QTest::keyClicks(child<QPlainTextEdit>("notesText"), QStringLiteral("mine"));
    QTest::keyClick(child<QPlainTextEdit>("notesText"), Qt::Key_Escape);
    QVERIFY(view().text()->isVisible());
    QCOMPARE(child<QPushButton>("editNotes")->text(), QStringLiteral("Go on &editing"));
    open(other);
    window_->showRun(run);
    beginEditing();
    QCOMPARE(text(), QStringLiteral("mine"));

    bool asked = false;
    answerQuestion(false, &asked);
    window_->actions().close_run->trigger();
    QVERIFY(asked);
    QCOMPARE(window_->session()->run(), run);
    asked = false;
    answerQuestion(false, &asked);
    QVERIFY(!window_->close());
    QVERIFY(asked && window_->isVisible());
    answerQuestion(true, &asked);
    window_->actions().close_run->trigger();
    QCOMPARE(window_->session()->run()->path(), other);
    QVERIFY(window_->close());
}

QTEST_MAIN(NotesViewTest)
#include "notes_view_test.moc"
