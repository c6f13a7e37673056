// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/edit/copy_editor.h"

#include "core/source/kernel_source.h"
#include "ui/style/theme.h"
#include "ui/views/diff/cuda_highlighting.h"

#include <QKeyEvent>

#include <algorithm>

namespace cuco::ui {

namespace {

enum Margin { number_margin, fault_margin, evolve_margin };
constexpr int evolve_band_width = 4;
constexpr int fault_style = 42;  // above Scintilla's predefined styles and those of its C++ lexer

QString frozenText()
{
    return CopyEditor::tr("Only what stands between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END can be changed.");
}

}  // namespace

CopyEditor::CopyEditor(const std::string& source, QWidget* parent)
    : QsciScintilla(parent), highlighting_(new CudaHighlighting(this))
{
    setUp();
    applyColors();
    if (const auto parsed = KernelSource::parse(source))
        for (const std::string_view segment : parsed->frozenSegments())
            frozen_.emplace_back(segment);
    setEolMode(source.contains("\r\n") ? EolWindows : EolUnix);
    SendScintilla(SCI_SETUNDOCOLLECTION, 0UL);
    SendScintilla(SCI_ADDTEXT, static_cast<unsigned long>(source.size()), source.data());
    SendScintilla(SCI_SETUNDOCOLLECTION, 1UL);
    SendScintilla(SCI_EMPTYUNDOBUFFER);
    SendScintilla(SCI_SETSAVEPOINT);
    mark();
    int first = 0;
    if (const auto ranges = blocks(); ranges && !ranges->empty())
        first = static_cast<int>(SendScintilla(SCI_LINEFROMPOSITION, ranges->front().first));
    setCursorPosition(first, 0);
    setFirstVisibleLine(std::max(first - 3, 0));
    connect(this, &QsciScintilla::textChanged, this, [this] {
        if (taking_back_ || settling_)
            return;
        settling_ = true;
        // Scintilla must not be changed while it tells of a change.
        QMetaObject::invokeMethod(this, &CopyEditor::settle, Qt::QueuedConnection);
    });
}

void CopyEditor::setUp()
{
    setUtf8(true);
    setFrameShape(QFrame::NoFrame);
    setLexer(highlighting_);
    SendScintilla(SCI_SETPROPERTY, "lexer.cpp.track.preprocessor", "0");
    SendScintilla(SCI_SETSCROLLWIDTHTRACKING, 1UL);
    SendScintilla(SCI_SETSCROLLWIDTH, 1UL);
    setTabWidth(4);
    setIndentationsUseTabs(false);
    setAutoIndent(true);
    setFolding(NoFoldStyle);
    setBraceMatching(SloppyBraceMatch);
    setAnnotationDisplay(AnnotationStandard);
    setMarginType(number_margin, NumberMargin);
    setMarginWidth(number_margin, QStringLiteral("00000"));
    setMarginType(fault_margin, SymbolMargin);
    setMarginType(evolve_margin, SymbolMargin);
    setMarginWidth(fault_margin, 2 * grid);
    setMarginWidth(evolve_margin, evolve_band_width);
    setMarginMarkerMask(number_margin, 0);
    setMarginMarkerMask(fault_margin, 1 << fault_marker);
    setMarginMarkerMask(evolve_margin, 1 << evolve_marker);
    markerDefine(Background, frozen_marker);
    markerDefine(FullRectangle, evolve_marker);
    markerDefine(Circle, fault_marker);
    for (QsciCommand* command : standardCommands()->commands()) {
        switch (command->command()) {
            // Rarely meant, and the window has commands at these keys.
            case QsciCommand::LineCut:
            case QsciCommand::LineDelete:
            case QsciCommand::LineTranspose:
            case QsciCommand::LineCopy:
            case QsciCommand::SelectionDuplicate:
            case QsciCommand::SelectionLowerCase:
            case QsciCommand::SelectionUpperCase:
                command->setKey(0);
                break;
            case QsciCommand::Redo:
                command->setAlternateKey((Qt::CTRL | Qt::SHIFT | Qt::Key_Z).toCombined());
                break;
            default:
                break;
        }
    }
}

void CopyEditor::applyColors()
{
    const Colors colors = colorsFor(palette());
    applyCodeColors(*this, *highlighting_);
    setMarkerBackgroundColor(colors.surface, frozen_marker);
    setMarkerBackgroundColor(colors.selected, evolve_marker);
    setMarkerForegroundColor(colors.selected, evolve_marker);
    setMarkerBackgroundColor(colors.failed, fault_marker);
    setMarkerForegroundColor(colors.failed, fault_marker);
    QsciStyle(fault_style, QString(), colors.readable(colors.failed), colors.raised, monoFont(-1)).apply(this);
}

void CopyEditor::changeEvent(QEvent* event)
{
    QsciScintilla::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        applyColors();
}

std::string CopyEditor::source() const
{
    std::string text(static_cast<std::size_t>(SendScintilla(SCI_GETLENGTH)), '\0');
    // It writes a zero byte behind the text.
    SendScintilla(SCI_GETTEXT, text.size() + 1, static_cast<void*>(text.data()));
    return text;
}

std::optional<std::vector<CopyEditor::Range>> CopyEditor::blocks() const
{
    std::vector<Range> ranges;
    if (frozen_.empty())
        return ranges;
    const std::string text = source();
    if (!text.starts_with(frozen_.front()))
        return std::nullopt;
    std::size_t begin = frozen_.front().size();
    for (std::size_t i = 1; i < frozen_.size(); ++i) {
        const bool is_last = i + 1 == frozen_.size();
        if (text.size() < begin + frozen_[i].size())
            return std::nullopt;
        const std::size_t end = is_last ? text.size() - frozen_[i].size() : text.find(frozen_[i], begin);
        // The end marker has its line for itself.
        if (end == std::string::npos || !std::string_view(text).substr(end).starts_with(frozen_[i]) ||
            text[end - 1] != '\n')
            return std::nullopt;
        ranges.emplace_back(begin, end);
        begin = end + frozen_[i].size();
    }
    return ranges;
}

void CopyEditor::settle()
{
    settling_ = false;
    if (blocks()) {
        mark();
        Q_EMIT edited();
        return;
    }
    taking_back_ = true;
    do {
        SendScintilla(SCI_UNDO);
    } while (!blocks() && SendScintilla(SCI_CANUNDO));
    taking_back_ = false;
    mark();
    Q_EMIT refused(frozenText());
}

void CopyEditor::mark()
{
    const auto ranges = blocks();
    if (!ranges || frozen_.empty())
        return;
    const auto lineAt = [this](std::size_t position) {
        return static_cast<int>(SendScintilla(SCI_LINEFROMPOSITION, static_cast<unsigned long>(position)));
    };
    const auto set = [this](int line, Marker wanted, Marker other) {
        const unsigned markers = markersAtLine(line);
        if (markers & (1u << other))
            markerDelete(line, other);
        if (!(markers & (1u << wanted)))
            markerAdd(line, wanted);
    };
    int line = 0;
    for (const auto& [begin, end] : *ranges) {
        const int first = lineAt(begin), after = lineAt(end);
        for (; line < first; ++line)
            set(line, frozen_marker, evolve_marker);
        for (; line < after; ++line)
            set(line, evolve_marker, frozen_marker);
    }
    for (; line < lines(); ++line)
        set(line, frozen_marker, evolve_marker);
}

void CopyEditor::setFault(int line, const QString& text)
{
    if (fault_line_ > 0) {
        markerDeleteAll(fault_marker);
        clearAnnotations();
    }
    fault_line_ = line <= lines() ? line : 0;
    if (fault_line_ > 0) {
        markerAdd(fault_line_ - 1, fault_marker);
        annotate(fault_line_ - 1, QStringLiteral("   ▲ ") + text, fault_style);
    }
}

bool CopyEditor::mayType(const QKeyEvent& event) const
{
    const bool commands = event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier);
    const bool removes = !commands && (event.key() == Qt::Key_Backspace || event.key() == Qt::Key_Delete);
    const bool breaks = !commands && (event.key() == Qt::Key_Return || event.key() == Qt::Key_Enter);
    const bool types =
        !commands && !event.text().isEmpty() && (event.text().at(0).isPrint() || event.key() == Qt::Key_Tab);
    const auto ranges = blocks();
    if ((!removes && !breaks && !types) || !ranges || frozen_.empty())
        return true;
    auto begin = static_cast<std::size_t>(SendScintilla(SCI_GETSELECTIONSTART));
    auto end = static_cast<std::size_t>(SendScintilla(SCI_GETSELECTIONEND));
    if (begin == end && event.key() == Qt::Key_Backspace)
        begin -= begin > 0 ? 1 : 0;
    else if (begin == end && event.key() == Qt::Key_Delete)
        ++end;
    // The last line of a block keeps its end.
    return std::ranges::any_of(*ranges, [&](const Range& block) {
        const std::size_t last = breaks || block.first == block.second ? block.second : block.second - 1;
        return begin >= block.first && end <= last;
    });
}

void CopyEditor::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) {
        Q_EMIT left();
        return;
    }
    if (!isReadOnly() && !mayType(*event)) {
        Q_EMIT refused(frozenText());
        return;
    }
    QsciScintilla::keyPressEvent(event);
}

}  // namespace cuco::ui
