/* make_figures.c - make_figures STORE: writes the store of figures_fixture.h, for scripts. */
#include "tests/plots/site/figures_fixture.h"

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("make_figures STORE\n", stderr);
        return 2;
    }
    res_store_begin();
    figures_store(argv[1]);
    return 0;
}
