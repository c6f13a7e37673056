// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/diff/qscintilla.h"

#include <QString>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuco::ui {

class CudaHighlighting;

/// A source that a person edits. Where it has evolve blocks, only what stands in them changes: typing elsewhere does
/// nothing, and what changes frozen code in another way is taken back.
class CopyEditor : public QsciScintilla {
    Q_OBJECT

public:
    enum Marker { frozen_marker = 1, evolve_marker, fault_marker };

    explicit CopyEditor(const std::string& source, QWidget* parent = nullptr);

    std::string source() const;
    /// A note under a line, 1-based; 0: none.
    void setFault(int line, const QString& text);

Q_SIGNALS:
    void edited();  ///< the text is another one, and nothing frozen has changed
    void refused(const QString& why);
    void left();  ///< by Escape: Tab indents

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    using Range = std::pair<std::size_t, std::size_t>;

    void setUp();
    void applyColors();
    void settle();
    void mark();
    /// What stands in the evolve blocks of the text as it is, in bytes; nothing when frozen code was changed.
    std::optional<std::vector<Range>> blocks() const;
    bool mayType(const QKeyEvent& event) const;

    std::vector<std::string> frozen_;  ///< the segments around the blocks; none: all of it may change
    CudaHighlighting* highlighting_;
    int fault_line_ = 0;
    bool settling_ = false, taking_back_ = false;
};

}  // namespace cuco::ui
