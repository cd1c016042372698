#pragma once

// Functions of a library that is loaded by the first call of one of them: for
// libraries that most processes never need, of which the loader would take a
// millisecond and more at each start. Whoever links these definitions links no such
// library; calls and addresses are as if it did. For x86-64.

namespace troupe {

/// Where a late function goes. The code below knows how it is laid out.
struct late_function {
  void* address;
  const char* name;
};

} // namespace troupe

/// Defines a function, by the name that the linker knows: a jump to where its entry
/// says, at first to code that has `troupe_find_late` fill in the entry. Arguments and
/// results pass through, since none is touched. Hidden: what the library itself calls
/// does not come here. In sections of its own: what nobody calls is left out.
#define TROUPE_LATE_FUNCTION(name)                                             \
  asm(".section .text.late." #name ", \"ax\", @progbits\n"                     \
      ".globl " #name "\n"                                                     \
      ".hidden " #name "\n"                                                    \
      ".type " #name ", @function\n" #name ":\n"                               \
      "  endbr64\n"                                                            \
      "  jmp *.Llate." #name "(%rip)\n"                                        \
      ".size " #name ", . - " #name "\n"                                       \
      ".Lload." #name ":\n"                                                    \
      "  endbr64\n"                                                            \
      "  leaq .Llate." #name "(%rip), %r11\n"                                  \
      "  jmp troupe_load_late\n"                                               \
      ".section .rodata.late." #name ", \"a\", @progbits\n"                    \
      ".Lname." #name ": .string \"" #name "\"\n"                              \
      ".section .data.late." #name ", \"aw\", @progbits\n"                     \
      ".balign 8\n"                                                            \
      ".Llate." #name ": .quad .Lload." #name ", .Lname." #name "\n"           \
      ".text\n");

/// Fills in an entry, and does not return without. To be defined beside
/// TROUPE_LATE_LOADER, in the one file of a library or program that has late
/// functions.
extern "C" __attribute__((visibility("hidden"), used)) void*
troupe_find_late(troupe::late_function* x) noexcept;

/// What late functions go to first. It keeps what may hold arguments, and the number
/// of vector registers in rax.
#define TROUPE_LATE_LOADER                                                     \
  asm(".text\n"                                                                \
      ".globl troupe_load_late\n"                                              \
      ".hidden troupe_load_late\n"                                             \
      ".type troupe_load_late, @function\n"                                    \
      "troupe_load_late:\n"                                                    \
      "  .cfi_startproc\n"                                                     \
      "  pushq %rbp\n"                                                         \
      "  .cfi_def_cfa_offset 16\n"                                             \
      "  .cfi_offset %rbp, -16\n"                                              \
      "  movq %rsp, %rbp\n"                                                    \
      "  .cfi_def_cfa_register %rbp\n"                                         \
      "  andq $-16, %rsp\n"                                                    \
      "  subq $192, %rsp\n"                                                    \
      "  movq %rdi, 0(%rsp)\n"                                                 \
      "  movq %rsi, 8(%rsp)\n"                                                 \
      "  movq %rdx, 16(%rsp)\n"                                                \
      "  movq %rcx, 24(%rsp)\n"                                                \
      "  movq %r8, 32(%rsp)\n"                                                 \
      "  movq %r9, 40(%rsp)\n"                                                 \
      "  movq %rax, 48(%rsp)\n"                                                \
      "  movq %r10, 56(%rsp)\n"                                                \
      "  movaps %xmm0, 64(%rsp)\n"                                             \
      "  movaps %xmm1, 80(%rsp)\n"                                             \
      "  movaps %xmm2, 96(%rsp)\n"                                             \
      "  movaps %xmm3, 112(%rsp)\n"                                            \
      "  movaps %xmm4, 128(%rsp)\n"                                            \
      "  movaps %xmm5, 144(%rsp)\n"                                            \
      "  movaps %xmm6, 160(%rsp)\n"                                            \
      "  movaps %xmm7, 176(%rsp)\n"                                            \
      "  movq %r11, %rdi\n"                                                    \
      "  call troupe_find_late\n"                                              \
      "  movq %rax, %r11\n"                                                    \
      "  movq 0(%rsp), %rdi\n"                                                 \
      "  movq 8(%rsp), %rsi\n"                                                 \
      "  movq 16(%rsp), %rdx\n"                                                \
      "  movq 24(%rsp), %rcx\n"                                                \
      "  movq 32(%rsp), %r8\n"                                                 \
      "  movq 40(%rsp), %r9\n"                                                 \
      "  movq 48(%rsp), %rax\n"                                                \
      "  movq 56(%rsp), %r10\n"                                                \
      "  movaps 64(%rsp), %xmm0\n"                                             \
      "  movaps 80(%rsp), %xmm1\n"                                             \
      "  movaps 96(%rsp), %xmm2\n"                                             \
      "  movaps 112(%rsp), %xmm3\n"                                            \
      "  movaps 128(%rsp), %xmm4\n"                                            \
      "  movaps 144(%rsp), %xmm5\n"                                            \
      "  movaps 160(%rsp), %xmm6\n"                                            \
      "  movaps 176(%rsp), %xmm7\n"                                            \
      "  leave\n"                                                              \
      "  .cfi_def_cfa %rsp, 8\n"                                               \
      "  jmp *%r11\n"                                                          \
      "  .cfi_endproc\n"                                                       \
      ".size troupe_load_late, . - troupe_load_late\n");
