// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/timeline_window.h"

#include "ui/style/theme.h"
#include "ui/views/timeline/interval_text.h"
#include "ui/views/timeline/timeline_canvas.h"
#include "ui/views/timeline/timeline_pane.h"

#include <QFileInfo>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTextBrowser>
#include <QVBoxLayout>
#include <QtConcurrent/QtConcurrentRun>

namespace cuco::ui {

namespace {

constexpr int look_ms = 100;
constexpr int narrow = 900;  // in pixels: the report goes below the lanes

QString translated(const char* text)
{
    return TimelineWindow::tr(text);
}

QString microseconds(double us)
{
    return QStringLiteral("%1 µs").arg(us, 0, 'f', 1);
}

QString cell(const QString& text, bool head = false)
{
    return QStringLiteral("<%1 align='right' style='padding:1px 6px'>%2</%1>")
        .arg(head ? QStringLiteral("th") : QStringLiteral("td"), text.toHtmlEscaped());
}

QString hidden(const std::optional<double>& share, double overlapped_us, double communication_us)
{
    return share ? translated("%1 % of %2, %3")
                       .arg(*share * 100, 0, 'f', 1)
                       .arg(microseconds(communication_us), microseconds(overlapped_us))
                 : translated("none");
}

QString rankTable(const OverlapReport& report)
{
    const auto orNone = [](bool there, double us) { return there ? microseconds(us) : translated("none"); };
    QString rows =
        QStringLiteral("<tr>%1%2%3%4%5</tr>")
            .arg(cell(translated("Rank"), true), cell(translated("Compute"), true), cell(translated("Exposed"), true),
                 cell(translated("Wait"), true), cell(translated("Hidden communication"), true));
    for (const RankOverlap& rank : report.ranks) {
        const bool communicates = rank.hidden_share.has_value();
        rows += QStringLiteral("<tr>%1%2%3%4%5</tr>")
                    .arg(cell(QString::number(rank.rank)), cell(microseconds(rank.compute_us)),
                         cell(orNone(communicates, rank.exposed_us)), cell(microseconds(rank.wait_us)),
                         cell(hidden(rank.hidden_share, rank.overlapped_us, rank.communication_us)));
    }
    rows +=
        QStringLiteral("<tr>%1%2%3%4%5</tr>")
            .arg(cell(translated("all")), cell({}), cell(orNone(report.hidden_share.has_value(), report.exposed_us)),
                 cell({}), cell(hidden(report.hidden_share, report.overlapped_us, report.communication_us)));
    return QStringLiteral("<table cellspacing='0'>%1</table>").arg(rows);
}

QString pathText(const OverlapReport& report)
{
    if (!report.last_rank)
        return {};
    QString text = QStringLiteral("<h4>%1</h4><p>%2</p>")
                       .arg(translated("Critical path"), translated("Rank %1 ended last, in “%2”.")
                                                             .arg(*report.last_rank)
                                                             .arg(QString::fromStdString(report.last_lane))
                                                             .toHtmlEscaped());
    QString rows;
    for (const auto& [key, us] : criticalPathTimes(report)) {
        const QString doing = key.second ? activityName(*key.second) : translated("idle");
        rows += QStringLiteral("<tr>%1%2</tr>")
                    .arg(cell(translated("rank %1 %2").arg(key.first).arg(doing)), cell(microseconds(us)));
    }
    return text + QStringLiteral("<table cellspacing='0'>%1</table>").arg(rows);
}

}  // namespace

QString overlapHtml(const OverlapReport& report, const Timeline& timeline)
{
    QStringList facts{translated("makespan %1").arg(microseconds(report.makespan_us))};
    if (report.bound_us)
        facts += translated("bound %1, gap %2")
                     .arg(microseconds(*report.bound_us), microseconds(report.makespan_us - *report.bound_us));
    if (report.axis_error_us)
        facts += translated("ranks' axes agree within %1 µs").arg(*report.axis_error_us, 0, 'f', 3);
    if (timeline.untraced_us && timeline.traced_us && *timeline.untraced_us > 0)
        facts += translated("tracing cost %1 % (%2 instead of %3)")
                     .arg(100 * (*timeline.traced_us / *timeline.untraced_us - 1), 0, 'f', 1)
                     .arg(microseconds(*timeline.traced_us), microseconds(*timeline.untraced_us));
    if (report.dropped > 0)
        facts += translated("%1 records were lost: true figures are larger").arg(report.dropped);
    for (const std::string& note : timeline.notes)
        facts += QString::fromStdString(note);
    QString list;
    for (const QString& fact : facts)
        list += QStringLiteral("<li>%1</li>").arg(fact.toHtmlEscaped());
    return QStringLiteral("<h4>%1</h4>%2<ul>%3</ul>%4")
        .arg(translated("Overlap"), rankTable(report), list, pathText(report));
}

TimelineWindow::TimelineWindow(const QString& path, QWidget* parent)
    : QWidget(parent, Qt::Window), path_(path), pages_(new QStackedWidget(this))
{
    setAttribute(Qt::WA_DeleteOnClose, parent != nullptr);
    setWindowTitle(tr("%1 – trace").arg(QFileInfo(path).fileName()));
    resize(1200, 700);
    buildReading();
    splitter_ = new QSplitter(Qt::Horizontal, this);
    splitter_->setChildrenCollapsible(false);
    pane_ = new TimelinePane(splitter_);
    report_ = new QTextBrowser(splitter_);
    report_->setOpenLinks(false);
    report_->setFrameShape(QFrame::NoFrame);
    report_->setMinimumWidth(25 * grid);
    splitter_->addWidget(pane_);
    splitter_->addWidget(report_);
    splitter_->setStretchFactor(0, 1);
    splitter_->setSizes({800, 400});
    pages_->addWidget(splitter_);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(pages_);
    setFocusProxy(pane_->canvas());

    connect(&watcher_, &QFutureWatcher<Imported>::finished, this, [this] {
        look_.stop();
        present(watcher_.result());
        Q_EMIT finished();
    });
    connect(&look_, &QTimer::timeout, this, [this] { progress_->setValue(*permille_); });
    read();
}

TimelineWindow::~TimelineWindow()
{
    stop_.request_stop();
    watcher_.waitForFinished();
}

void TimelineWindow::buildReading()
{
    auto* page = new QWidget(pages_);
    message_ = new QLabel(tr("Reading %1 …").arg(QFileInfo(path_).fileName()), page);
    message_->setTextFormat(Qt::PlainText);
    message_->setWordWrap(true);
    message_->setAlignment(Qt::AlignCenter);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    progress_ = new QProgressBar(page);
    progress_->setRange(0, 1000);
    cancel_ = new QPushButton(tr("Cancel"), page);
    connect(cancel_, &QPushButton::clicked, this, &TimelineWindow::cancel);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(4 * grid, 4 * grid, 4 * grid, 4 * grid);
    layout->addStretch(1);
    layout->addWidget(message_);
    layout->addWidget(progress_);
    layout->addWidget(cancel_, 0, Qt::AlignHCenter);
    layout->addStretch(1);
    pages_->addWidget(page);
}

void TimelineWindow::read()
{
    look_.start(look_ms);
    watcher_.setFuture(QtConcurrent::run([path = path_.toStdString(), stop = stop_.get_token(), permille = permille_] {
        Imported imported;
        auto timeline =
            importTrace(path, {stop, [permille](double share) { *permille = static_cast<int>(share * 1000); }});
        if (!timeline) {
            imported.error = std::move(timeline.error());
            return imported;
        }
        imported.timeline = std::make_shared<const Timeline>(std::move(*timeline));
        imported.report = overlapOf(*imported.timeline);
        return imported;
    }));
}

void TimelineWindow::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    const Qt::Orientation orientation = width() < narrow ? Qt::Vertical : Qt::Horizontal;
    if (splitter_->orientation() != orientation) {
        splitter_->setOrientation(orientation);
        const int room = orientation == Qt::Vertical ? height() : width();
        splitter_->setSizes({room * 2 / 3, room / 3});
    }
}

void TimelineWindow::cancel()
{
    stop_.request_stop();
}

void TimelineWindow::present(const Imported& imported)
{
    progress_->hide();
    cancel_->hide();
    if (!imported.timeline) {
        message_->setText(QString::fromStdString(describe(imported.error)));
        return;
    }
    pane_->showTimeline(QFileInfo(path_).fileName(), imported.timeline, std::nullopt);
    report_->setHtml(overlapHtml(imported.report, *imported.timeline));
    pages_->setCurrentIndex(1);
    pane_->canvas()->setFocus();
}

QString TimelineWindow::reportText() const
{
    return report_->toPlainText();
}

QString TimelineWindow::messageText() const
{
    return pages_->currentIndex() == 0 ? message_->text() : QString();
}

}  // namespace cuco::ui
