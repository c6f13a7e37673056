// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/diff/diff_editor.h"

#include "ui/views/diff/cuda_highlighting.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>

#include <algorithm>

namespace cuco::ui {

namespace {

constexpr int evolve_band_width = 4;
// Above Scintilla's predefined styles and those of its C++ lexer.
constexpr int number_style = 40, fold_style = 41, fault_style = 42;

std::string joined(const std::vector<PageLine>& lines)
{
    std::string text;
    for (const PageLine& line : lines) {
        if (!text.empty() || &line != lines.data())
            text += '\n';
        const std::size_t begin = text.size();
        text += line.text;
        // A lone carriage return would be a line of its own and put the sides out of step.
        std::replace(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), '\r', ' ');
    }
    return text;
}

}  // namespace

DiffEditor::DiffEditor(QWidget* parent) : QsciScintilla(parent), highlighting_(new CudaHighlighting(this))
{
    setUtf8(true);
    setReadOnly(true);
    setFrameShape(QFrame::NoFrame);
    setLexer(highlighting_);
    SendScintilla(SCI_SETPROPERTY, "lexer.cpp.track.preprocessor", "0");
    SendScintilla(SCI_SETUNDOCOLLECTION, 0UL);
    SendScintilla(SCI_USEPOPUP, 0UL);
    SendScintilla(SCI_SETSCROLLWIDTHTRACKING, 1UL);
    SendScintilla(SCI_SETSCROLLWIDTH, 1UL);
    setTabWidth(4);
    setFolding(NoFoldStyle);
    setBraceMatching(NoBraceMatch);
    setAnnotationDisplay(AnnotationStandard);

    setMarginType(number_margin, TextMarginRightJustified);
    setMarginType(fault_margin, SymbolMargin);
    setMarginType(evolve_margin, SymbolMargin);
    setMarginWidth(fault_margin, 2 * grid);
    setMarginWidth(evolve_margin, evolve_band_width);
    setMarginMarkerMask(number_margin, 0);
    setMarginMarkerMask(fault_margin, 1 << fault_marker);
    setMarginMarkerMask(evolve_margin, 1 << evolve_marker);
    markerDefine(Background, added_marker);
    markerDefine(Background, removed_marker);
    markerDefine(Background, filler_marker);
    markerDefine(FullRectangle, evolve_marker);
    markerDefine(Circle, fault_marker);
    for (const Indicator indicator : {added_word, removed_word}) {
        indicatorDefine(FullBoxIndicator, indicator);
        setIndicatorDrawUnder(true, indicator);
    }
    applyColors();
}

void DiffEditor::applyColors()
{
    const Colors colors = colorsFor(palette());
    applyCodeColors(*this, *highlighting_);
    if (!lexer())
        setFont(monoFont());
    setMarkerBackgroundColor(colors.added_line, added_marker);
    setMarkerBackgroundColor(colors.removed_line, removed_marker);
    setMarkerBackgroundColor(colors.surface, filler_marker);
    setMarkerBackgroundColor(colors.selected, evolve_marker);
    setMarkerForegroundColor(colors.selected, evolve_marker);
    setMarkerBackgroundColor(colors.failed, fault_marker);
    setMarkerForegroundColor(colors.failed, fault_marker);
    const auto restyle = [&](int number, const QColor& color, const QColor& paper) {
        QsciStyle(number, QString(), color, paper, monoFont(-1)).apply(this);
    };
    restyle(number_style, colors.secondary, colors.surface);
    restyle(fold_style, colors.secondary, colors.raised);
    restyle(fault_style, colors.readable(colors.failed), colors.raised);
    setIndicatorForegroundColor(colors.added_word, added_word);
    setIndicatorForegroundColor(colors.removed_word, removed_word);
    for (const Indicator indicator : {added_word, removed_word}) {
        SendScintilla(SCI_INDICSETALPHA, static_cast<unsigned long>(indicator), 255L);
        SendScintilla(SCI_INDICSETOUTLINEALPHA, static_cast<unsigned long>(indicator), 255L);
    }
}

void DiffEditor::changeEvent(QEvent* event)
{
    QsciScintilla::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        applyColors();
}

