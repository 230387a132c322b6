#define SLOTS «slots»

/* One row a gate: where its result goes and where its operands are. */
static const «index» gates[][3] = {
    «rows|initialiser»};

/* Which case of the switch below, and how many rows in a row are that gate. */
static const «run_type» runs[][2] = {
    «runs|initialiser»};

/* The inputs are in the first slots. */
static void run_gates(word *v)
{
    const «index» (*g)[3] = gates;
    for (int run = 0; run < «run_count»; ++run) {
        const «index» (*const end)[3] = g + runs[run][1];
        switch (runs[run][0]) {
<% for number, expression in expressions %>
        case «number»: for (; g != end; ++g) v[(*g)[0]] = (word)(«expression»); break;
<% else %>
        default: (void)v; g = end; /* wires alone */
<% endfor %>
        }
    }
}

