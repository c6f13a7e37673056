// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/source_tab.h"
#include "core/base/files.h"
#include "ui/shell/main_window.h"
#include "ui/style/theme.h"
#include "ui/views/diff/diff_editor.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/diff_view.h"
#include "ui/views/edit/copy_editor.h"
#include "ui/views/edit/copy_page.h"
#include "ui_test_support.h"

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QTabWidget>
#include <QTimer>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

namespace {

/// A finished run of a strategy of the product, c0, and of another one, c1.
void writeRun(const QString& path)
{
    RunConfig config;
    config.workload = "gemm_allgather";
    config.ranks = 2;
    config.islands = 2;
    config.generations = 0;
    auto file = RunFile::create(path.toStdString(), config);
    if (!file)
        qFatal("%s", describe(file.error()).c_str());
    int number = 0;
    for (const char* strategy : {"lsa_push_sequential", "stream_overlap_copy_engine"}) {
        const auto source = readFile(std::filesystem::path(CUCO_TEST_ROOT) / "workloads/gemm_allgather/strategies" /
                                         (strategy + std::string(".cu")),
                                     1u << 20);
        if (!source)
            qFatal("%s", describe(source.error()).c_str());
        Candidate candidate;
        candidate.number = number;
        candidate.id = "c" + std::to_string(number++);
        candidate.island = candidate.number;
        candidate.proposer = "seed";
        candidate.strategy = strategy;
        candidate.directive = *parseDirective(*KernelSource::parse(*source));
        candidate.source_sha256 = sha256Hex(*source);
        if (auto added = (*file)->addCandidate(candidate, *source, {}); !added)
            qFatal("%s", describe(added.error()).c_str());
        candidate.state = CandidateState::settled;
        candidate.evaluation = timedEvaluation(500, 705, true);
        require((*file)->settleCandidate(candidate, std::nullopt));
    }
    require((*file)->setState(RunState::finished, {}));
}

}  // namespace

class SourceTabTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void aCopyBeginsWithTheSourceInItsFirstBlock();
    void onlyEvolveBlocksCanBeTypedIn();
    void whatChangesFrozenCodeInAnotherWayIsTakenBack();
    void undoAndRedoAreTheEditors();
    void whatTheScreenRefusesIsSaidBeforeItIsSubmitted();
    void theChangesAreACheckAway();
    void whatWasTypedSurvivesAnotherSelectionWithItsUndo();
    void theStoredSourceCanBeReadBesideACopy();
    void aRefusedSubmissionLosesNothing();
    void throwingAwayAndClosingAsk();
    void aSubmittedCopyBecomesAChildThatIsSelected();

private:
    SourceTab& tab() const { return *window_->findChild<SourceTab*>(); }
    CopyEditor& editor() const { return *tab().copy()->editor(); }
    template <class Widget>
    Widget* child(const char* name) const
    {
        return tab().copy()->findChild<Widget*>(QString::fromLatin1(name));
    }
    QString status() const { return child<QLabel>("copyStatus")->text(); }
    void beginCopy(const QString& id);
    static void answerQuestion(bool throws_away, bool* asked);

    std::unique_ptr<PrivateFolder> folder_;
    std::unique_ptr<MainWindow> window_;
    QString path_;
    int runs_ = 0;
};

void SourceTabTest::initTestCase()
{
    qputenv("CUCO_DATA_DIR", CUCO_TEST_ROOT);
    folder_ = std::make_unique<PrivateFolder>();
    applyTheme(*qApp, ColorScheme::light);
}

void SourceTabTest::init()
{
    path_ = folder_->file(QStringLiteral("run%1.cuco").arg(++runs_));
    writeRun(path_);
    window_ = std::make_unique<MainWindow>();
    window_->resize(1280, 800);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    QVERIFY(window_->openFile(path_));
    window_->activateWindow();
}

void SourceTabTest::cleanup()
{
    window_.reset();
}

