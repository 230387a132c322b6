/* One image at a time, eight bits a byte: inputs, then gates in the order of the table. */
typedef uint8_t slot;
#define SLOTS «slots»

static unsigned bit(const slot *v, unsigned place)
{
    return v[place >> 3] >> (place & 7) & 1u;
}

static void set(slot *v, unsigned place, unsigned value)
{
    v[place >> 3] |= (slot)(value << (place & 7));
}

/* One row a gate: where its operands are. */
static const «index» gates[][2] = {
    «rows|initialiser»};

/* How many rows in a row are the same gate, and its outputs for 00, 01, 10 and 11, the first in the lowest bit. */
static const «run_type» runs[][2] = {
    «runs|initialiser»};

static void run_gates(slot *v)
{
    unsigned place = «NAME»_INPUTS;
    const «index» (*g)[2] = gates;
    for (int run = 0; run < «run_count»; ++run)
        for (unsigned left = runs[run][0], truth = runs[run][1]; left > 0; --left, ++g)
            set(v, place++, truth >> (2 * bit(v, (*g)[0]) + bit(v, (*g)[1])) & 1u);
}

static void load_bits(const uint8_t *row, slot *v)
{
    for (unsigned i = 0; i < «NAME»_INPUTS; ++i)
        set(v, i, row[i] != 0);
}
<% if encodes %>

/* Value i is above its threshold of a level where it is more than this. */
static const «threshold_type» thresholds[][«levels»] = {
<% for row in thresholds %>
    {«row|initialiser»}«"," if not loop.last»
<% endfor %>
};

static void load(const «type» *raw, slot *v)
{
    unsigned place = 0;
    for (unsigned i = 0; i < «NAME»_VALUES; ++i)
        for (unsigned level = 0; level < «levels»; ++level)
            set(v, place++, raw[i] > thresholds[«"0" if shared else "i"»][level]);
}
<% endif %>
