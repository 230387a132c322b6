/* SPDX-License-Identifier: MIT-0 */
/* Written by hardwire; the header says of what. C99, no allocation; each call keeps its slots on the stack. */
#include "«header»"

#include <stddef.h>
#include <string.h>

#define SLOTS «slots»
#define GROUP «group»
#define PLANES «planes»
<% if offset is not none %>
#define OFFSET («offset»)
<% endif %>

static const int32_t outputs[«NAME»_CLASSES * GROUP] = {
    «outputs|initialiser»};

<% include form ~ ".c" %>
/* Full adder on 64 images: *sum += a + b; the carry is returned. */
static uint64_t add(uint64_t *sum, uint64_t a, uint64_t b)
{
    const uint64_t half = *sum ^ a, carry = (*sum & a) | (half & b);
    *sum = half ^ b;
    return carry;
}

static void add_carry(uint64_t *planes, int plane, uint64_t carry)
{
    for (; carry != 0 && plane < PLANES; ++plane) {
        const uint64_t next = planes[plane] & carry;
        planes[plane] ^= carry;
        carry = next;
    }
}

/* Bit k of planes[p] becomes bit p of the number of true outputs of image k. */
static void count_outputs(const uint64_t *v, const int32_t *output, uint64_t *planes)
{
    uint64_t low[3] = {0, 0, 0};
    int i = 0;
    for (int plane = 0; plane < PLANES; ++plane)
        planes[plane] = 0;
    for (; i + 8 <= GROUP; i += 8, output += 8) {
        const uint64_t two_a = add(&low[0], v[output[0]], v[output[1]]);
        const uint64_t two_b = add(&low[0], v[output[2]], v[output[3]]);
        const uint64_t two_c = add(&low[0], v[output[4]], v[output[5]]);
        const uint64_t two_d = add(&low[0], v[output[6]], v[output[7]]);
        const uint64_t four_a = add(&low[1], two_a, two_b);
        const uint64_t four_b = add(&low[1], two_c, two_d);
        add_carry(planes, 3, add(&low[2], four_a, four_b));
    }
    for (int plane = 0; plane < 3; ++plane)
        add_carry(planes, plane, low[plane]);
    for (; i < GROUP; ++i, ++output)
        add_carry(planes, 0, v[*output]);
}

void «name»_scores64(const uint64_t *bits, int32_t *scores)
{
    uint64_t v[SLOTS], planes[PLANES];
    run_gates(bits, v);
    for (int c = 0; c < «NAME»_CLASSES; ++c) {
        count_outputs(v, outputs + c * GROUP, planes);
        for (int image = 0; image < 64; ++image) {
            uint32_t sum = 0;
            for (int plane = 0; plane < PLANES; ++plane)
                sum |= (uint32_t)(planes[plane] >> image & 1) << plane;
            scores[image * «NAME»_CLASSES + c] = (int32_t)sum;
        }
    }
}

void «name»_predict64(const uint64_t *bits, int32_t *classes)
{
    int32_t scores[64 * «NAME»_CLASSES];
    «name»_scores64(bits, scores);
    for (int image = 0; image < 64; ++image) {
<% if offset is not none %>
        classes[image] = scores[image] + OFFSET;
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

/* Eight images by eight inputs at a time: their bytes, shifted by the image, are the eight words' next bytes. */
void «name»_pack64(const uint8_t *rows, int images, uint64_t *bits)
{
    for (int i = 0; i < «NAME»_INPUTS; ++i)
        bits[i] = 0;
    for (int image = 0; image < images; image += 8)
        for (int i = 0; i < «NAME»_INPUTS; i += 8) {
            const int width = «NAME»_INPUTS - i < 8 ? «NAME»_INPUTS - i : 8;
            const uint8_t *row = rows + (size_t)image * «NAME»_INPUTS + i;
            uint64_t block = 0;
            uint8_t bytes[8];
            for (int k = 0; k < 8 && image + k < images; ++k, row += «NAME»_INPUTS) {
                uint64_t eight = 0;
                if (width == 8)
                    memcpy(&eight, row, 8);
                else
                    memcpy(&eight, row, (size_t)width);
                block |= (eight & UINT64_C(0x0101010101010101)) << k;
            }
            memcpy(bytes, &block, 8);
            for (int j = 0; j < width; ++j)
                bits[i + j] |= (uint64_t)bytes[j] << image;
        }
}

/* The answer to image 0 alone. */
static int predict_one(const uint64_t *bits)
{
    uint64_t v[SLOTS];
    const int32_t *output = outputs;
    int32_t most = -1;
<% if offset is none %>
    int best = 0;
<% endif %>
    run_gates(bits, v);
    for (int c = 0; c < «NAME»_CLASSES; ++c) {
        int32_t sum = 0;
        for (int i = 0; i < GROUP; ++i)
            sum += (int32_t)(v[*output++] & 1);
        if (sum > most) {
            most = sum;
<% if offset is none %>
            best = c;
<% endif %>
        }
    }
    return «"best" if offset is none else "most + OFFSET"»;
}

int «name»_predict_bits(const uint8_t *row)
{
    uint64_t bits[«NAME»_INPUTS];
    «name»_pack64(row, 1, bits);
    return predict_one(bits);
}
<% if encodes %>

#define LEVELS «levels»
#define STRIDE «stride» /* 0 where all values share their thresholds */

static const «threshold_type» thresholds[«thresholds|length»] = {
    «thresholds|initialiser»};

void «name»_encode64(const «type» *raw, int images, uint64_t *bits)
{
    for (int r = 0; r < «NAME»_RAW; ++r)
        for (int level = 0; level < LEVELS; ++level) {
            const «threshold_type» threshold = thresholds[r * STRIDE + level];
            uint64_t word = 0;
            for (int image = 0; image < images; ++image)
                word |= (uint64_t)(raw[image * «NAME»_RAW + r] > threshold) << image;
            bits[r * LEVELS + level] = word;
        }
}

int «name»_predict(const «type» *raw)
{
    uint64_t bits[«NAME»_INPUTS];
    «name»_encode64(raw, 1, bits);
    return predict_one(bits);
}
<% endif %>
<% if main %>

#include <stdio.h>

/* Reads a file of images, «count» values of type «type» each, and prints the class of each on a line. */
int main(int count, char **arguments)
{
    static «type» images[64 * «count»];
    uint64_t bits[«NAME»_INPUTS];
    int32_t classes[64];
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (file == NULL) {
        fprintf(stderr, count == 2 ? "cannot read that file\n" : "usage: program IMAGES\n");
        return 2;
    }
    for (;;) {
        const size_t values = fread(images, sizeof(«type»), 64 * (size_t)«count», file);
        const int here = (int)(values / (size_t)«count»);
        if (values % (size_t)«count» != 0) {
            fprintf(stderr, "the file ends inside an image\n");
            return 2;
        }
        «name»_«reader»(images, here, bits);
        «name»_predict64(bits, classes);
        for (int i = 0; i < here; ++i)
            printf("%d\n", (int)classes[i]);
        if (here < 64)
            break;
    }
    return fclose(file) == 0 ? 0 : 2;
}
<% endif %>