void SourceTabTest::beginCopy(const QString& id)
{
    window_->session()->select(id);
    QTest::keyClick(window_.get(), Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(tab().copy());
    QCOMPARE(tab().copy()->parentId(), id);
    QVERIFY(editor().hasFocus());
}

void SourceTabTest::answerQuestion(bool throws_away, bool* asked)
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

void SourceTabTest::aCopyBeginsWithTheSourceInItsFirstBlock()
{
    beginCopy(QStringLiteral("c1"));
    QCOMPARE(editor().source(), *window_->session()->source(QStringLiteral("c1")));
    int line = 0, column = 0;
    editor().getCursorPosition(&line, &column);
    QVERIFY(editor().text(line - 1).contains(QStringLiteral("EVOLVE-BLOCK-START")));
    QVERIFY(editor().markersAtLine(line) & (1u << CopyEditor::evolve_marker));
    QVERIFY(editor().markersAtLine(0) & (1u << CopyEditor::frozen_marker));
    QVERIFY(status().startsWith(QStringLiteral("Nothing is changed yet")));
    QVERIFY(!child<QPushButton>("submitCopy")->isEnabled());
    QVERIFY(!tab().copy()->isUnsaved());
}

void SourceTabTest::onlyEvolveBlocksCanBeTypedIn()
{
    beginCopy(QStringLiteral("c0"));
    const std::string before = editor().source();
    int first = 0, column = 0;
    editor().getCursorPosition(&first, &column);
    QTest::keyClick(&editor(), Qt::Key_Backspace);  // would join the marker's line with the next
    QCOMPARE(editor().source(), before);
    QVERIFY(status().contains(QStringLiteral("EVOLVE-BLOCK-START")));
    editor().setCursorPosition(0, 0);
    for (const int key : {Qt::Key_X, Qt::Key_Return, Qt::Key_Delete, Qt::Key_Tab})
        QTest::keyClick(&editor(), static_cast<Qt::Key>(key));
    QCOMPARE(editor().source(), before);
    editor().setCursorPosition(first, 0);
    QTest::keyClicks(&editor(), QStringLiteral("// mine"));
    QTest::keyClick(&editor(), Qt::Key_Return);
    QVERIFY(editor().source().contains("// EVOLVE-BLOCK-START\n// mine\n"));
    QTRY_VERIFY(status().startsWith(QStringLiteral("The screen finds nothing wrong")));
    QVERIFY(child<QPushButton>("submitCopy")->isEnabled());
}

void SourceTabTest::whatChangesFrozenCodeInAnotherWayIsTakenBack()
{
    beginCopy(QStringLiteral("c0"));
    const std::string before = editor().source();
    QGuiApplication::clipboard()->setText(QStringLiteral("int mine;\n"));
    editor().setCursorPosition(0, 0);
    QTest::keyClick(&editor(), Qt::Key_V, Qt::ControlModifier);
    QTRY_COMPARE(editor().source(), before);
    QTRY_VERIFY(status().contains(QStringLiteral("EVOLVE-BLOCK-START")));
    editor().selectAll();
    QTest::keyClick(&editor(), Qt::Key_X, Qt::ControlModifier);
    QTRY_COMPARE(editor().source(), before);
    QVERIFY(!tab().copy()->isUnsaved());
}

void SourceTabTest::undoAndRedoAreTheEditors()
{
    beginCopy(QStringLiteral("c0"));
    const std::string before = editor().source();
    QTest::keyClicks(&editor(), QStringLiteral("// mine "));
    const std::string after = editor().source();
    QVERIFY(after != before);
    QTest::keyClick(&editor(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(editor().source(), before);
    QTest::keyClick(&editor(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(editor().source(), after);
    QTest::keyClick(&editor(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(!tab().copy()->isUnsaved());
    QVERIFY(window_->session()->snapshot().decisions.empty());
}

void SourceTabTest::whatTheScreenRefusesIsSaidBeforeItIsSubmitted()
{
    beginCopy(QStringLiteral("c1"));
    QVERIFY(editor().findFirst(QStringLiteral("issuer=copy_engine"), false, true, false, true, true, 0, 0));
    QTest::keyClicks(&editor(), QStringLiteral("issuer=magic"));
    QTRY_VERIFY(editor().source().contains("issuer=magic") && !child<QPushButton>("submitCopy")->isEnabled());
    QTRY_VERIFY(status().startsWith(QStringLiteral("Line ")));
    int line = 0, column = 0;
    editor().getCursorPosition(&line, &column);
    QVERIFY(!editor().annotation(line).isEmpty());
    QVERIFY(tab().copy()->isUnsaved());
    QTest::keyClick(tab().copy(), Qt::Key_Return, Qt::ControlModifier);
    QVERIFY2(window_->session()->snapshot().candidates.size() == 2, "nothing was submitted");
}

void SourceTabTest::theChangesAreACheckAway()
{
    beginCopy(QStringLiteral("c0"));
    QTest::keyClicks(&editor(), QStringLiteral("// mine"));
    QTest::keyClick(&editor(), Qt::Key_Return);
    QTest::mouseClick(child<QCheckBox>("copyChanges"), Qt::LeftButton, {}, {10, 10});
    const auto* panel = tab().copy()->findChild<DiffPanel*>();
    QVERIFY(panel->isVisible());
    QCOMPARE(panel->diff().added, 1);
    QCOMPARE(panel->diff().removed, 0);
    QTest::mouseClick(child<QCheckBox>("copyChanges"), Qt::LeftButton, {}, {10, 10});
    QVERIFY(editor().isVisible());
}

void SourceTabTest::whatWasTypedSurvivesAnotherSelectionWithItsUndo()
{
    beginCopy(QStringLiteral("c0"));
    QTest::keyClicks(&editor(), QStringLiteral("// mine "));
    QTest::keyClick(&editor(), Qt::Key_Escape);
    QVERIFY(!editor().hasFocus());
    QTest::keyClicks(child<QLineEdit>("copyNote"), QStringLiteral("a remark"));
    window_->session()->select(QStringLiteral("c1"));
    QVERIFY(!tab().copy());
    QVERIFY(tab().diff()->isVisible());
    window_->session()->select(QStringLiteral("c0"));
    QVERIFY(tab().copy());
    QVERIFY(editor().source().contains("// mine "));
    QCOMPARE(child<QLineEdit>("copyNote")->text(), QStringLiteral("a remark"));
    editor().setFocus();
    QTest::keyClick(&editor(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(!editor().source().contains("// mine "));
}

void SourceTabTest::theStoredSourceCanBeReadBesideACopy()
{
    beginCopy(QStringLiteral("c0"));
    QTest::keyClicks(&editor(), QStringLiteral("// mine "));
    QTest::mouseClick(child<QPushButton>("hideCopy"), Qt::LeftButton);
    QVERIFY(!tab().copy());
    QVERIFY(tab().diff()->isVisible());
    QTRY_VERIFY(window_->actions().edit_copy->text().startsWith(QStringLiteral("Go on editing")));
    beginCopy(QStringLiteral("c0"));
    QVERIFY(editor().source().contains("// mine "));
    window_->session()->openSource(QStringLiteral("c0"), 5);
    QVERIFY(tab().diff()->isVisible());
    QVERIFY(tab().hasCopy(QStringLiteral("c0")));
}

void SourceTabTest::aRefusedSubmissionLosesNothing()
{
    const auto writer = RunFile::open(path_.toStdString(), RunFile::Access::write);
    QVERIFY(writer.has_value());
    beginCopy(QStringLiteral("c0"));
    QTest::keyClicks(&editor(), QStringLiteral("// mine"));
    QTest::keyClick(&editor(), Qt::Key_Return);
    const std::string typed = editor().source();
    QTest::keyClick(&editor(), Qt::Key_Return, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(child<QPushButton>("discardCopy")->isEnabled(), 20'000);
    QVERIFY2(status().contains(QStringLiteral("another")) || status().contains(QStringLiteral("open")),
             qPrintable(status()));
    QCOMPARE(editor().source(), typed);
    QVERIFY(!editor().isReadOnly());
    QVERIFY(tab().copy()->isUnsaved());
    QVERIFY(child<QPushButton>("submitCopy")->isEnabled());
}

void SourceTabTest::throwingAwayAndClosingAsk()
{
    beginCopy(QStringLiteral("c0"));
    QTest::keyClicks(&editor(), QStringLiteral("// mine "));
    QTRY_VERIFY(tab().copy()->isUnsaved());
    bool asked = false;
    answerQuestion(false, &asked);
    window_->actions().close_run->trigger();
    QVERIFY(asked);
    QVERIFY(window_->session()->run());
    asked = false;
    answerQuestion(false, &asked);
    QTest::mouseClick(child<QPushButton>("discardCopy"), Qt::LeftButton);
    QVERIFY(asked && tab().copy());
    asked = false;
    answerQuestion(true, &asked);
    QTest::mouseClick(child<QPushButton>("discardCopy"), Qt::LeftButton);
    QVERIFY(asked && !tab().copy());
    QVERIFY(window_->close());
}

void SourceTabTest::aSubmittedCopyBecomesAChildThatIsSelected()
{
    beginCopy(QStringLiteral("c1"));
    QTest::keyClicks(&editor(), QStringLiteral("// mine"));
    QTest::keyClick(&editor(), Qt::Key_Return);
    child<QLineEdit>("copyNote")->setFocus();
    QTest::keyClicks(child<QLineEdit>("copyNote"), QStringLiteral("with a remark"));
    const std::string typed = editor().source();
    QTRY_VERIFY(child<QPushButton>("submitCopy")->isEnabled());
    QTest::mouseClick(child<QPushButton>("submitCopy"), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(window_->session()->primary(), QStringLiteral("c2"), 140'000);
    QVERIFY(!tab().copy());
    const Candidate* made = window_->session()->candidate(QStringLiteral("c2"));
    QCOMPARE(made->parents, std::vector<std::string>{"c1"});
    QCOMPARE(made->summary, std::string("with a remark"));
    QCOMPARE(*window_->session()->source(QStringLiteral("c2")), typed);
    QVERIFY(tab().unsaved(window_->session()->run()).isEmpty());
    const auto settled = [this] { return window_->session()->evaluation(QStringLiteral("c2")); };
    QTRY_VERIFY_WITH_TIMEOUT(settled(), 140'000);
    QVERIFY2(settled()->verified(), settled()->message.c_str());
    QVERIFY(settled()->modelled);
}

QTEST_MAIN(SourceTabTest)
#include "source_tab_test.moc"
