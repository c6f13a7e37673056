// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diff/diff_panel.h"

#include "ui/views/diff/diff_editor.h"
#include "ui/views/diff/hunk_overview.h"

#include <QHBoxLayout>
#include <QScrollBar>
#include <QSplitter>
#include <QStackedLayout>

#include <algorithm>

namespace cuco::ui {

DiffPanel::DiffPanel(QWidget* parent) : QWidget(parent), pages_(new QStackedLayout), overview_(new HunkOverview(this))
{
    for (auto& editor : editors_)
        editor = new DiffEditor(this);
    auto* sides = new QSplitter(Qt::Horizontal, this);
    sides->setChildrenCollapsible(false);
    sides->addWidget(editor(PageKind::left));
    sides->addWidget(editor(PageKind::right));
    sides->setSizes({1000, 1000});
    pages_->addWidget(sides);
    pages_->addWidget(editor(PageKind::unified));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(pages_, 1);
    layout->addWidget(overview_);

    scrollTogether(editor(PageKind::left), editor(PageKind::right));
    scrollTogether(editor(PageKind::right), editor(PageKind::left));
    for (const PageKind kind : {PageKind::left, PageKind::right, PageKind::unified}) {
        DiffEditor* of_kind = editor(kind);
        connect(of_kind, &DiffEditor::foldClicked, this, [this, kind](int fold) {
            for (const PageKind page : together(kind))
                setFoldHidden(page, fold, false);
            updateSight();
        });
        connect(of_kind, &DiffEditor::nextHunkRequested, this, [this] { goToHunk(+1); });
        connect(of_kind, &DiffEditor::previousHunkRequested, this, [this] { goToHunk(-1); });
        connect(of_kind->verticalScrollBar(), &QScrollBar::valueChanged, this, &DiffPanel::updateSight);
    }
    connect(overview_, &HunkOverview::lineClicked, this, [this](int line) {
        reveal(unified_ ? PageKind::unified : PageKind::left, line);
        goToLine(line);
    });
    for (const PageKind kind : {PageKind::left, PageKind::right})
        connect(editor(kind), &QsciScintillaBase::SCN_FOCUSIN, this, [this, kind] { side_used_last_ = kind; });
    setFocusProxy(editor(PageKind::right));
}

void DiffPanel::setPlain()
{
    for (DiffEditor* editor : editors_)
        editor->setPlain();
}

void DiffPanel::scrollTogether(DiffEditor* from, DiffEditor* to)
{
    for (const auto bar : {&QAbstractScrollArea::verticalScrollBar, &QAbstractScrollArea::horizontalScrollBar}) {
        connect((from->*bar)(), &QScrollBar::valueChanged, to, [this, to, bar](int value) {
            if (scrolling_)
                return;
            scrolling_ = true;
            (to->*bar)()->setValue(value);
            scrolling_ = false;
        });
    }
    connect(from, &QsciScintillaBase::SCN_ZOOM, to, [this, from, to] {
        if (scrolling_)
            return;
        scrolling_ = true;
        to->zoomTo(static_cast<int>(from->SendScintilla(QsciScintillaBase::SCI_GETZOOM)));
        scrolling_ = false;
    });
}

std::vector<PageKind> DiffPanel::together(PageKind kind) const
{
    return kind == PageKind::unified ? std::vector{kind} : std::vector{PageKind::left, PageKind::right};
}

DiffEditor* DiffPanel::front() const
{
    return editor(unified_ ? PageKind::unified : PageKind::right);
}

int DiffPanel::hunks() const
{
    return static_cast<int>(front()->page().hunks.size());
}

Result<void> DiffPanel::setSides(DiffSide left, DiffSide right)
{
    // The pages and the diff view into the texts.
    for (DiffEditor* editor : editors_)
        editor->setPage({});
    diff_ = {};
    left_ = std::move(left);
    right_ = std::move(right);
    return rebuild();
}

Result<void> DiffPanel::setIgnoreWhiteSpace(bool ignore)
{
    if (ignore == ignore_white_space_)
        return {};
    ignore_white_space_ = ignore;
    return rebuild();
}

Result<void> DiffPanel::rebuild()
{
    auto diff = diffLines(left_.text, right_.text, {.ignore_white_space = ignore_white_space_});
    diff_ = diff ? std::move(*diff) : LineDiff{};
    hunk_ = -1;
    for (const PageKind kind : {PageKind::left, PageKind::right, PageKind::unified})
        fill(kind);
    annotateFaults();
    updateOverview();
    showFirstHunk();
    Q_EMIT hunkChanged();
    if (!diff)
        return std::unexpected(diff.error());
    return {};
}

void DiffPanel::fill(PageKind kind)
{
    DiffEditor* of_kind = editor(kind);
    of_kind->setPage(pageOf(diff_, left_, right_, kind));
    for (int fold = 0; folded_ && fold < static_cast<int>(of_kind->page().folds.size()); ++fold)
        of_kind->setFoldHidden(fold, true);
}

void DiffPanel::annotateFaults()
{
    for (const PageKind kind : {PageKind::left, PageKind::right, PageKind::unified}) {
        const auto& lines = editor(kind)->page().lines;
        for (int line = 0; line < static_cast<int>(lines.size()); ++line) {
            const PageLine& shown = lines[static_cast<std::size_t>(line)];
            const DiffFault* fault = faultAt(right_, shown.right_line);
            if (!fault)
                fault = faultAt(left_, shown.left_line);
            if (!fault)
                continue;
            const QString note = QStringLiteral("   ▲ ") + QString::fromStdString(fault->text);
            editor(kind)->setNote(line, note, true);
            for (const PageKind other : together(kind)) {
                if (other != kind)
                    editor(other)->setNote(
                        line, QString(note.count(QLatin1Char('\n')), QLatin1Char('\n')) + QLatin1Char(' '), false);
            }
        }
    }
}

void DiffPanel::setUnified(bool unified)
{
    if (unified == unified_)
        return;
    unified_ = unified;
    hunk_ = -1;
    pages_->setCurrentIndex(unified ? 1 : 0);
    setFocusProxy(front());
    updateOverview();
    showFirstHunk();
    Q_EMIT hunkChanged();
}

void DiffPanel::setFolded(bool folded)
{
    folded_ = folded;
    for (const PageKind kind : {PageKind::left, PageKind::right, PageKind::unified}) {
        for (int fold = 0; fold < static_cast<int>(editor(kind)->page().folds.size()); ++fold)
            setFoldHidden(kind, fold, folded);
    }
    updateSight();
}

void DiffPanel::setFoldHidden(PageKind kind, int fold, bool hidden)
{
    editor(kind)->setFoldHidden(fold, hidden);
}

void DiffPanel::reveal(PageKind kind, int line)
{
    const auto& folds = editor(kind)->page().folds;
    const auto fold = std::ranges::find_if(folds, [&](const auto& f) { return f.first <= line && line <= f.second; });
    if (fold == folds.end())
        return;
    for (const PageKind page : together(kind))
        setFoldHidden(page, static_cast<int>(fold - folds.begin()), false);
}

void DiffPanel::showSourceLine(int line)
{
    const PageKind kind = unified_ ? PageKind::unified : PageKind::right;
    const auto& lines = editor(kind)->page().lines;
    const auto found = std::ranges::find(lines, line, &PageLine::right_line);
    if (line <= 0 || found == lines.end())
        return;
    const int shown = static_cast<int>(found - lines.begin());
    reveal(kind, shown);
    goToLine(shown);
}

void DiffPanel::goToLine(int line)
{
    // Each by itself: a scroll bar that does not know its new range yet would cut the other's way short.
    scrolling_ = true;
    for (const PageKind kind : together(unified_ ? PageKind::unified : PageKind::right))
        editor(kind)->goTo(line);
    scrolling_ = false;
    updateSight();
}

void DiffPanel::showFirstHunk()
{
    goToLine(hunks() > 0 ? front()->page().hunks.front().first : 0);
}

void DiffPanel::goToHunk(int direction)
{
    if (hunks() == 0)
        return;
    hunk_ = std::clamp(hunk_ + direction, 0, hunks() - 1);
    goToLine(front()->page().hunks[static_cast<std::size_t>(hunk_)].first);
    Q_EMIT hunkChanged();
}

bool DiffPanel::find(const QString& text, bool forward)
{
    const PageKind kind = unified_ ? PageKind::unified : side_used_last_;
    const int line = editor(kind)->find(text, forward);
    if (line < 0)
        return false;
    reveal(kind, line);
    editor(kind)->ensureLineVisible(line);
    editor(kind)->ensureCursorVisible();
    return true;
}

void DiffPanel::updateOverview()
{
    const DiffPage& page = front()->page();
    std::vector<HunkOverview::Mark> marks;
    for (const auto& [first, last] : page.hunks) {
        HunkOverview::Mark mark{first, last, page.lines[static_cast<std::size_t>(first)].kind};
        for (int line = first; line <= last; ++line) {
            if (page.lines[static_cast<std::size_t>(line)].kind != mark.kind)
                mark.kind = DiffRowKind::changed;
        }
        marks.push_back(mark);
    }
    overview_->setMarks(std::move(marks), static_cast<int>(page.lines.size()));
    updateSight();
}

void DiffPanel::updateSight()
{
    const DiffEditor* shown = front();
    const long first = shown->SendScintilla(QsciScintillaBase::SCI_GETFIRSTVISIBLELINE);
    const long rows = shown->SendScintilla(QsciScintillaBase::SCI_LINESONSCREEN);
    const auto lineOf = [&](long row) {
        return static_cast<int>(
            shown->SendScintilla(QsciScintillaBase::SCI_DOCLINEFROMVISIBLE, static_cast<unsigned long>(row)));
    };
    overview_->setSight(lineOf(first),
                        std::min(lineOf(first + rows), static_cast<int>(shown->page().lines.size()) - 1));
}

void DiffPanel::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    updateSight();
}

}  // namespace cuco::ui