void DiffEditor::setPlain()
{
    setLexer(nullptr);
    applyColors();
}

void DiffEditor::setPage(DiffPage page)
{
    page_ = std::move(page);
    markerDeleteAll();
    clearAnnotations();
    clearMarginText();
    const std::string text = joined(page_.lines);
    setReadOnly(false);
    SendScintilla(SCI_CLEARALL);
    SendScintilla(SCI_ADDTEXT, static_cast<unsigned long>(text.size()), text.data());
    SendScintilla(SCI_SHOWLINES, 0UL, static_cast<long>(page_.lines.size()));
    setReadOnly(true);
    SendScintilla(SCI_SETSCROLLWIDTH, 1UL);
    fitNumberMargin();
    for (int line = 0; line < static_cast<int>(page_.lines.size()); ++line)
        decorate(line);
    setCursorPosition(0, 0);
}

void DiffEditor::fitNumberMargin()
{
    int largest = 1;
    for (const PageLine& line : page_.lines)
        largest = std::max({largest, line.left_line, line.right_line});
    number_width_ = static_cast<int>(QString::number(largest).size());
    const int columns = page_.kind == PageKind::unified ? 2 * number_width_ + 1 : number_width_;
    setMarginWidth(number_margin, QString(columns + 1, QLatin1Char('0')));
}

void DiffEditor::decorate(int line)
{
    const PageLine& shown = page_.lines[static_cast<std::size_t>(line)];
    const bool is_left = page_.kind == PageKind::left || (page_.kind == PageKind::unified && shown.right_line == 0);
    if (shown.filler)
        markerAdd(line, filler_marker);
    else if (shown.kind != DiffRowKind::equal)
        markerAdd(line, is_left ? removed_marker : added_marker);
    if (shown.evolvable)
        markerAdd(line, evolve_marker);

    const auto number = [](int of_line) { return of_line > 0 ? QString::number(of_line) : QString(); };
    QString numbers = page_.kind == PageKind::left ? number(shown.left_line) : number(shown.right_line);
    if (page_.kind == PageKind::unified)
        numbers = number(shown.left_line).rightJustified(number_width_) + QLatin1Char(' ') +
                  number(shown.right_line).rightJustified(number_width_);
    setMarginText(line, numbers, number_style);

    const long begin = SendScintilla(SCI_POSITIONFROMLINE, static_cast<unsigned long>(line));
    SendScintilla(SCI_SETINDICATORCURRENT, static_cast<unsigned long>(is_left ? removed_word : added_word));
    for (const TextSpan& span : shown.changes)
        SendScintilla(SCI_INDICATORFILLRANGE, static_cast<unsigned long>(begin + span.begin),
                      static_cast<long>(span.end - span.begin));
}

void DiffEditor::setNote(int line, const QString& text, bool is_fault)
{
    if (is_fault)
        markerAdd(line, fault_marker);
    annotate(line, text, is_fault ? fault_style : fold_style);
}

void DiffEditor::setFoldHidden(int index, bool hidden)
{
    const auto [first, last] = page_.folds[static_cast<std::size_t>(index)];
    SendScintilla(hidden ? SCI_HIDELINES : SCI_SHOWLINES, static_cast<unsigned long>(first), static_cast<long>(last));
    if (hidden)
        setNote(first - 1, tr("   ⋯ %1 unchanged lines; click to show them").arg(last - first + 1), false);
    else
        clearAnnotations(first - 1);
}

void DiffEditor::goTo(int line)
{
    setCursorPosition(line, 0);
    const long visible = SendScintilla(SCI_VISIBLEFROMDOCLINE, static_cast<unsigned long>(line));
    const long above = std::max(SendScintilla(SCI_LINESONSCREEN) / 3, static_cast<long>(context_lines) + 1);
    SendScintilla(SCI_SETFIRSTVISIBLELINE, static_cast<unsigned long>(std::max(visible - above, 0L)));
}

