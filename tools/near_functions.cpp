// Jumps of the program's own to functions of CAF that most tables of virtual functions
// have. An entry that leads to another library has a record of 24 bytes, which the loader
// reads at each start; one that leads into the program has a bit. Of 18,000 records 12,000
// were for 43 functions.
//
// The linker puts `__wrap_NAME` into the place of NAME, wherever the program names it, and
// NAME into that of `__real_NAME`: its option --wrap. For x86-64.

#define TROUPE_NEAR_FUNCTION(name)                                             \
  asm(".section .text.near." #name ", \"ax\", @progbits\n"                     \
      ".globl __wrap_" #name "\n"                                              \
      ".hidden __wrap_" #name "\n"                                             \
      ".type __wrap_" #name ", @function\n"                                    \
      "__wrap_" #name ":\n"                                                    \
      "  endbr64\n"                                                            \
      "  jmp *__real_" #name "@GOTPCREL(%rip)\n"                               \
      ".size __wrap_" #name ", . - __wrap_" #name "\n"                         \
      ".text\n");
#include "tools/near_functions.def"
