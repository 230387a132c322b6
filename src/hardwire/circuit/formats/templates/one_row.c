/* One image at a time in straight-line code. A variable n is a bit, 0 or -1: of an input, that its value lies below a
 * threshold; of a gate, its value or the complement. A variable x is a value, and s counts the outputs of a class. */
typedef int_fast8_t word;
typedef «value» value;
typedef «sum» sum;
<% if slots %>
#define SLOTS «slots» /* values that more than one function reads */
<% endif %>

/* -1 where x < t, from the sign of a difference that fits. */
#define BELOW(x, t) ((word)-(word)((«unsigned»)((x) - (t)) >> (8 * sizeof(value) - 1)))
<% if wide %>
#define LESS(x, t) ((word)-(word)((x) < (t)))
<% endif %>
<% if clips %>

static value clip(value x, value low, value high)
{
    return x < low ? low : x > high ? high : x;
}
<% endif %>
<% if keys %>

/* A whole number in the same order; NaN comes before everything. */
static value key(float x)
{
    union { float x; uint32_t bits; } number;
    number.x = x;
    if ((number.bits & 0x7FFFFFFF) > 0x7F800000)
        return -2147483647 - 1;
    return (value)(number.bits >> 31 ? number.bits ^ 0x7FFFFFFF : number.bits);
}
<% endif %>
<% for part in parts %>

static void part_«loop.index0»(const «type» *raw, sum *s<% if slots %>, word *v<% endif %>)
{
    (void)raw, (void)s<% if slots %>, (void)v<% endif %>;
<% for line in part %>
    «line»
<% endfor %>
}
<% endfor %>
<% if form == "mixed" %>

/* The outputs of the tables. */
static void walk(const «type» *raw, sum *s<% if slots %>, word *v<% endif %>)
{
    slot walked[WALKED_BYTES] = {0};
    const «output_type» *output = outputs;
<% if slots %>
    (void)v;
<% endif %>
    load«single»(raw, walked);
    run_gates(walked);
    for (int c = 0; c < «NAME»_CLASSES; ++c) {
        sum here = 0;
        for (int i = 0; i < WALKED; ++i)
            here += (sum)bit(walked, *output++);
        s[c] += here;
    }
}
<% endif %>
<% if functions > 1 %>

/* Called through a table, so that no compiler inlines them all into one endless function. */
static void (*const parts[])(const «type» *, sum *<% if slots %>, word *<% endif %>) = {
<% if form == "mixed" %>
    walk,
<% endif %>
<% for part in parts %>
    part_«loop.index0»,
<% endfor %>
};
<% endif %>

static void count_outputs(const «type» *raw, sum *s)
{
<% if slots %>
    word v[SLOTS];
<% endif %>
    for (int c = 0; c < «NAME»_CLASSES; ++c)
        s[c] = 0;
<% if functions > 1 %>
    for (int i = 0; i < «functions»; ++i)
        parts[i](raw, s<% if slots %>, v<% endif %>);
<% else %>
    part_0(raw, s<% if slots %>, v<% endif %>);
<% endif %>
}

int «name»_predict«single»(const «type» *raw)
{
    sum s[«NAME»_CLASSES];
    count_outputs(raw, s);
<% if offset is none %>
    int best = 0; /* ties go to the lowest class */
    for (int c = 1; c < «NAME»_CLASSES; ++c)
        if (s[c] > s[best])
            best = c;
    return best;
<% else %>
    return (int)s[0] + OFFSET;
<% endif %>
}

void «name»_scores«single»(const «type» *raw, int32_t *scores)
{
    sum s[«NAME»_CLASSES];
    count_outputs(raw, s);
    for (int c = 0; c < «NAME»_CLASSES; ++c)
        scores[c] = s[c];
}
