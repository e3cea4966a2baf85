#include "plots/plot_priv.h"
bn_code plot_report_html(const plot_report *report, bn_text *out, bn_status *st)
{
    (void)report, (void)out;
    return bn_fail(st, BN_NOT_SUPPORTED, "later");
}
