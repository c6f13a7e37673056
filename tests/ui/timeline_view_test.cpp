// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline_view.h"
#include "core/trace/overlap_report.h"
#include "ui/style/theme.h"
#include "ui/views/timeline/timeline_canvas.h"
#include "ui/views/timeline/timeline_pane.h"
#include "view_fixture.h"

#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QSignalSpy>
#include <QToolTip>
#include <QWheelEvent>

#include <random>

using namespace cuco;
using namespace cuco::ui;

namespace {

constexpr IntervalRef gemm_of_rank_0{0, 0}, put_of_rank_0{1, 0}, put_of_rank_1{3, 0};

void wheel(TimelineCanvas& canvas, QPoint at, QPoint angle, Qt::KeyboardModifiers modifiers)
{
    QWheelEvent event(at, canvas.viewport()->mapToGlobal(at), {}, angle, Qt::NoButton, modifiers, Qt::NoScrollPhase,
                      false);
    QApplication::sendEvent(canvas.viewport(), &event);
}

void moveMouse(TimelineCanvas& canvas, QPoint to, Qt::MouseButtons buttons = Qt::NoButton)
{
    QMouseEvent event(QEvent::MouseMove, to, canvas.viewport()->mapToGlobal(to), Qt::NoButton, buttons, Qt::NoModifier);
    QApplication::sendEvent(canvas.viewport(), &event);
}

void drag(TimelineCanvas& canvas, QPoint from, QPoint to)
{
    QTest::mousePress(canvas.viewport(), Qt::LeftButton, {}, from);
    moveMouse(canvas, (from + to) / 2, Qt::LeftButton);
    moveMouse(canvas, to, Qt::LeftButton);
    QTest::mouseRelease(canvas.viewport(), Qt::LeftButton, {}, to);
}

struct ShownCanvas {
    explicit ShownCanvas(Timeline timeline = smallTimeline())
    {
        canvas.resize(1000, 500);
        canvas.setTimeline(std::make_shared<const Timeline>(std::move(timeline)));
        canvas.show();
    }
    QPoint centerOf(IntervalRef ref) const { return canvas.rectOf(ref)->center(); }
    QColor pixel(QPoint at) { return canvas.viewport()->grab().toImage().pixelColor(at); }

    TimelineCanvas canvas;
};

SpanRow rowOf(const std::vector<ui::Span>& spans)
{
    SpanRow row;
    for (const ui::Span& span : spans)
        row.append(span);
    row.finish();
    return row;
}

}  // namespace

class TimelineViewTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { applyTheme(*qApp, ColorScheme::light); }

    void durationsCarryTheUnitThatSuits()
    {
        QCOMPARE(formatDuration(820), QStringLiteral("820\u202fns"));
        QCOMPARE(formatDuration(12'400), QStringLiteral("12.40\u202fµs"));
        QCOMPARE(formatDuration(467'200), QStringLiteral("467.2\u202fµs"));
        QCOMPARE(formatDuration(3.07e6), QStringLiteral("3.070\u202fms"));
        QCOMPARE(formatBytes(4 << 20), QStringLiteral("4.00\u202fMiB"));
    }

    void rulerTicksKeepTheirDistanceAndOneUnit()
    {
        for (const TimeRange range : {TimeRange{0, 1e6}, TimeRange{123'456, 123'500}, TimeRange{0, 3}}) {
            const auto ticks = rulerTicks(range, 1000, 96);
            QVERIFY(ticks.size() >= 3);
            for (std::size_t i = 1; i < ticks.size(); ++i) {
                QVERIFY((ticks[i].at_ns - ticks[i - 1].at_ns) * 1000 / range.length() >= 95.9);
                QVERIFY(ticks[i].label != ticks[i - 1].label);
                QCOMPARE(ticks[i].label.section(QChar(u'\u202f'), 1), ticks[0].label.section(QChar(u'\u202f'), 1));
            }
        }
    }

    void zoomingKeepsTheAnchorInPlace()
    {
        const TimeRange range{100, 500};
        const TimeRange closer = zoomed(range, 0.5, 200);
        QCOMPARE((200 - closer.begin_ns) / closer.length(), (200 - range.begin_ns) / range.length());
        QCOMPARE(closer.length(), 200.0);
    }

    void aRangeIsKeptWithinWhatThereIs()
    {
        QCOMPARE(clamped({-50, 50}, {0, 200}), (TimeRange{0, 100}));
        QCOMPARE(clamped({150, 250}, {0, 200}), (TimeRange{100, 200}));
        QCOMPARE(clamped({-50, 900}, {0, 200}), (TimeRange{0, 200}));
    }

    void theLongestSpanIsFoundAsByLookingAtEach()
    {
        std::mt19937 random(5);
        std::vector<ui::Span> spans;
        std::int64_t end = 0;
        for (std::uint32_t i = 0; i < 3000; ++i) {
            const std::int64_t begin = end + random() % 5;
            end = begin + 1 + random() % 1000;
            spans.push_back({begin, end, i, 0});
        }
        const SpanRow row = rowOf(spans);
        for (int round = 0; round < 500; ++round) {
            const std::size_t first = random() % spans.size();
            const std::size_t last = first + 1 + random() % (spans.size() - first);
            std::size_t expected = first;
            for (std::size_t i = first; i < last; ++i) {
                if (spans[i].end_ns - spans[i].begin_ns > spans[expected].end_ns - spans[expected].begin_ns)
                    expected = i;
            }
            QCOMPARE(row.longest(first, last), expected);
            const double ns = static_cast<double>(random() % static_cast<std::uint32_t>(end));
            std::size_t begins = 0;
            while (begins < spans.size() && static_cast<double>(spans[begins].begin_ns) < ns)
                ++begins;
            QCOMPARE(row.firstBeginningAt(ns), begins);
        }
    }

    void runsUnderOnePixelMergeAndTheWidestGivesTheColour()
    {
        // Ten nanoseconds a pixel: three spans begin in the first pixel, none in the second.
        const SpanRow row = rowOf({{0, 2, 0, 1}, {3, 7, 1, 2}, {8, 9, 2, 1}, {20, 24, 3, 1}, {25, 60, 4, 2}});
        const auto runs = layOut(row, {0, 100}, 10);
        QCOMPARE(runs.size(), std::size_t{3});
        QCOMPARE(runs[0].x, 0);
        QCOMPARE(runs[0].width, 1);
        QVERIFY(runs[0].merged);
        QCOMPARE(runs[0].kind, std::uint8_t{2});
        QCOMPARE(runs[0].span, std::size_t{1});
        QCOMPARE(runs[1].x, 2);
        QCOMPARE(runs[1].kind, std::uint8_t{1});
        QVERIFY(!runs[2].merged);
        QCOMPARE(runs[2].span, std::size_t{4});
    }

    void neighbouringMergedRunsOfOneKindJoin()
    {
        std::vector<ui::Span> spans;
        for (std::uint32_t i = 0; i < 1000; ++i)
            spans.push_back({10 * i, 10 * i + 5, i, 3});
        const auto runs = layOut(rowOf(spans), {0, 10'000}, 100);
        QCOMPARE(runs.size(), std::size_t{1});
        QCOMPARE(runs[0].width, 100);
    }

    void onlyWhatTheRangeShowsIsLaidOut()
    {
        const SpanRow row = rowOf({{0, 100, 0, 0}, {200, 300, 1, 0}, {400, 500, 2, 0}});
        const auto runs = layOut(row, {150, 450}, 300);
        QCOMPARE(runs.size(), std::size_t{2});
        QCOMPARE(runs[0].x, 50);
        QCOMPARE(runs[0].width, 100);
        QCOMPARE(runs[1].x, 250);
        QCOMPARE(runs[1].width, 50);
    }

    void nestedIntervalsGetLevelsOfTheirOwn()
    {
        Timeline timeline;
        timeline.names = {"outer", "inner"};
        timeline.lanes = {{0,
                           "stream",
                           {{0, 100, 0, 0, 0, Activity::compute},
                            {10, 20, 1, 0, 0, Activity::compute},
                            {30, 40, 1, 0, 0, Activity::compute},
                            {100, 120, 0, 0, 0, Activity::compute}}}};
        const TimelineIndex index(std::make_shared<const Timeline>(timeline));
        QCOMPARE(index.rowsOf(0).rows.size(), std::size_t{2});
        QCOMPARE(index.rowsOf(0).rows[0].size(), std::size_t{2});
        QCOMPARE(index.rowsOf(0).rows[1].size(), std::size_t{2});
    }

    void nestingWithoutEndIsCutAndCounted()
    {
        Timeline timeline;
        timeline.names = {"deep"};
        timeline.lanes = {{0, "stream", {}}};
        for (std::int64_t i = 0; i < 40; ++i)
            timeline.lanes[0].intervals.push_back({i, 1000 - i, 0, 0, 0, Activity::compute});
        const TimelineIndex index(std::make_shared<const Timeline>(timeline));
        QCOMPARE(index.rowsOf(0).rows.size(), TimelineIndex::deepest_level);
        QCOMPARE(index.rowsOf(0).too_deep, 40 - TimelineIndex::deepest_level);
    }

    void rangeStatisticsOfAllAgreeWithTheOverlapReport()
    {
        std::mt19937 random(11);
        Timeline timeline;
        timeline.names = {"x"};
        for (int lane = 0; lane < 6; ++lane) {
            Lane made{lane / 3, "lane", {}};
            std::int64_t end = 0;
            for (int i = 0; i < 200; ++i) {
                const std::int64_t begin = end + random() % 50;
                end = begin + 1 + random() % 100;
                made.intervals.push_back({begin, end, 0, 0, 0, static_cast<Activity>(random() % 2)});
            }
            timeline.lanes.push_back(made);
        }
        const OverlapReport report = overlapOf(timeline);
        const TimelineIndex index(std::make_shared<const Timeline>(timeline));
        const auto statistics = index.statistics(index.extent());
        QCOMPARE(statistics.size(), report.ranks.size());
        for (std::size_t i = 0; i < statistics.size(); ++i) {
            QCOMPARE(statistics[i].rank, report.ranks[i].rank);
            QVERIFY(std::abs(statistics[i].compute_ns / 1000 - report.ranks[i].compute_us) < 1e-6);
            QVERIFY(std::abs(statistics[i].communication_ns / 1000 - report.ranks[i].communication_us) < 1e-6);
            QVERIFY(std::abs(statistics[i].overlapped_ns / 1000 - report.ranks[i].overlapped_us) < 1e-6);
        }
    }

    void aRangeCutsTheIntervalsAtItsEdges()
    {
        const TimelineIndex index(std::make_shared<const Timeline>(smallTimeline()));
        const auto statistics = index.statistics({600, 800});
        QCOMPARE(statistics[0].compute_ns, 100.0);
        QCOMPARE(statistics[0].communication_ns, 200.0);
        QCOMPARE(statistics[0].overlapped_ns, 100.0);
        QCOMPARE(statistics[0].exposed_ns(), 100.0);
    }

    void searchIgnoresCaseAndGoesByTime()
    {
        const TimelineIndex index(std::make_shared<const Timeline>(smallTimeline()));
        QCOMPARE(index.search("WAIT").size(), std::size_t{20});
        const auto puts = index.search("Put");
        QCOMPARE(puts.size(), std::size_t{2});
        QVERIFY(puts[0] == put_of_rank_0);
        QVERIFY(index.search("nothing of this name").empty());
        QVERIFY(index.search("").empty());
    }

    void aFlowHasTheOtherIntervalsOfItsNumber()
    {
        const TimelineIndex index(std::make_shared<const Timeline>(smallTimeline()));
        const auto others = index.flowOf(put_of_rank_0);
        QCOMPARE(others.size(), std::size_t{1});
        QVERIFY(others[0] == put_of_rank_1);
        QVERIFY(index.flowOf(gemm_of_rank_0).empty());
    }

    void activitiesHaveTheirColours()
    {
        ShownCanvas shown;
        const Colors colors = colorsFor(shown.canvas.palette());
        const QRect gemm = *shown.canvas.rectOf(gemm_of_rank_0), put = *shown.canvas.rectOf(put_of_rank_0);
        QCOMPARE(shown.pixel(QPoint(gemm.right() - 6, gemm.center().y())), colors.compute);
        const QImage picture = shown.canvas.viewport()->grab().toImage();
        bool plain = false, hatched = false;
        for (int x = put.right() - 24; x < put.right() - 4; ++x) {
            const QColor at = picture.pixelColor(x, put.center().y());
            plain = plain || at == colors.communication;
            hatched = hatched || at.value() < colors.communication.value() - 10;
        }
        QVERIFY2(plain && hatched, "communication is told from compute by a pattern, too");
        QCOMPARE(picture.pixelColor(shown.canvas.width() - 60, gemm.center().y()), colors.background);
    }

    void theOverlapStripTellsHiddenFromExposed()
    {
        ShownCanvas shown;
        const Colors colors = colorsFor(shown.canvas.palette());
        const auto& bands = shown.canvas.layoutOfBands().bands();
        const auto strip = std::ranges::find(bands, Band::Kind::overlap, &Band::kind);
        const TrackView view = shown.canvas.view();
        const int top = view.yOf(*strip) + 3, bottom = view.yOf(*strip) + strip->height - 2;
        const auto x = [&](double ns) { return static_cast<int>(view.xOf(ns)); };
        QCOMPARE(shown.pixel({x(600), top}), colors.compute);
        QCOMPARE(shown.pixel({x(600), bottom}), colors.communication);
        QCOMPARE(shown.pixel({x(800), top}), colors.communication);
        QCOMPARE(shown.pixel({x(300), bottom}), colors.background);
    }

    void theBoundIsALineAtItsTime()
    {
        ShownCanvas shown;
        shown.canvas.setBound(950);
        const TrackView view = shown.canvas.view();
        const QImage picture = shown.canvas.viewport()->grab().toImage();
        int painted = 0;
        for (int y = view.ruler_height; y < view.size.height(); ++y)
            painted +=
                picture.pixelColor(static_cast<int>(view.xOf(950)), y) == colorsFor(shown.canvas.palette()).reference;
        QVERIFY(painted > view.size.height() / 4);
    }

    void ctrlAndWheelZoomAtTheCursor()
    {
        ShownCanvas shown;
        const QPoint at(600, 100);
        const double before = shown.canvas.view().timeAt(at.x()), length = shown.canvas.range().length();
        wheel(shown.canvas, at, {0, 120}, Qt::ControlModifier);
        QVERIFY(shown.canvas.range().length() < length);
        QVERIFY(std::abs(shown.canvas.view().timeAt(at.x()) - before) < 1e-6);
        wheel(shown.canvas, at, {0, -120}, Qt::ControlModifier);
        QVERIFY(std::abs(shown.canvas.range().length() - length) < 1e-6);
    }

    void shiftAndWheelPan()
    {
        ShownCanvas shown;
        shown.canvas.setRange({200, 400});
        wheel(shown.canvas, {600, 100}, {0, -120}, Qt::ShiftModifier);
        QVERIFY(shown.canvas.range().begin_ns > 200);
        QCOMPARE(shown.canvas.range().length(), 200.0);
    }

    void theWheelScrollsTheLanes()
    {
        ShownCanvas shown;
        shown.canvas.resize(1000, 160);
        wheel(shown.canvas, {600, 100}, {0, -120}, Qt::NoModifier);
        QVERIFY(shown.canvas.verticalScrollBar()->value() > 0);
    }

    void keysZoomPanAndFit()
    {
        ShownCanvas shown;
        const TimeRange all = shown.canvas.range();
        QTest::keyClick(&shown.canvas, Qt::Key_W);
        const TimeRange closer = shown.canvas.range();
        QVERIFY(closer.length() < all.length());
        QTest::keyClick(&shown.canvas, Qt::Key_D);
        QVERIFY(shown.canvas.range().begin_ns > closer.begin_ns);
        QTest::keyClick(&shown.canvas, Qt::Key_A);
        QVERIFY(std::abs(shown.canvas.range().begin_ns - closer.begin_ns) < 1e-6);
        QTest::keyClick(&shown.canvas, Qt::Key_S);
        QVERIFY(std::abs(shown.canvas.range().length() - all.length()) < 1e-6);
        QTest::keyClick(&shown.canvas, Qt::Key_W);
        QTest::keyClick(&shown.canvas, Qt::Key_F);
        QCOMPARE(shown.canvas.range(), all);
    }

    void theHorizontalBarMovesTheRange()
    {
        ShownCanvas shown;
        shown.canvas.setRange({0, 200});
        shown.canvas.horizontalScrollBar()->setValue(shown.canvas.horizontalScrollBar()->maximum());
        QVERIFY(std::abs(shown.canvas.range().end_ns - shown.canvas.extent().end_ns) < 1);
        QVERIFY(std::abs(shown.canvas.range().length() - 200) < 1e-6);
    }

    void aClickSelectsWhatIsPaintedThere()
    {
        ShownCanvas shown;
        QTest::mouseClick(shown.canvas.viewport(), Qt::LeftButton, {}, shown.centerOf(put_of_rank_1));
        QVERIFY(shown.canvas.selected() == put_of_rank_1);
        QTest::mouseClick(shown.canvas.viewport(), Qt::LeftButton, {}, QPoint(shown.canvas.width() - 40, 300));
        QVERIFY(!shown.canvas.selected());
    }

    void anIntervalNarrowerThanAPixelCanStillBePicked()
    {
        Timeline timeline = smallTimeline();
        timeline.lanes[0].intervals.push_back({800'000, 900'000, 0, 0, 0, Activity::compute});
        ShownCanvas shown(std::move(timeline));
        const TrackView view = shown.canvas.view();
        QVERIFY((view.xOf(700) - view.xOf(100)) < 1);
        const auto picked = shown.canvas.intervalAt(
            {static_cast<int>(view.xOf(100)), view.yOf(*shown.canvas.layoutOfBands().bandOfLane(0)) + 5});
        QVERIFY(picked == gemm_of_rank_0);
    }

    void dotAndCommaStepThroughTheLane()
    {
        ShownCanvas shown;
        shown.canvas.select(put_of_rank_0);
        QTest::keyClick(&shown.canvas, '.');
        QVERIFY(shown.canvas.selected() == (IntervalRef{1, 1}));
        QTest::keyClick(&shown.canvas, ',');
        QTest::keyClick(&shown.canvas, ',');
        QVERIFY(shown.canvas.selected() == put_of_rank_0);
    }

    void selectingBringsTheIntervalIntoSight()
    {
        ShownCanvas shown;
        shown.canvas.setRange({0, 50});
        shown.canvas.select(put_of_rank_1);
        QVERIFY(shown.canvas.range().contains(700));
    }

    void draggingSelectsARangeAndMarkKeepsIt()
    {
        ShownCanvas shown;
        const TrackView view = shown.canvas.view();
        drag(shown.canvas, {static_cast<int>(view.xOf(200)), 10}, {static_cast<int>(view.xOf(600)), 10});
        QVERIFY(shown.canvas.selectedRange().has_value());
        QVERIFY(std::abs(shown.canvas.selectedRange()->begin_ns - 200) < 2);
        QVERIFY(std::abs(shown.canvas.selectedRange()->end_ns - 600) < 2);
        QTest::keyClick(&shown.canvas, Qt::Key_M);
        QCOMPARE(shown.canvas.marks().size(), std::size_t{1});
        QTest::keyClick(&shown.canvas, Qt::Key_Escape);
        QVERIFY(!shown.canvas.selectedRange());
        QCOMPARE(shown.canvas.marks().size(), std::size_t{1});
        QTest::keyClick(&shown.canvas, Qt::Key_Escape);
        QVERIFY(shown.canvas.marks().empty());
    }

    void markingTheSameTwiceTakesTheMarkAway()
    {
        ShownCanvas shown;
        shown.canvas.select(gemm_of_rank_0);
        QTest::keyClick(&shown.canvas, Qt::Key_M);
        QCOMPARE(shown.canvas.marks(), (std::vector<TimeRange>{{100, 700}}));
        QTest::keyClick(&shown.canvas, Qt::Key_M);
        QVERIFY(shown.canvas.marks().empty());
    }

    void aClickOnARankCollapsesAndExpandsIt()
    {
        ShownCanvas shown;
        const TrackView view = shown.canvas.view();
        const QPoint header(20, view.yOf(shown.canvas.layoutOfBands().bands().front()) + 10);
        const int height = shown.canvas.layoutOfBands().height();
        QTest::mouseClick(shown.canvas.viewport(), Qt::LeftButton, {}, header);
        QVERIFY(shown.canvas.layoutOfBands().height() < height);
        QVERIFY(!shown.canvas.layoutOfBands().bandOfLane(0));
        shown.canvas.select(gemm_of_rank_0);
        QVERIFY2(shown.canvas.layoutOfBands().bandOfLane(0), "selecting in a collapsed rank opens it");
    }

    void hoveringTellsNameBytesAndRate()
    {
        ShownCanvas shown;
        moveMouse(shown.canvas, shown.centerOf(put_of_rank_0));
        QTRY_VERIFY(QToolTip::text().contains(QStringLiteral("lsa_put")));
        QVERIFY(QToolTip::text().contains(QStringLiteral("3.91\u202fKiB at 10.0 GB/s")));
        QVERIFY(QToolTip::text().contains(QStringLiteral("400\u202fns")));
        QVERIFY(QToolTip::text().contains(QStringLiteral("rank 0 · stream 1")));
    }

    void namesInATooltipAreText()
    {
        Timeline timeline = smallTimeline();
        timeline.names[0] = "gemm<128, <img src='x'>>";
        ShownCanvas shown(std::move(timeline));
        moveMouse(shown.canvas, shown.centerOf(gemm_of_rank_0));
        QTRY_VERIFY(QToolTip::text().contains(QStringLiteral("gemm&lt;128, &lt;img")));
    }

    void anEmptyTimelineIsPaintedWithoutFault()
    {
        ShownCanvas shown{Timeline{}};
        QTest::keyClick(&shown.canvas, Qt::Key_W);
        QTest::keyClick(&shown.canvas, '.');
        QTest::keyClick(&shown.canvas, Qt::Key_M);
        moveMouse(shown.canvas, {500, 100});
        shown.canvas.viewport()->grab();
        shown.canvas.setTimeline(nullptr);
        QTest::mouseClick(shown.canvas.viewport(), Qt::LeftButton, {}, QPoint(500, 100));
        QTest::keyClick(&shown.canvas, Qt::Key_F);
        shown.canvas.viewport()->grab();
    }

    void theViewSaysWhatIsMissing()
    {
        ViewFixture fixture;
        TimelineView view(&fixture.session);
        view.resize(900, 600);
        view.show();
        QVERIFY(view.pane(0)->message().contains(QStringLiteral("Select a candidate")));
        fixture.session.select(QStringLiteral("c3"));
        QVERIFY(view.pane(0)->message().startsWith(
            QStringLiteral("c3 has no timeline: it did not get past verify (wrong_result).")));
        fixture.session.select(QStringLiteral("c4"));
        QVERIFY(view.pane(0)->message().startsWith(QStringLiteral("c4 has no timeline yet")));
        fixture.session.setRun(nullptr);
        QVERIFY(view.pane(0)->message().startsWith(QStringLiteral("Open a run")));
    }

    void theHeadingTellsModelledTimeAndTheOverlap()
    {
        ViewFixture fixture;
        TimelineView view(&fixture.session);
        view.resize(900, 600);
        view.show();
        fixture.session.select(QStringLiteral("c1"));
        const QString heading = view.pane(0)->headingText();
        QVERIFY(heading.startsWith(QStringLiteral("c1 modelled time")));
        QVERIFY(heading.contains(QStringLiteral("exposed communication 200\u202fns")));
        QVERIFY(heading.contains(QStringLiteral("50\u202f% hidden")));
        QVERIFY(heading.contains(QStringLiteral("bound 600\u202fns")));
    }

    void aBaselineHasATimelineToo()
    {
        ViewFixture fixture;
        TimelineView view(&fixture.session);
        view.show();
        fixture.session.select(baselineId("host.cu"));
        QVERIFY(view.pane(0)->hasTimeline());
    }

    void slashSearchesAndEnterGoesOn()
    {
        ViewFixture fixture;
        TimelineView view(&fixture.session);
        view.resize(900, 600);
        view.show();
        fixture.session.select(QStringLiteral("c1"));
        TimelineCanvas* canvas = view.pane(0)->canvas();
        QTest::keyClick(canvas, '/');
        auto* search = view.findChild<QLineEdit*>();
        QVERIFY(search->isVisible());
        QTest::keyClicks(search, QStringLiteral("put"));
        const auto labels = view.findChildren<QLabel*>();
        QVERIFY(
            std::ranges::any_of(labels, [](QLabel* label) { return label->text() == QStringLiteral("2 matches"); }));
        QTest::keyClick(search, Qt::Key_Return);
        QVERIFY(canvas->selected() == put_of_rank_0);
        QTest::keyClick(search, Qt::Key_Return);
        QVERIFY(canvas->selected() == put_of_rank_1);
        QTest::keyClick(search, Qt::Key_Return);
        QVERIFY(canvas->selected() == put_of_rank_0);
        QTest::keyClick(search, Qt::Key_Escape);
        QVERIFY(!search->isVisible());
    }

    void theDetailsTellTheSelectedIntervalAndTheRange()
    {
        ViewFixture fixture;
        TimelineView view(&fixture.session);
        view.resize(900, 600);
        view.show();
        fixture.session.select(QStringLiteral("c1"));
        TimelineCanvas* canvas = view.pane(0)->canvas();
        const auto says = [&](const QString& text) {
            const auto labels = view.findChildren<QLabel*>();
            return std::ranges::any_of(labels, [&](QLabel* label) { return label->text().contains(text); });
        };
        canvas->select(put_of_rank_0);
        QVERIFY(says(QStringLiteral("flow 7 with 1 more")));
        canvas->setSelectedRange(TimeRange{600, 800});
        QVERIFY(says(QStringLiteral("<b>Range 200\u202fns</b>")));
        QVERIFY(says(QStringLiteral("50\u202f%")));
    }

    void twoSelectedShareOneTimeAxis()
    {
        ViewFixture fixture;
        TimelineView view(&fixture.session);
        view.resize(900, 700);
        view.show();
        fixture.session.select(QStringLiteral("c1"));
        QVERIFY(!view.pane(1)->isVisible());
        fixture.session.compareWith(QStringLiteral("c2"));
        QVERIFY(view.pane(1)->isVisible());
        QVERIFY(view.pane(0)->headingText().startsWith(QStringLiteral("c1")));
        QVERIFY(view.pane(1)->headingText().startsWith(QStringLiteral("c2")));
        TimelineCanvas *first = view.pane(0)->canvas(), *second = view.pane(1)->canvas();
        QCOMPARE(first->range(), second->range());
        QVERIFY(first->range().end_ns >= 1990);
        for (const double ns : {0.0, 500.0, 1900.0})
            QCOMPARE(first->view().xOf(ns), second->view().xOf(ns));
        QTest::keyClick(second, Qt::Key_W);
        QCOMPARE(first->range(), second->range());
        wheel(*first, {500, 80}, {0, 120}, Qt::ControlModifier);
        QCOMPARE(first->range(), second->range());
        first->setSelectedRange(TimeRange{300, 500});
        QVERIFY(second->selectedRange() == first->selectedRange());
        fixture.session.compareWith({});
        QVERIFY(!view.pane(1)->isVisible());
    }

    void theQuestionMarkShowsTheKeysAndEscapeHidesThem()
    {
        ViewFixture fixture;
        TimelineView view(&fixture.session);
        view.resize(900, 600);
        view.show();
        fixture.session.select(QStringLiteral("c1"));
        TimelineCanvas* canvas = view.pane(0)->canvas();
        const auto helpIsShown = [&] {
            const auto labels = view.findChildren<QLabel*>();
            return std::ranges::any_of(labels, [](QLabel* label) {
                return label->isVisible() && label->text().contains(QStringLiteral("zoom at the cursor"));
            });
        };
        QTest::keyClick(canvas, '?', Qt::ShiftModifier);
        QVERIFY(helpIsShown());
        QTest::keyClick(canvas, Qt::Key_Escape);
        QVERIFY(!helpIsShown());
    }

    void aDecisionKeepsWhatIsZoomed()
    {
        ViewFixture fixture;
        TimelineView view(&fixture.session);
        view.show();
        fixture.session.select(QStringLiteral("c1"));
        view.pane(0)->canvas()->setRange({200, 300});
        Candidate promoted = *fixture.session.candidate(QStringLiteral("c1"));
        promoted.decision = DecisionKind::promoted;
        fixture.run->apply(CandidateChanged{promoted});
        QCOMPARE(view.pane(0)->canvas()->range(), (TimeRange{200, 300}));
    }
};

QTEST_MAIN(TimelineViewTest)
#include "timeline_view_test.moc"
