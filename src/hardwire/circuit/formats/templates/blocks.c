typedef word slot;

static unsigned bit(const slot *v, unsigned place)
{
    return (unsigned)(v[place] & 1);
}

#define COLUMNS 16 /* that are compared at once */
#define GROUPS «word // 8» /* of eight images */
#ifdef __GNUC__
typedef uint8_t row __attribute__((vector_size(COLUMNS))); /* one register, where the machine has such */
#define AT(x, j) (x)[j]
#else
typedef struct {
    uint8_t at[COLUMNS];
} row;
#define AT(x, j) (x).at[j]
#endif

/* Shifts a bit into each byte: whether x, its sign flipped if it has one, is at most the limit. */
static row append(row bits, row x, row limit, uint8_t flip)
{
#ifdef __GNUC__
    return bits + bits - (row)((x ^ flip) <= limit);
#else
    for (int j = 0; j < COLUMNS; ++j)
        bits.at[j] = (uint8_t)(2 * bits.at[j] + ((x.at[j] ^ flip) <= limit.at[j]));
    return bits;
#endif
}

<% if word == 64 %>
/* Swaps the blocks of `shift` bits off the diagonal. */
static void swap(uint64_t *a, uint64_t *b, int shift, uint64_t mask)
{
    const uint64_t change = ((*a >> shift) ^ *b) & mask;
    *b ^= change;
    *a ^= change << shift;
}