int DiffEditor::find(const QString& text, bool forward)
{
    const QByteArray wanted = text.toUtf8();
    if (wanted.isEmpty())
        return -1;
    const long length = SendScintilla(SCI_GETLENGTH);
    const long begin = SendScintilla(SCI_GETSELECTIONSTART), end = SendScintilla(SCI_GETSELECTIONEND);
    SendScintilla(SCI_SETSEARCHFLAGS, 0UL);
    const auto search = [&](long from, long to) {
        SendScintilla(SCI_SETTARGETRANGE, static_cast<unsigned long>(from), to);
        return SendScintilla(SCI_SEARCHINTARGET, static_cast<unsigned long>(wanted.size()), wanted.constData());
    };
    long found = forward ? search(end, length) : search(begin, 0);
    if (found < 0)
        found = forward ? search(0, length) : search(length, 0);
    if (found < 0)
        return -1;
    SendScintilla(SCI_SETSEL, static_cast<unsigned long>(found), found + static_cast<long>(wanted.size()));
    return static_cast<int>(SendScintilla(SCI_LINEFROMPOSITION, static_cast<unsigned long>(found)));
}

QString DiffEditor::selectedSource() const
{
    const long begin = SendScintilla(SCI_GETSELECTIONSTART), end = SendScintilla(SCI_GETSELECTIONEND);
    QByteArray source;
    bool first = true;
    const long last = std::min(SendScintilla(SCI_LINEFROMPOSITION, static_cast<unsigned long>(end)),
                               static_cast<long>(page_.lines.size()) - 1);
    for (long line = SendScintilla(SCI_LINEFROMPOSITION, static_cast<unsigned long>(begin)); line <= last; ++line) {
        const PageLine& shown = page_.lines[static_cast<std::size_t>(line)];
        if (shown.filler)
            continue;
        const long line_begin = SendScintilla(SCI_POSITIONFROMLINE, static_cast<unsigned long>(line));
        const long from = std::max(begin - line_begin, 0L);
        const long to = std::min(end - line_begin, static_cast<long>(shown.text.size()));
        if (!first)
            source += '\n';
        first = false;
        if (to > from)
            source.append(shown.text.data() + from, to - from);
    }
    return QString::fromUtf8(source);
}

void DiffEditor::copySelectedSource() const
{
    if (hasSelectedText())
        QApplication::clipboard()->setText(selectedSource());
}

int DiffEditor::foldAt(QPoint position) const
{
    const long height = SendScintilla(SCI_TEXTHEIGHT, 0UL);
    const long row = SendScintilla(SCI_GETFIRSTVISIBLELINE) + position.y() / std::max(height, 1L);
    const long line = SendScintilla(SCI_DOCLINEFROMVISIBLE, static_cast<unsigned long>(row));
    if (SendScintilla(SCI_VISIBLEFROMDOCLINE, static_cast<unsigned long>(line)) == row)
        return -1;  // on the line itself, not on the note below it
    for (std::size_t index = 0; index < page_.folds.size(); ++index) {
        const int first = page_.folds[index].first;
        if (first - 1 == line && SendScintilla(SCI_GETLINEVISIBLE, static_cast<unsigned long>(first)) == 0)
            return static_cast<int>(index);
    }
    return -1;
}

void DiffEditor::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy))
        copySelectedSource();
    else if (event->modifiers() == Qt::NoModifier && event->key() == Qt::Key_N)
        Q_EMIT nextHunkRequested();
    else if (event->modifiers() == Qt::NoModifier && event->key() == Qt::Key_P)
        Q_EMIT previousHunkRequested();
    else
        QsciScintilla::keyPressEvent(event);
}

void DiffEditor::mousePressEvent(QMouseEvent* event)
{
    const int clicked = event->button() == Qt::LeftButton ? foldAt(event->pos()) : -1;
    if (clicked >= 0)
        Q_EMIT foldClicked(clicked);
    else
        QsciScintilla::mousePressEvent(event);
}

void DiffEditor::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu;
    QAction* copy = menu.addAction(tr("Copy"), this, [this] { copySelectedSource(); });
    copy->setEnabled(hasSelectedText());
    menu.addAction(tr("Select all"), this, [this] { selectAll(); });
    menu.exec(event->globalPos());
}

}  // namespace cuco::ui
