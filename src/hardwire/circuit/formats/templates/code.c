<% for part in parts %>
static void part_«loop.index0»(uint64_t *v)
{
<% for line in part %>
    «line»
<% endfor %>
}

<% endfor %>
/* Called through a table, so that no compiler inlines them all into one endless function. */
static void (*const parts[])(uint64_t *) = {
    «part_names|initialiser»};

static void run_gates(const uint64_t *bits, uint64_t *v)
{
    for (int i = 0; i < «NAME»_INPUTS; ++i)
        v[i] = bits[i];
    for (int i = 0; i < «parts|length»; ++i)
        parts[i](v);
}

