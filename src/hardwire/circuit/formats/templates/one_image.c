/* One image at a time, eight bits a byte: inputs, then gates in the order of the table. */
typedef uint8_t slot;
#define «"WALKED_BYTES" if form == "mixed" else "SLOTS"» «walked_bytes if form == "mixed" else slots»

#ifdef __GNUC__
#define ALONE __attribute__((noinline)) /* its loop needs all registers */
#else
#define ALONE
#endif

static unsigned bit(const slot *v, unsigned place)
{
    return v[place >> 3] >> (place & 7) & 1u;
}

/* Sets the bit at a mask of a byte, and moves on to the next one. */
#define NEXT(value) do { if (value) *to |= (slot)mask; if ((mask <<= 1) == 256) mask = 1, ++to; } while (0)

/* One row a gate: where its operands are. */
static const «index» gates[][2] = {
    «rows|initialiser»};

/* How many rows in a row are the same gate, and its outputs for 00, 01, 10 and 11, the first in the lowest bit. */
static const «run_type» runs[][2] = {
    «runs|initialiser»};

ALONE static void run_gates(slot *v)
{
    const «index» (*g)[2] = gates;
    slot *to = v + «inputs // 8»;
    unsigned mask = «2 ** (inputs % 8)»;
    for (int run = 0; run < «run_count»; ++run)
        for (unsigned left = runs[run][0], truth = runs[run][1]; left > 0; --left, ++g)
            NEXT(truth >> (2 * bit(v, (*g)[0]) + bit(v, (*g)[1])) & 1u);
}

<% if form != "mixed" or not encodes %>
static void load_bits(const uint8_t *row, slot *to)
{
    unsigned mask = 1;
    for (unsigned i = 0; i < «NAME»_INPUTS; ++i)
        NEXT(row[i] != 0);
}
<% endif %>
<% if encodes %>

/* Value i is above its threshold of a level where it is more than this. */
static const «threshold_type» thresholds[][«levels»] = {
<% for row in thresholds %>
    {«row|initialiser»}«"," if not loop.last»
<% endfor %>
};

static void load(const «type» *raw, slot *to)
{
    unsigned mask = 1;
    for (unsigned i = 0; i < «NAME»_VALUES; ++i)
        for (unsigned level = 0; level < «levels»; ++level)
            NEXT(raw[i] > thresholds[«"0" if shared else "i"»][level]);
}
<% endif %>
