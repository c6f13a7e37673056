// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "stddef.h"

extern "C" {
typedef struct cuco_file FILE;
extern FILE *stdin, *stdout, *stderr;
int printf(const char* format, ...);
int fprintf(FILE* file, const char* format, ...);
int snprintf(char* text, size_t bytes, const char* format, ...);
int puts(const char* text);
int fflush(FILE* file);
FILE* fopen(const char* name, const char* mode);
int fclose(FILE* file);
size_t fread(void* to, size_t size, size_t count, FILE* file);
size_t fwrite(const void* from, size_t size, size_t count, FILE* file);
char* fgets(char* text, int bytes, FILE* file);
void perror(const char* text);
}
