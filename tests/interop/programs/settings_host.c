/* A daemon in C that sets what it is told, and serves until its input ends.
 *
 *   settings_host [KEY=TEXT | KEY:NUMBER]...
 *
 * Prints where its server listens, `HOST PORT`; or why it does not start. */

#include <pmix.h>
#include <pmix_server.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_server_module_t host;

int main(int argc, char** argv) {
  pmix_info_t* infos;
  PMIX_INFO_CREATE(infos, argc);
  PMIX_INFO_LOAD(&infos[0], PMIX_TCP_REPORT_URI, "-", PMIX_STRING);
  for (int i = 1; i < argc; ++i) {
    char* middle = argv[i] + strcspn(argv[i], "=:");
    const bool is_number = *middle == ':';
    if (*middle != '\0')
      *middle++ = '\0';
    const uint32_t number = (uint32_t)atoi(middle);
    if (is_number)
      PMIX_INFO_LOAD(&infos[i], argv[i], &number, PMIX_UINT32);
    else
      PMIX_INFO_LOAD(&infos[i], argv[i], middle, PMIX_STRING);
  }
  const pmix_status_t code = PMIx_server_init(&host, infos, (size_t)argc);
  if (code != PMIX_SUCCESS) {
    printf("%s\n", PMIx_Error_string(code));
    return 1;
  }
  fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0)
    ;
  PMIx_server_finalize();
  return 0;
}
