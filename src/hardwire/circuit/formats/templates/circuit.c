/* SPDX-License-Identifier: MIT-0 */
/* Written by hardwire; the header says of what. C99, no allocation; each call keeps its slots on the stack. */
#include "«header»"

<% if word > 1 %>
#include <string.h>

<% endif %>
#define GROUP «group» /* outputs of a class */
<% if offset is not none %>
#define OFFSET («offset») /* added to their number */
<% endif %>

<% if form == "row" %>
<% include "one_row.c" %>
<% elif form == "mixed" %>
#define WALKED «walked» /* outputs of a class that tables compute, its last */

/* Where they are, class by class. */
static const «output_type» outputs[«NAME»_CLASSES * WALKED] = {
    «outputs|initialiser»};

<% include "one_image.c" %>

<% include "one_row.c" %>
<% else %>
/* Where the outputs are, class by class. */
static const «output_type» outputs[«NAME»_CLASSES * GROUP] = {
    «outputs|initialiser»};

<% if word > 1 %>
typedef uint«word»_t word;

<% include form ~ ".c" %>
<% include "blocks.c" %>
<% else %>
<% include "one_image.c" %>
<% endif %>

/* The scores of the image whose bits are in the slots, and the highest of them, ties to the lowest class. */
static int decide(const slot *v, int32_t *scores)
{
    const «output_type» *output = outputs;
    int32_t most = -1;
<% if offset is none %>
    int best = 0;
<% endif %>
    for (int c = 0; c < «NAME»_CLASSES; ++c) {
        int32_t sum = 0;
        for (int i = 0; i < GROUP; ++i)
            sum += (int32_t)bit(v, *output++);
        if (scores)
            scores[c] = sum;
        if (sum > most) {
            most = sum;
<% if offset is none %>
            best = c;
<% endif %>
        }
    }
    return «"best" if offset is none else "most + OFFSET"»;
}
<% for suffix, type in entries %>

static int answer«suffix»(const «type» *values, int32_t *scores)
{
    slot v[SLOTS]<% if word == 1 %> = {0}<% endif %>;
    load«suffix»(values, v);
    run_gates(v);
    return decide(v, scores);
}

int «name»_predict«suffix»(const «type» *values)
{
    return answer«suffix»(values, 0);
}

void «name»_scores«suffix»(const «type» *values, int32_t *scores)
{
    answer«suffix»(values, scores);
}
<% endfor %>
<% endif %>
<% if main %>

#include <stdio.h>

enum { AT_ONCE = «word» };

/* Reads a file of images, «count» values of type «type» each, and prints the class of each on a line. */
int main(int count, char **arguments)
{
    static «type» images[AT_ONCE * «count»];
    int32_t classes[AT_ONCE];
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (file == NULL) {
        fprintf(stderr, count == 2 ? "cannot read that file\n" : "usage: program IMAGES\n");
        return 2;
    }
    for (;;) {
        const size_t values = fread(images, sizeof images[0], sizeof images / sizeof images[0], file);
        const int here = (int)(values / «count»);
        if (values % «count» != 0) {
            fprintf(stderr, "the file ends inside an image\n");
            return 2;
        }
<% if word > 1 %>
        word bits[«NAME»_INPUTS];
        «name»_«reader»«word»(images, here, bits);
        «name»_predict«word»(bits, classes);
<% else %>
        for (int i = 0; i < here; ++i)
            classes[i] = «name»_predict«single»(images + i * «count»);
<% endif %>
        for (int i = 0; i < here; ++i)
            printf("%d\n", (int)classes[i]);
        if (here < AT_ONCE)
            break;
    }
    return fclose(file) == 0 ? 0 : 2;
}
<% endif %>
