// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "stddef.h"

extern "C" {
void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
size_t strlen(const char* text);
int strcmp(const char* a, const char* b);
int strncmp(const char* a, const char* b, size_t bytes);
char* strcpy(char* to, const char* from);
char* strncpy(char* to, const char* from, size_t bytes);
char* strstr(const char* text, const char* part);
char* strchr(const char* text, int character);
char* strerror(int code);
}
