/*
 * not_a_plugin.c - a shared object without GetPjrtApi, which a loader of
 * plugins must refuse in words.
 */
int not_a_plugin(void);
int not_a_plugin(void)
{
    return 0;
}
