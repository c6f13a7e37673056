// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diff_view.h"
#include "ui/style/theme.h"
#include "ui/views/diff/diff_editor.h"
#include "ui/views/diff/diff_panel.h"
#include "ui/views/diff/hunk_overview.h"
#include "view_fixture.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QScrollBar>
#include <QSettings>
#include <QStandardPaths>

using namespace cuco;
using namespace cuco::ui;

namespace {

std::string numbered(int count, const std::function<std::string(int)>& line)
{
    std::string text;
    for (int i = 1; i <= count; ++i)
        text += line(i);
    return text;
}

std::string plain(int i)
{
    return "int line_" + std::to_string(i) + " = " + std::to_string(i) + ";\n";
}

DiffSide side(std::string text)
{
    DiffSide made;
    made.text = std::move(text);
    return made;
}

/// 200 lines: 50 is changed in one word, 100 and 101 are only at the left, 150 is followed by one more at the right.
struct ShownPanel {
    ShownPanel()
    {
        left = numbered(200, plain);
        right = numbered(200, [](int i) -> std::string {
            if (i == 50)
                return "int line_50 = 5050;\n";
            if (i == 100 || i == 101)
                return "";
            return i == 150 ? plain(150) + "float added_here = 1;\n" : plain(i);
        });
        panel.resize(1000, 500);
        panel.show();
        if (auto done = panel.setSides(side(left), side(right)); !done)
            qFatal("%s", describe(done.error()).c_str());
    }
    DiffEditor& editor(PageKind kind) const { return *panel.editor(kind); }

    std::string left, right;
    DiffPanel panel;
};

bool hasMarker(const DiffEditor& editor, int line, DiffEditor::Marker marker)
{
    return editor.markersAtLine(line) & (1U << marker);
}

bool isVisible(const DiffEditor& editor, int line)
{
    return editor.SendScintilla(QsciScintillaBase::SCI_GETLINEVISIBLE, static_cast<unsigned long>(line)) != 0;
}

/// The text under an indicator in a line.
std::string indicated(const DiffEditor& editor, int line, DiffEditor::Indicator indicator)
{
    const long begin = editor.SendScintilla(QsciScintillaBase::SCI_POSITIONFROMLINE, static_cast<unsigned long>(line));
    const auto& shown = editor.page().lines[static_cast<std::size_t>(line)].text;
    std::string text;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (editor.SendScintilla(QsciScintillaBase::SCI_INDICATORVALUEAT, static_cast<unsigned long>(indicator),
                                 begin + static_cast<long>(i)) != 0)
            text += shown[i];
    }
    return text;
}

}  // namespace

class DiffViewTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("cuco-tests"));
        QCoreApplication::setApplicationName(QStringLiteral("diff_view_test"));
        applyTheme(*qApp, ColorScheme::light);
    }
    void init() { QSettings().clear(); }
    void cleanupTestCase() { QSettings().clear(); }

    void bothSidesHaveALineForEachRow()
    {
        ShownPanel shown;
        const auto& left = shown.editor(PageKind::left).page().lines;
        const auto& right = shown.editor(PageKind::right).page().lines;
        QCOMPARE(left.size(), shown.panel.diff().rows.size());
        QCOMPARE(right.size(), left.size());
        QVERIFY(!left[99].filler && right[99].filler);
        QCOMPARE(left[99].left_line, 100);
        const auto added = std::ranges::find(right, DiffRowKind::added, &PageLine::kind);
        QCOMPARE(added->right_line, 149);
        QVERIFY(left[static_cast<std::size_t>(added - right.begin())].filler);
        QCOMPARE(shown.editor(PageKind::left).lines(), static_cast<int>(left.size()));
        QCOMPARE(shown.editor(PageKind::right).lines(), static_cast<int>(left.size()));
    }

    void changedLinesHaveABackground()
    {
        ShownPanel shown;
        QVERIFY(hasMarker(shown.editor(PageKind::left), 49, DiffEditor::removed_marker));
        QVERIFY(hasMarker(shown.editor(PageKind::right), 49, DiffEditor::added_marker));
        QVERIFY(hasMarker(shown.editor(PageKind::right), 99, DiffEditor::filler_marker));
        QVERIFY(!hasMarker(shown.editor(PageKind::right), 48, DiffEditor::added_marker));
    }

    void changedWordsAreIndicated()
    {
        ShownPanel shown;
        QCOMPARE(indicated(shown.editor(PageKind::left), 49, DiffEditor::removed_word), std::string("50"));
        QCOMPARE(indicated(shown.editor(PageKind::right), 49, DiffEditor::added_word), std::string("5050"));
        QCOMPARE(indicated(shown.editor(PageKind::right), 48, DiffEditor::added_word), std::string());
    }

    void eachSideCountsItsOwnLines()
    {
        ShownPanel shown;
        const auto& page = shown.editor(PageKind::right).page().lines;
        QCOMPARE(page[98].right_line, 99);
        QCOMPARE(page[99].right_line, 0);
        QCOMPARE(page[101].right_line, 100);
        QCOMPARE(shown.editor(PageKind::left).page().lines[101].left_line, 102);
    }

    void unchangedLinesAreFoldedOnBothSidesAndAClickShowsThem()
    {
        ShownPanel shown;
        DiffEditor &left = shown.editor(PageKind::left), &right = shown.editor(PageKind::right);
        for (const DiffEditor* editor : {&left, &right}) {
            QVERIFY(!isVisible(*editor, 20));
            QVERIFY(isVisible(*editor, 46));
            QVERIFY(isVisible(*editor, 49));
            QVERIFY(!isVisible(*editor, 70));
        }
        QVERIFY(left.annotation(0).contains(QStringLiteral("45 unchanged lines")));
        right.SendScintilla(QsciScintillaBase::SCI_SETFIRSTVISIBLELINE, 0UL);
        const int row = static_cast<int>(right.SendScintilla(QsciScintillaBase::SCI_TEXTHEIGHT, 0UL));
        QTest::mouseClick(right.viewport(), Qt::LeftButton, {}, QPoint(200, row + row / 2));
        for (const DiffEditor* editor : {&left, &right}) {
            QVERIFY(isVisible(*editor, 20));
            QVERIFY(!isVisible(*editor, 70));
        }
        QVERIFY(left.annotation(0).isEmpty());
    }

    void foldingCanBeTurnedOff()
    {
        ShownPanel shown;
        shown.panel.setFolded(false);
        for (int line = 0; line < 200; ++line)
            QVERIFY(isVisible(shown.editor(PageKind::left), line));
        shown.panel.setFolded(true);
        QVERIFY(!isVisible(shown.editor(PageKind::left), 20));
    }

    void theSidesScrollTogether()
    {
        ShownPanel shown;
        shown.panel.setFolded(false);
        shown.editor(PageKind::left).verticalScrollBar()->setValue(60);
        QCOMPARE(shown.editor(PageKind::right).verticalScrollBar()->value(), 60);
        shown.editor(PageKind::right).verticalScrollBar()->setValue(30);
        QCOMPARE(shown.editor(PageKind::left).verticalScrollBar()->value(), 30);
    }

    void nAndPGoFromChangeToChange()
    {
        ShownPanel shown;
        QCOMPARE(shown.panel.hunks(), 3);
        QCOMPARE(shown.panel.currentHunk(), -1);
        DiffEditor& right = shown.editor(PageKind::right);
        const auto lineOfCursor = [&] {
            int line = 0, index = 0;
            right.getCursorPosition(&line, &index);
            return line;
        };
        QTest::keyClick(&right, Qt::Key_N);
        QCOMPARE(lineOfCursor(), 49);
        QTest::keyClick(&right, Qt::Key_N);
        QCOMPARE(lineOfCursor(), 99);
        QTest::keyClick(&right, Qt::Key_N);
        QTest::keyClick(&right, Qt::Key_N);
        QCOMPARE(shown.panel.currentHunk(), 2);
        QTest::keyClick(&right, Qt::Key_P);
        QCOMPARE(lineOfCursor(), 99);
    }

    void theUnifiedPageHasRemovedLinesBeforeAddedOnes()
    {
        ShownPanel shown;
        shown.panel.setUnified(true);
        const DiffPage& page = shown.editor(PageKind::unified).page();
        QCOMPARE(page.lines[49].kind, DiffRowKind::removed);
        QCOMPARE(page.lines[49].left_line, 50);
        QCOMPARE(page.lines[50].kind, DiffRowKind::added);
        QCOMPARE(page.lines[50].right_line, 50);
        QCOMPARE(page.lines[51].left_line, 51);
        QCOMPARE(page.lines[51].right_line, 51);
        QVERIFY(std::ranges::none_of(page.lines, &PageLine::filler));
        QVERIFY(hasMarker(shown.editor(PageKind::unified), 49, DiffEditor::removed_marker));
        QCOMPARE(indicated(shown.editor(PageKind::unified), 49, DiffEditor::removed_word), std::string("50"));
        QCOMPARE(indicated(shown.editor(PageKind::unified), 50, DiffEditor::added_word), std::string("5050"));
        QCOMPARE(shown.panel.hunks(), 3);
    }

    void equalTextsHaveNoChangesAndNothingIsFolded()
    {
        DiffPanel panel;
        QVERIFY(panel.setSides(side(numbered(50, plain)), side(numbered(50, plain))));
        QCOMPARE(panel.hunks(), 0);
        QVERIFY(isVisible(*panel.editor(PageKind::left), 20));
        panel.goToHunk(+1);
        QCOMPARE(panel.currentHunk(), -1);
    }

    void emptyTextsAreShown()
    {
        DiffPanel panel;
        QVERIFY(panel.setSides(side(""), side("")));
        QVERIFY(panel.setSides(side(""), side("int a;\n")));
        QCOMPARE(panel.hunks(), 1);
        QVERIFY(panel.setSides(side("int a;\n"), side("")));
        QVERIFY(panel.editor(PageKind::right)->selectedSource().isEmpty());
    }

    void bytesThatAreNoTextKeepTheSidesInStep()
    {
        DiffPanel panel;
        QVERIFY(panel.setSides(side("a\r\nb\rc\n\xff\xfe\n"), side("a\r\nb\rd\n\xff\xfe\n")));
        QCOMPARE(panel.editor(PageKind::left)->lines(), panel.editor(PageKind::right)->lines());
        QCOMPARE(panel.editor(PageKind::left)->lines(), static_cast<int>(panel.diff().rows.size()));
    }

    void ignoringWhiteSpaceHidesReindentation()
    {
        DiffPanel panel;
        QVERIFY(panel.setSides(side("if (a)\nb();\n"), side("if (a)\n    b();\n")));
        QCOMPARE(panel.hunks(), 1);
        QVERIFY(panel.setIgnoreWhiteSpace(true));
        QCOMPARE(panel.hunks(), 0);
    }

    void copyingLeavesOutTheLinesThatOnlyFill()
    {
        ShownPanel shown;
        DiffEditor& right = shown.editor(PageKind::right);
        right.setSelection(98, 0, 102, 0);
        QTest::keyClick(&right, Qt::Key_C, Qt::ControlModifier);
        QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("int line_99 = 99;\nint line_102 = 102;\n"));
    }

    void findingOpensTheFoldItIsIn()
    {
        ShownPanel shown;
        QVERIFY(!isVisible(shown.editor(PageKind::right), 19));
        QVERIFY(shown.panel.find(QStringLiteral("LINE_20 "), true));
        QVERIFY(isVisible(shown.editor(PageKind::right), 19));
        QVERIFY(isVisible(shown.editor(PageKind::left), 19));
        QCOMPARE(shown.editor(PageKind::right).selectedText(), QStringLiteral("line_20 "));
        QVERIFY(!shown.panel.find(QStringLiteral("is not in there"), true));
    }

    void findingGoesOnAndRoundTheEnd()
    {
        ShownPanel shown;
        DiffEditor& right = shown.editor(PageKind::right);
        right.setCursorPosition(0, 0);
        const int first = right.find(QStringLiteral("line_19"), true);
        QCOMPARE(first, 18);
        QCOMPARE(right.find(QStringLiteral("line_19"), true), 190);
        QCOMPARE(right.find(QStringLiteral("line_19"), false), 18);
        QVERIFY(right.find(QStringLiteral("line_19"), false) > 190);
    }

    void theEvolveBlockIsMarkedInTheMargin()
    {
        DiffPanel panel;
        QVERIFY(panel.setSides(side(sourceWithChunk(256, "world")), side(sourceWithChunk(512, "peer"))));
        const DiffEditor& right = *panel.editor(PageKind::right);
        QVERIFY(!hasMarker(right, 33, DiffEditor::evolve_marker));
        QVERIFY(hasMarker(right, 34, DiffEditor::evolve_marker));
        QVERIFY(hasMarker(right, 36, DiffEditor::evolve_marker));
        QVERIFY(!hasMarker(right, 37, DiffEditor::evolve_marker));
    }

    void cudaWordsAreHighlighted()
    {
        DiffPanel panel;
        QVERIFY(panel.setSides(side("int a;\n"),
                               side("__global__ void k() { int x = threadIdx.x; }\nCUCO_TUNE(a, 1, 1)\n")));
        const DiffEditor& right = *panel.editor(PageKind::right);
        right.SendScintilla(QsciScintillaBase::SCI_COLOURISE, 0UL, -1L);
        const auto styleAt = [&](long position) {
            return right.SendScintilla(QsciScintillaBase::SCI_GETSTYLEAT, static_cast<unsigned long>(position));
        };
        QCOMPARE(styleAt(2), static_cast<long>(QsciLexerCPP::KeywordSet2));
        QCOMPARE(styleAt(12), static_cast<long>(QsciLexerCPP::Keyword));
        QCOMPARE(styleAt(32), static_cast<long>(QsciLexerCPP::KeywordSet2));
    }

    void aFaultIsMarkedAndExplainedUnderItsLine()
    {
        DiffPanel panel;
        DiffSide right = side(numbered(60, plain));
        right.faults = {{30, "no member of that name"}};
        QVERIFY(panel.setSides(side(numbered(60, [](int i) { return i == 5 ? "int five;\n" : plain(i); })), right));
        const DiffEditor& shown = *panel.editor(PageKind::right);
        QVERIFY(hasMarker(shown, 29, DiffEditor::fault_marker));
        QVERIFY(shown.annotation(29).contains(QStringLiteral("no member of that name")));
        QVERIFY2(isVisible(shown, 29), "the line of a fault is never folded");
        QVERIFY2(!panel.editor(PageKind::left)->annotation(29).isEmpty(), "the other side keeps in step");
        QVERIFY(!hasMarker(*panel.editor(PageKind::left), 29, DiffEditor::fault_marker));
    }

    void bothAccessesOfARaceAreMarked()
    {
        DiffPanel panel;
        DiffSide right = side(numbered(60, plain));
        right.faults = {{20, "the write"}, {40, "the read"}};
        QVERIFY(panel.setSides(side(numbered(60, [](int i) { return i == 5 ? "int five;\n" : plain(i); })), right));
        const DiffEditor& shown = *panel.editor(PageKind::right);
        QVERIFY(hasMarker(shown, 19, DiffEditor::fault_marker) && hasMarker(shown, 39, DiffEditor::fault_marker));
        QVERIFY(shown.annotation(19).contains(QStringLiteral("the write")));
        QVERIFY(shown.annotation(39).contains(QStringLiteral("the read")));
        QVERIFY2(isVisible(shown, 19) && isVisible(shown, 39), "neither line is folded");
    }

    void aClickInTheOverviewGoesThere()
    {
        ShownPanel shown;
        shown.panel.setFolded(false);
        auto* overview = shown.panel.findChild<HunkOverview*>();
        QTest::mouseClick(overview, Qt::LeftButton, {}, QPoint(8, overview->height() * 3 / 4));
        int line = 0, index = 0;
        shown.editor(PageKind::right).getCursorPosition(&line, &index);
        QVERIFY(std::abs(line - 150) < 5);
    }

    void addedLinesArePaintedInTheThemesColour()
    {
        for (const ColorScheme scheme : {ColorScheme::light, ColorScheme::dark}) {
            applyTheme(*qApp, scheme);
            ShownPanel shown;
            const DiffEditor& right = shown.editor(PageKind::right);
            shown.panel.goToHunk(+1);
            const long position = right.SendScintilla(QsciScintillaBase::SCI_POSITIONFROMLINE, 49UL);
            const int y =
                static_cast<int>(right.SendScintilla(QsciScintillaBase::SCI_POINTYFROMPOSITION, 0UL, position));
            const QImage picture = shown.panel.editor(PageKind::right)->viewport()->grab().toImage();
            QCOMPARE(picture.pixelColor(picture.width() - 20, y + 4), colorsFor(qApp->palette()).added_line);
        }
        applyTheme(*qApp, ColorScheme::light);
    }

    void theParentIsWhatACandidateIsComparedWith()
    {
        ViewFixture fixture;
        DiffView view(&fixture.session);
        view.resize(1000, 600);
        view.show();
        fixture.session.select(QStringLiteral("c2"));
        QVERIFY2(view.headingText().startsWith(QStringLiteral("c1 (parent) ↔ c2")), qPrintable(view.headingText()));
        QVERIFY(view.headingText().contains(QStringLiteral("+2 −2")));
        QVERIFY(view.message().isEmpty());
    }

    void aSeedIsComparedWithTheHostBaseline()
    {
        ViewFixture fixture;
        DiffView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c1"));
        QVERIFY2(view.headingText().contains(QStringLiteral("host.cu")), qPrintable(view.headingText()));
    }

    void seedBestAndAnyIdCanBeChosen()
    {
        ViewFixture fixture;
        DiffView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c3"));
        view.compareAgainst(QStringLiteral("seed"));
        QVERIFY(view.headingText().startsWith(QStringLiteral("c1 (seed) ↔ c3")));
        view.compareAgainst(QStringLiteral("best"));
        QVERIFY(view.headingText().startsWith(QStringLiteral("c2 (best) ↔ c3")));
        auto* box = view.findChild<QComboBox*>();
        box->lineEdit()->selectAll();
        QTest::keyClicks(box->lineEdit(), QStringLiteral("c4"));
        QTest::keyClick(box->lineEdit(), Qt::Key_Return);
        QVERIFY2(view.headingText().startsWith(QStringLiteral("c4 ↔ c3")), qPrintable(view.headingText()));
        view.compareAgainst(QStringLiteral("c99"));
        QVERIFY(view.message().contains(QStringLiteral("no candidate “c99”")));
    }

    void theSecondSelectedIsWhatTheFirstIsComparedWith()
    {
        ViewFixture fixture;
        DiffView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c2"));
        fixture.session.compareWith(QStringLiteral("c4"));
        QVERIFY2(view.headingText().startsWith(QStringLiteral("c4 ↔ c2")), qPrintable(view.headingText()));
    }

    void theVerdictsLineIsMarked()
    {
        ViewFixture fixture;
        DiffView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c3"));
        const DiffEditor& right = *view.panel()->editor(PageKind::right);
        QVERIFY(hasMarker(right, 35, DiffEditor::fault_marker));
        QVERIFY(right.annotation(35).contains(QStringLiteral("this store goes to the wrong row")));
    }

    void ignoringWhiteSpaceIsRemembered()
    {
        ViewFixture fixture;
        const auto box = [](DiffView& view) {
            const auto boxes = view.findChildren<QCheckBox*>();
            return *std::ranges::find_if(boxes,
                                         [](QCheckBox* b) { return b->text().contains(QStringLiteral("white")); });
        };
        {
            DiffView view(&fixture.session);
            QVERIFY(!box(view)->isChecked());
            box(view)->click();
        }
        DiffView view(&fixture.session);
        QVERIFY(box(view)->isChecked());
    }

    void aDecisionKeepsThePlaceInTheText()
    {
        ViewFixture fixture;
        DiffView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c2"));
        view.panel()->goToHunk(+1);
        Candidate promoted = *fixture.session.candidate(QStringLiteral("c2"));
        promoted.decision = DecisionKind::promoted;
        fixture.run->apply(CandidateChanged{promoted});
        QCOMPARE(view.panel()->currentHunk(), 0);
    }

    void aVerdictThatArrivesMarksItsLine()
    {
        ViewFixture fixture;
        DiffView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c4"));
        Candidate failed = *fixture.session.candidate(QStringLiteral("c4"));
        failed.state = CandidateState::settled;
        failed.evaluation.emplace();
        failed.evaluation->verdict = Verdict::compile_error;
        failed.evaluation->at = {36, "no such name"};
        fixture.run->apply(CandidateChanged{failed});
        QVERIFY(hasMarker(*view.panel()->editor(PageKind::right), 35, DiffEditor::fault_marker));
    }

    void nothingSelectedIsASentence()
    {
        ViewFixture fixture;
        DiffView view(&fixture.session);
        view.show();
        QVERIFY(view.message().contains(QStringLiteral("Select a candidate")));
        fixture.session.setRun(nullptr);
        QVERIFY(view.message().startsWith(QStringLiteral("Open a run")));
    }

    void ctrlFFindsAndEscapeCloses()
    {
        ViewFixture fixture;
        DiffView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c2"));
        view.openFind();
        QLineEdit* find = nullptr;
        for (QLineEdit* edit : view.findChildren<QLineEdit*>()) {
            if (edit->placeholderText().contains(QStringLiteral("Find")))
                find = edit;
        }
        QVERIFY(find && find->isVisible());
        QTest::keyClicks(find, QStringLiteral("frozen_5("));
        QTest::keyClick(find, Qt::Key_Return);
        QCOMPARE(view.panel()->editor(PageKind::right)->selectedText(), QStringLiteral("frozen_5("));
        QTest::keyClick(find, Qt::Key_Escape);
        QVERIFY(!find->isVisible());
    }
};

QTEST_MAIN(DiffViewTest)
#include "diff_view_test.moc"
