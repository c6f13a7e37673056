// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/screenshot.h"
#include "ui/shell/error_text.h"
#include "ui/style/theme.h"
#include "ui_test_support.h"

#include <QImage>
#include <QSet>
#include <QTest>

using namespace cuco;
using namespace cuco::ui;
using namespace cuco::ui::testing;

class ScreenshotTest : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void everyViewIsRendered_data();
    void everyViewIsRendered();
    void theSizeIsTheWindows();
    void anUnknownViewIsRefusedWithTheKnownOnes();
    void aViewOfARunNeedsOne();
    void aTraceThatBelongsToNoRunIsRendered();
    void anUnknownCandidateIsRefused();
    void aPlaceThatCannotBeWrittenIsRefused();
    void aMissingFileIsRefused();

private:
    ScreenshotRequest request(const QString& view) const;

    PrivateFolder folder_;
    QString run_;
};

void ScreenshotTest::initTestCase()
{
    qputenv("CUCO_DATA_DIR", CUCO_TEST_ROOT);
    run_ = folder_.file(QStringLiteral("run.cuco"));
    writeRunFile(run_);
}

ScreenshotRequest ScreenshotTest::request(const QString& view) const
{
    return {folder_.file(view + QStringLiteral(".png")), view, {}, run_, {1000, 700}};
}

void ScreenshotTest::everyViewIsRendered_data()
{
    QTest::addColumn<QString>("view");
    QTest::addColumn<bool>("dark");
    for (const QString& view : screenshotViews()) {
        QTest::addRow("%s, light", qPrintable(view)) << view << false;
        QTest::addRow("%s, dark", qPrintable(view)) << view << true;
    }
}

void ScreenshotTest::everyViewIsRendered()
{
    QFETCH(QString, view);
    QFETCH(bool, dark);
    applyTheme(*qApp, dark ? ColorScheme::dark : ColorScheme::light);
    const ScreenshotRequest wanted = request(view);
    const auto taken = takeScreenshot(wanted);
    QVERIFY2(taken.has_value(), taken ? "" : qPrintable(sentence(taken.error())));
    const QImage image(wanted.output);
    QVERIFY(!image.isNull());
    // A picture with something on it, on a background of the right lightness.
    QSet<QRgb> colors;
    qint64 light = 0;
    for (int y = 0; y < image.height(); y += 3) {
        for (int x = 0; x < image.width(); x += 3) {
            colors.insert(image.pixel(x, y));
            light += qGray(image.pixel(x, y)) > 128 ? 1 : -1;
        }
    }
    QVERIFY(colors.size() > 8);
    QCOMPARE(light < 0, dark);
}

void ScreenshotTest::theSizeIsTheWindows()
{
    const ScreenshotRequest wanted = request(QStringLiteral("population"));
    QVERIFY(takeScreenshot(wanted).has_value());
    QCOMPARE(QImage(wanted.output).size(), QSize(1000, 700));
}

void ScreenshotTest::anUnknownViewIsRefusedWithTheKnownOnes()
{
    const auto taken = takeScreenshot(request(QStringLiteral("everything")));
    QVERIFY(!taken);
    QVERIFY(sentence(taken.error()).contains(QStringLiteral("population")));
}

void ScreenshotTest::aViewOfARunNeedsOne()
{
    ScreenshotRequest wanted = request(QStringLiteral("diff"));
    wanted.run_file.clear();
    QVERIFY(!takeScreenshot(wanted));
}

void ScreenshotTest::aTraceThatBelongsToNoRunIsRendered()
{
    ScreenshotRequest wanted = request(QStringLiteral("trace"));
    wanted.run_file.clear();
    QVERIFY2(!takeScreenshot(wanted), "it needs a file");
    wanted.run_file = folder_.file(QStringLiteral("trace.json"));
    QFile file(wanted.run_file);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"traceEvents":[{"ph":"X","pid":0,"tid":1,"ts":0,"dur":5,"name":"gemm","cat":"kernel"}]})");
    file.close();
    const auto taken = takeScreenshot(wanted);
    QVERIFY2(taken, taken ? "" : qPrintable(sentence(taken.error())));
    QVERIFY(QImage(wanted.output).height() > 0);
}

void ScreenshotTest::anUnknownCandidateIsRefused()
{
    ScreenshotRequest wanted = request(QStringLiteral("diff"));
    wanted.select = QStringLiteral("c3,c999");
    const auto taken = takeScreenshot(wanted);
    QVERIFY(!taken);
    QVERIFY(sentence(taken.error()).contains(QStringLiteral("c999")));
}

void ScreenshotTest::aPlaceThatCannotBeWrittenIsRefused()
{
    ScreenshotRequest wanted = request(QStringLiteral("log"));
    wanted.output = folder_.file(QStringLiteral("no/such/folder/picture.png"));
    QVERIFY(!takeScreenshot(wanted));
}

void ScreenshotTest::aMissingFileIsRefused()
{
    ScreenshotRequest wanted = request(QStringLiteral("log"));
    wanted.run_file = folder_.file(QStringLiteral("missing.cuco"));
    QVERIFY(!takeScreenshot(wanted));
}

QTEST_MAIN(ScreenshotTest)
#include "screenshot_test.moc"