/* Bits of eight images a byte, by column and negated, to one word a column: a transpose of 8 x 8 bytes. */
static void join(const row *group, int width, int step, word *bits)
{
    static const uint16_t one = 1;
    const int mirror = *(const uint8_t *)&one ? 0 : 7; /* where the first byte of a word is the highest */
    for (int first = 0; first < width; first += 8) {
        uint64_t x[8];
<% for g in range(8) %>
        memcpy(&x[«g»], (const uint8_t *)&group[«g»] + first, 8);
<% endfor %>
<% for distance, mask in ((4, "00000000FFFFFFFF"), (2, "0000FFFF0000FFFF"), (1, "00FF00FF00FF00FF")) %>
<% for g in range(8) if not g // distance % 2 %>
        swap(&x[«g»], &x[«g + distance»], «8 * distance», UINT64_C(0x«mask»));
<% endfor %>
<% endfor %>
        for (int j = 0; j < 8 && first + j < width; ++j)
            bits[(first + j) * step] = ~x[j ^ mirror];
    }
}
<% else %>
/* Bits of eight images a byte, by column and negated, to one word a column. */
static void join(const row *group, int width, int step, word *bits)
{
    for (int j = 0; j < width; ++j)
        bits[j * step] = (word)~(<% for byte in range(word // 8) %>«" | " if byte»(word)AT(group[«byte»], j)«" << %d" % (8 * byte) if byte»<% endfor %>);
}
<% endif %>

/* Some columns of bytes, `stride` from image to image. */
static void compare(const uint8_t *bytes, int images, size_t stride, int width, row limit, uint8_t flip, int step, word *bits)
{
    row group[GROUPS];
    for (int g = 0; g < GROUPS; ++g) {
        const int left = images - 8 * g, count = left < 0 ? 0 : left < 8 ? left : 8;
        const uint8_t *last = bytes + (size_t)(8 * g + count) * stride;
        row x = limit, below;
        memset(&below, 0xFF, sizeof below); /* images that are missing have no bits */
        for (int k = 0; k < count; ++k) {
            last -= stride;
            if (width == COLUMNS)
                memcpy(&x, last, COLUMNS);
            else
                memcpy(&x, last, (size_t)width);
            below = append(below, x, limit, flip);
        }
        group[g] = below;
    }
    join(group, width, step, bits);
}

/* One image alone. */
static void load_bits(const uint8_t *values, slot *v)
{
    for (int i = 0; i < «NAME»_INPUTS; ++i)
        v[i] = values[i] != 0;
}

void «name»_pack«word»(const uint8_t *rows, int images, word *bits)
{
    row zeros;
    memset(&zeros, 0, sizeof zeros);
    for (int i = 0; i < «NAME»_INPUTS; i += COLUMNS) {
        const int width = «NAME»_INPUTS - i < COLUMNS ? «NAME»_INPUTS - i : COLUMNS;
        compare(rows + i, images, «NAME»_INPUTS, width, zeros, 0, 1, bits + i);
    }
}

<% if encodes %>
#define LEVELS «levels»

/* «"Byte" if bytewise else "Value"» i is above its threshold of a level where it is more than this. */
static const «threshold_type» thresholds[LEVELS][«columns»] = {
<% for row in thresholds %>
    {«row|initialiser»}«"," if not loop.last»
<% endfor %>
};
<% if always %>
/* Bits whose thresholds lie below every value. */
static const «output_type» always[] = {
    «always|initialiser»};

static void set_always(word *bits)
{
    for (size_t i = 0; i < sizeof always / sizeof always[0]; ++i)
        bits[always[i]] = (word)~(word)0;
}
<% endif %>

static void load(const «type» *raw, slot *v)
{
    for (int i = 0; i < «count»; ++i)
        for (int level = 0; level < LEVELS; ++level)
            v[i * LEVELS + level] = («"uint8_t" if bytewise else type»)(raw[i]«" ^ 0x80" if bytewise and signed») > thresholds[level][«"0" if shared else "i"»];
<% if always %>
    set_always(v);
<% endif %>
}

void «name»_encode«word»(const «type» *raw, int images, word *bits)
{
    for (int i = 0; i < «count»; i += COLUMNS) {
        const int width = «count» - i < COLUMNS ? «count» - i : COLUMNS;
        for (int level = 0; level < LEVELS; ++level) {
            const «threshold_type» *limits = thresholds[level]«"" if shared else " + i"»;
<% if bytewise %>
            row limit;
            memcpy(&limit, limits, COLUMNS);
            compare((const uint8_t *)raw + i, images, «count», width, limit, «"0x80" if signed else "0"», LEVELS, bits + i * LEVELS + level);
<% else %>
            row group[GROUPS];
            memset(group, 0xFF, sizeof group);
            for (int image = 0; image < images; ++image) {
                const «type» *values = raw + (size_t)image * «count» + i;
                for (int j = 0; j < width; ++j)
                    AT(group[image / 8], j) ^= (uint8_t)((values[j] > limits[j]) << image % 8);
            }
            join(group, width, LEVELS, bits + i * LEVELS + level);
<% endif %>
        }
    }
<% if always %>
    set_always(bits);
<% endif %>
}

<% endif %>
#define PLANES «planes» /* bits of a score */

/* Full adder on all images: *sum += a + b; the carry is returned. */
static word add(word *sum, word a, word b)
{
    const word half = *sum ^ a, carry = (word)((*sum & a) | (half & b));
    *sum = half ^ b;
    return carry;
}

static void add_carry(word *planes, int plane, word carry)
{
    for (; carry != 0 && plane < PLANES; ++plane) {
        const word next = planes[plane] & carry;
        planes[plane] ^= carry;
        carry = next;
    }
}

/* Bit k of planes[p] becomes bit p of the number of true outputs of image k. */
static void count_outputs(const word *v, const «output_type» *output, word *planes)
{
    word low[3] = {0, 0, 0};
    int i = 0;
    for (int plane = 0; plane < PLANES; ++plane)
        planes[plane] = 0;
    for (; i + 8 <= GROUP; i += 8, output += 8) {
        const word two_a = add(&low[0], v[output[0]], v[output[1]]);
        const word two_b = add(&low[0], v[output[2]], v[output[3]]);
        const word two_c = add(&low[0], v[output[4]], v[output[5]]);
        const word two_d = add(&low[0], v[output[6]], v[output[7]]);
        const word four_a = add(&low[1], two_a, two_b);
        const word four_b = add(&low[1], two_c, two_d);
        add_carry(planes, 3, add(&low[2], four_a, four_b));
    }
    for (int plane = 0; plane < 3; ++plane)
        add_carry(planes, plane, low[plane]);
    for (; i < GROUP; ++i, ++output)
        add_carry(planes, 0, v[*output]);
}

void «name»_scores«word»(const word *bits, int32_t *scores)
{
    word v[SLOTS], planes[PLANES];
    memcpy(v, bits, sizeof(word) * «NAME»_INPUTS);
    run_gates(v);
    for (int c = 0; c < «NAME»_CLASSES; ++c) {
        count_outputs(v, outputs + c * GROUP, planes);
        for (int image = 0; image < «word»; ++image) {
            uint32_t sum = 0;
            for (int plane = 0; plane < PLANES; ++plane)
                sum |= (uint32_t)(planes[plane] >> image & 1) << plane;
            scores[image * «NAME»_CLASSES + c] = (int32_t)sum;
        }
    }
}

<% if offset is not none %>
void «name»_predict«word»(const word *bits, int32_t *answers)
{
    «name»_scores«word»(bits, answers);
    for (int image = 0; image < «word»; ++image)
        answers[image] += OFFSET;
}
<% else %>
/* All images at once, bit by bit: where a class has more than the best before it, it is the best. */
void «name»_predict«word»(const word *bits, int32_t *classes)
{
    word v[SLOTS], best[PLANES], planes[PLANES], winner[«label_planes»] = {0};
    memcpy(v, bits, sizeof(word) * «NAME»_INPUTS);
    run_gates(v);
    count_outputs(v, outputs, best);
    for (unsigned c = 1; c < «NAME»_CLASSES; ++c) {
        word more = 0;
        count_outputs(v, outputs + c * GROUP, planes);
        for (int plane = 0; plane < PLANES; ++plane)
            more = (word)((planes[plane] & ~best[plane]) | (more & ~(planes[plane] ^ best[plane])));
        for (int plane = 0; plane < PLANES; ++plane)
            best[plane] ^= (word)((best[plane] ^ planes[plane]) & more);
        for (int plane = 0; plane < «label_planes»; ++plane)
            winner[plane] = (word)(c >> plane & 1 ? winner[plane] | more : winner[plane] & ~more);
    }
    for (int image = 0; image < «word»; ++image) {
        int32_t label = 0;
        for (int plane = 0; plane < «label_planes»; ++plane)
            label |= (int32_t)(winner[plane] >> image & 1) << plane;
        classes[image] = label;
    }
}
<% endif %>
