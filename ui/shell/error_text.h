// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/error.h"

#include <QString>

namespace cuco::ui {

/// "What is wrong. What to do." The place is left to the details.
QString sentence(const Error& error);

}  // namespace cuco::ui
