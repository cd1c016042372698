// A program in C that opens a plugin for itself alone and runs it.

#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(void) = NULL;
  if (plugin != NULL)
    *(void**)&run = dlsym(plugin, "run");
  if (run == NULL) {
    const char* const why = dlerror();
    fprintf(stderr, "plugin_host: %s\n", why != NULL ? why : "no plugin");
    return 1;
  }
  const int result = run();
  fflush(stdout);
  return result;
}
