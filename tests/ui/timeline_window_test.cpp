// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline_window.h"

#include "core/base/files.h"
#include "ui/style/theme.h"
#include "ui/views/timeline/timeline_canvas.h"
#include "ui/views/timeline/timeline_pane.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

using namespace cuco;
using namespace cuco::ui;

namespace {

const char* const two_ranks = R"({"source":"cupti","title":"8192, 2 ranks","names":["product","push"],"dropped":3,
"notes":["rank 1: phases are missing"],"axis_error_ns":67,"untraced_us":100,"traced_us":102.5,"lanes":[
{"rank":0,"name":"stream 0","intervals":[[0,60000,0,0,0,0]]},
{"rank":0,"name":"copy engine","intervals":[[40000,100000,1,1,4096,0]]},
{"rank":1,"name":"stream 0","intervals":[[0,90000,0,0,0,0]]}]})";

}  // namespace

class TimelineWindowTest : public QObject {
    Q_OBJECT

private:
    QTemporaryDir folder_;

    QString write(const QString& name, const std::string& text)
    {
        const QString path = folder_.filePath(name);
        if (!writeFileAtomically(path.toStdString(), text))
            qFatal("cannot write %s", qPrintable(path));
        return path;
    }

    static void waitFor(TimelineWindow& window)
    {
        QSignalSpy finished(&window, &TimelineWindow::finished);
        if (window.isReading())
            QVERIFY(finished.wait(20'000));
    }

private Q_SLOTS:
    void initTestCase() { applyTheme(*qApp, ColorScheme::light); }

    void showsAForeignTraceWithItsReport()
    {
        TimelineWindow window(write(QStringLiteral("two.json"), two_ranks));
        window.show();
        waitFor(window);
        QTRY_VERIFY(window.pane()->hasTimeline());
        QCOMPARE(window.messageText(), QString());
        const QString heading = window.pane()->headingText(), report = window.reportText();
        QVERIFY2(heading.contains(QStringLiteral("3 records were lost")), qPrintable(heading));
        QVERIFY2(heading.contains(QStringLiteral("axes within 0.07 µs")), qPrintable(heading));
        QVERIFY2(heading.contains(QStringLiteral("tracing cost 2.5 %")), qPrintable(heading));
        for (const char* part : {"33.3 % of 60.0 µs, 20.0 µs", "none", "40.0 µs", "Rank 0 ended last, in “copy engine”",
                                 "rank 1: phases are missing", "within 0.067 µs", "102.5 µs instead of 100.0 µs"})
            QVERIFY2(report.contains(QString::fromUtf8(part)), qPrintable(report));
    }

    void saysWhatABrokenTraceLacks()
    {
        TimelineWindow window(write(QStringLiteral("broken.json"), R"({"traceEvents":[{"ph":"X","ts":1)"));
        waitFor(window);
        QTRY_VERIFY(!window.isReading() && window.messageText().contains(QStringLiteral("not complete")));
        QVERIFY(!window.pane()->hasTimeline());
    }

    void readingCanBeCancelledAndTheWindowClosedMeanwhile()
    {
        std::string text = "[";
        for (int i = 0; i < 300'000; ++i)
            text += (i ? "," : "") + std::string(R"({"ph":"X","name":"k","ts":)") + std::to_string(i) + R"(,"dur":1})";
        const QString path = write(QStringLiteral("long.json"), text + "]");
        TimelineWindow window(path);
        window.show();
        auto* cancel = window.findChild<QPushButton*>();
        QVERIFY(cancel && cancel->isVisible());
        QTest::mouseClick(cancel, Qt::LeftButton);
        waitFor(window);
        QTRY_VERIFY(!window.isReading());
        QVERIFY2(window.messageText().contains(QStringLiteral("cancelled")), qPrintable(window.messageText()));
        {
            TimelineWindow closed(path);
        }
    }

    /// CUCO_TRACE_PICTURE names a trace; pictures of it go to CUCO_PICTURE_FOLDER.
    void pictures()
    {
        const QString trace = qEnvironmentVariable("CUCO_TRACE_PICTURE");
        if (trace.isEmpty())
            QSKIP("no trace to take pictures of was named");
        for (const bool dark : {false, true}) {
            applyTheme(*qApp, dark ? ColorScheme::dark : ColorScheme::light);
            for (const QSize size : {QSize(1280, 760), QSize(640, 480)}) {
                TimelineWindow window(trace);
                window.resize(size);
                window.show();
                waitFor(window);
                QTRY_VERIFY(window.pane()->hasTimeline());
                QTest::qWait(50);
                QVERIFY(window.grab().save(QStringLiteral("%1/trace-%2-%3.png")
                                               .arg(qEnvironmentVariable("CUCO_PICTURE_FOLDER"),
                                                    dark ? QStringLiteral("dark") : QStringLiteral("light"))
                                               .arg(size.width())));
            }
        }
    }
};

QTEST_MAIN(TimelineWindowTest)
#include "timeline_window_test.moc"
