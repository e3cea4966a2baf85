/* program.c - an optimized program: read, reported, freed. */
#include "runtime/hlo/hlo_priv.h"

#include <stdlib.h>

bn_code hlo_program_read(const char *format, const void *bytes, size_t size, hlo_program **program,
                         bn_status *st)
{
    hlo_program *p = bn_zalloc(1, sizeof *p);
    *program = NULL;
    bn_code code = hlo_module_open(&p->module, format, bytes, size, st);
    if (code == BN_OK)
        code = hlo_walk(&p->module, &p->report, st);
    if (code != BN_OK) {
        hlo_program_free(p);
        return code;
    }
    p->report.layouts = hlo_layouts(&p->module, &p->report.layout_count);
    *program = p;
    return BN_OK;
}

void hlo_program_free(hlo_program *program)
{
    if (!program)
        return;
    hlo_report_free(&program->report);
    hlo_module_close(&program->module);
    free(program);
}

const hlo_report *hlo_program_report(const hlo_program *program)
{
    return &program->report;
}
