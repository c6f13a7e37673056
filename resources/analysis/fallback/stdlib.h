// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "stddef.h"

extern "C" {
void* malloc(size_t bytes);
void* calloc(size_t count, size_t bytes);
void* realloc(void* memory, size_t bytes);
void free(void* memory);
int posix_memalign(void** memory, size_t alignment, size_t bytes);
void exit(int code);
void abort();
int atexit(void (*function)());
int abs(int);
int atoi(const char* text);
long atol(const char* text);
double atof(const char* text);
long long strtoll(const char* text, char** end, int base);
unsigned long long strtoull(const char* text, char** end, int base);
char* getenv(const char* name);
int setenv(const char* name, const char* value, int replace);
int rand();
void srand(unsigned seed);
}
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
