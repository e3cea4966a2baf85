/*
 * preload.c - between a program and plugins whose path is fixed: the recorder is preloaded, and its
 * dlsym answers "GetPjrtApi" with a function of its own. For all else the C library's dlsym
 * answers.
 *
 * That one looks at its return address to know the caller, whose place in the order of libraries
 * is what RTLD_NEXT and RTLD_DEFAULT mean. So it is reached by a jump and not by a call: it then
 * returns to our caller, and finds that. Where the compiler does not make a jump of it (without
 * optimisation, under some sanitizers), a caller's RTLD_NEXT begins behind the recorder: it skips
 * libraries that are preloaded between the caller and the recorder. For the name GetPjrtApi alone
 * it is always so.
 */
#define _GNU_SOURCE /* dladdr, RTLD_NEXT */

#include "runtime/record/record_priv.h"

#include <dlfcn.h>

#if defined(__clang__)
#define JUMPS RECORD_BARE
#define JUMP  __attribute__((musttail)) return
#else
#define JUMPS RECORD_BARE __attribute__((optimize("O2")))
#define JUMP  return
#endif

/* ---- the answer ----------------------------------------------------------------------------- */

static bool is_ours(const void *symbol)
{
    Dl_info there, here;
    return dladdr(symbol, &there) && dladdr(record_plugins, &here) && there.dli_fbase == here.dli_fbase;
}

/* Keeps the library that has SYMBOL in memory. The plugin's table was copied, and callers keep the
 * copy: if the plugin were unloaded, another library could come to lie at its addresses. */
static void keep_loaded(const void *symbol)
{
    Dl_info info;
    if (!dladdr(symbol, &info) || !info.dli_fname)
        return;
    void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (library)
        dlclose(library);
    (void)dlerror();
}

/* The function returned for SYMBOL, some library's GetPjrtApi. */
static void *answer_for(void *library, void *symbol)
{
    bool named = library != RTLD_NEXT && library != RTLD_DEFAULT;
    if (symbol && is_ours(symbol)) {
        /* A caller that opened the recorder by its path wants it. A search finds it because it was
         * preloaded, and goes on. */
        if (named)
            return symbol;
        symbol = record_symbol(RTLD_NEXT, "GetPjrtApi");
    }
    if (!symbol)
        return NULL;
    /* Another copy of the recorder records by itself. A search that finds none is no error of the
     * caller's, who may ask for one. */
    bool copy = named && record_symbol(library, RECORD_SYMBOL);
    (void)dlerror();
    if (copy)
        return symbol;
    record_settings();
    record_get *get;
    memcpy(&get, &symbol, sizeof get);
    record_plugin *p = record_wanted() ? record_plugin_of(get) : NULL;
    if (!p)
        return symbol;
    keep_loaded(symbol);
    get = record_plugin_getter(p);
    memcpy(&symbol, &get, sizeof symbol);
    return symbol;
}

RECORD_BARE static bool is_entry(const char *name)
{
    static const char entry[] = "GetPjrtApi";
    for (size_t i = 0; i < sizeof entry; i++)
        if (name[i] != entry[i])
            return false;
    return true;
}

RECORD_EXPORT void *dlsym(void *restrict library, const char *restrict name);
JUMPS void *dlsym(void *restrict library, const char *restrict name)
{
    record_finder *find = record_symbol_finder();
    if (!find)
        return NULL;
    if (is_entry(name))
        return answer_for(library, record_symbol(library, name));
    JUMP find(library, name);
}
