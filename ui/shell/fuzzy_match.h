// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <optional>

namespace cuco::ui {

/// How well `text` has the characters of `pattern` in their order, blanks and case ignored: higher is better.
/// Beginnings of words and runs of characters count more. Nothing when a character is missing.
std::optional<int> fuzzyScore(const QString& pattern, const QString& text);

}  // namespace cuco::ui
