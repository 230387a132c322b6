#define SLOTS «slots»

<% for part in parts %>
static void part_«loop.index0»(word *v)
{
<% for line in part %>
    «line»
<% endfor %>
}

<% endfor %>
/* Called through a table, so that no compiler inlines them all into one endless function. */
static void (*const parts[])(word *) = {
    «part_names|initialiser»};

/* The inputs are in the first slots. */
static void run_gates(word *v)
{
    for (int i = 0; i < «parts|length»; ++i)
        parts[i](v);
}

