// SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/fiber.h"

#include <cstdint>
#include <cstring>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>

#include <new>
#endif

extern "C" void cuco_emu_switch(void** from, void* to);
extern "C" void cuco_emu_fiber_start();

#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl cuco_emu_switch
.type cuco_emu_switch,@function
cuco_emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size cuco_emu_switch,.-cuco_emu_switch
.p2align 4
.globl cuco_emu_fiber_start
.type cuco_emu_fiber_start,@function
cuco_emu_fiber_start:
    .cfi_startproc
    .cfi_undefined rip
    movq %r13, %rdi
    callq *%r12
    ud2
    .cfi_endproc
.size cuco_emu_fiber_start,.-cuco_emu_fiber_start
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
.globl cuco_emu_switch
.type cuco_emu_switch,%function
cuco_emu_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size cuco_emu_switch,.-cuco_emu_switch
.p2align 4
.globl cuco_emu_fiber_start
.type cuco_emu_fiber_start,%function
cuco_emu_fiber_start:
    .cfi_startproc
    .cfi_undefined x30
    mov x0, x20
    blr x19
    brk #0
    .cfi_endproc
.size cuco_emu_fiber_start,.-cuco_emu_fiber_start
)");
#endif

namespace cuco_emu {

#if defined(__x86_64__)
void* prepare_fiber(void* top, void (*entry)(void*), void* argument)
{
    auto* sp = reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15});
    *--sp = nullptr;  // end of the chain of frames
    *--sp = nullptr;  // keeps the stack aligned at the call
    *--sp = reinterpret_cast<void*>(&cuco_emu_fiber_start);
    *--sp = nullptr;                         // rbp
    *--sp = nullptr;                         // rbx
    *--sp = reinterpret_cast<void*>(entry);  // r12
    *--sp = argument;                        // r13
    *--sp = nullptr;                         // r14
    *--sp = nullptr;                         // r15
    return sp;
}

void switch_fiber(void** from, void* to)
{
    cuco_emu_switch(from, to);
}
#elif defined(__aarch64__)
void* prepare_fiber(void* top, void (*entry)(void*), void* argument)
{
    auto* frame = reinterpret_cast<void**>((reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15}) - 160);
    std::memset(frame, 0, 160);
    frame[0] = reinterpret_cast<void*>(entry);                   // x19
    frame[1] = argument;                                         // x20
    frame[11] = reinterpret_cast<void*>(&cuco_emu_fiber_start);  // x30
    return frame;
}

void switch_fiber(void** from, void* to)
{
    cuco_emu_switch(from, to);
}
#else
namespace {

struct Context {
    ucontext_t context;
    void (*entry)(void*);
    void* argument;
};

void start(unsigned high, unsigned low)
{
    auto* self = reinterpret_cast<Context*>((static_cast<std::uint64_t>(high) << 32) | low);
    self->entry(self->argument);
}

}  // namespace

/// The context lies at the top of the stack that it runs on, below which 32 KiB at least must be free.
void* prepare_fiber(void* top, void (*entry)(void*), void* argument)
{
    const auto place = (reinterpret_cast<std::uintptr_t>(top) - sizeof(Context)) & ~std::uintptr_t{63};
    auto* self = new (reinterpret_cast<void*>(place)) Context{};
    getcontext(&self->context);
    self->entry = entry;
    self->argument = argument;
    self->context.uc_stack.ss_sp = reinterpret_cast<void*>(place - 32768);
    self->context.uc_stack.ss_size = 32768;
    const auto address = reinterpret_cast<std::uint64_t>(self);
    makecontext(&self->context, reinterpret_cast<void (*)()>(start), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
    return self;
}

void switch_fiber(void** from, void* to)
{
    Context here;
    *from = &here;
    swapcontext(&here.context, &static_cast<Context*>(to)->context);
}
#endif

}  // namespace cuco_emu
