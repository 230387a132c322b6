typedef word slot;

static unsigned bit(const slot *v, unsigned place)
{
    return (unsigned)(v[place] & 1);
}

/* Eight images by eight values at a time: a byte holds one bit of eight images, the next ones of a word. */
static void add_block(const void *block, int image, int width, int step, word *bits)
{
    uint8_t bytes[8];
    memcpy(bytes, block, 8);
    for (int i = 0; i < width; ++i)
        bits[i * step] |= (word)((word)bytes[i] << image);
}

void «name»_pack«word»(const uint8_t *rows, int images, word *bits)
{
    memset(bits, 0, sizeof(word) * «NAME»_INPUTS);
    for (int image = 0; image < images; image += 8)
        for (int i = 0; i < «NAME»_INPUTS; i += 8) {
            const int width = «NAME»_INPUTS - i < 8 ? «NAME»_INPUTS - i : 8;
            const uint8_t *row = rows + (size_t)image * «NAME»_INPUTS + i;
            uint64_t block = 0;
            for (int k = 0; k < 8 && image + k < images; ++k, row += «NAME»_INPUTS) {
                uint64_t eight = 0;
                if (width == 8)
                    memcpy(&eight, row, 8);
                else
                    memcpy(&eight, row, (size_t)width);
                block |= (eight & UINT64_C(0x0101010101010101)) << k;
            }
            add_block(&block, image, width, 1, bits + i);
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
<% endif %>

<% if bytewise %>
/* 1 in each byte where the byte of x is more than that of y. */
static uint64_t more(uint64_t x, uint64_t y)
{
    const uint64_t high = UINT64_C(0x8080808080808080);
    const uint64_t at_most = (y & ~x) | (~(y ^ x) & ((y | high) - (x & ~high)));
    return (~at_most & high) >> 7;
}

<% endif %>
void «name»_encode«word»(const «type» *raw, int images, word *bits)
{
    memset(bits, 0, sizeof(word) * «NAME»_INPUTS);
    for (int image = 0; image < images; image += 8)
        for (int i = 0; i < «count»; i += 8) {
            const int width = «count» - i < 8 ? «count» - i : 8;
            for (int level = 0; level < LEVELS; ++level) {
                const «type» *row = raw + (size_t)image * «count» + i;
                const «threshold_type» *threshold = thresholds[level]«"" if shared else " + i"»;
<% if bytewise %>
                uint64_t block = 0, limit;
                memcpy(&limit, threshold, 8);
                for (int k = 0; k < 8 && image + k < images; ++k, row += «count») {
                    uint64_t eight = 0;
                    if (width == 8)
                        memcpy(&eight, row, 8);
                    else
                        memcpy(&eight, row, (size_t)width);
<% if signed %>
                    eight ^= UINT64_C(0x8080808080808080);
<% endif %>
                    block |= more(eight, limit) << k;
                }
<% else %>
                uint8_t block[8] = {0};
                for (int k = 0; k < 8 && image + k < images; ++k, row += «count»)
                    for (int j = 0; j < width; ++j)
                        block[j] |= (uint8_t)((row[j] > threshold[j]) << k);
<% endif %>
                add_block(«"&" if bytewise»block, image, width, LEVELS, bits + i * LEVELS + level);
            }
        }
<% if always %>
    for (size_t i = 0; i < sizeof always / sizeof always[0]; ++i)
        bits[always[i]] = (word)~(word)0;
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

void «name»_predict«word»(const word *bits, int32_t *«answers»)
{
    int32_t scores[«word» * «NAME»_CLASSES];
    «name»_scores«word»(bits, scores);
    for (int image = 0; image < «word»; ++image) {
<% if offset is not none %>
        answers[image] = scores[image] + OFFSET;
<% else %>
        const int32_t *score = scores + image * «NAME»_CLASSES;
        int32_t best = 0;
        for (int32_t c = 1; c < «NAME»_CLASSES; ++c)
            if (score[c] > score[best])
                best = c;
        classes[image] = best;
<% endif %>
    }
}
