/* One row a gate: where its result goes and where its operands are. */
static const «index» gates[][3] = {
    «rows|initialiser»};

/* Which case of the switch below, and how many rows in a row are that gate. */
static const uint32_t runs[][2] = {
    «runs|initialiser»};

static void run_gates(const uint64_t *bits, uint64_t *v)
{
    const «index» (*g)[3] = gates;
    for (int i = 0; i < «NAME»_INPUTS; ++i)
        v[i] = bits[i];
    for (int run = 0; run < «run_count»; ++run) {
        const «index» (*const end)[3] = g + runs[run][1];
        switch (runs[run][0]) {
<% for expression in expressions %>
        case «loop.index0»: for (; g != end; ++g) v[(*g)[0]] = «expression»; break;
<% endfor %>
        }
    }
}

