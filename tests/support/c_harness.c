/* What the tests compile: the exported file, and a program that reads images of a kind and writes the scores of each, by
   the entry for many images if there is one, and the class by the entry for one. */
#define main exported_main
#include "«source»"
#undef main
#include <stdio.h>

enum { SCORES = «classes», BATCH = «word» };

int main(int count, char **arguments)
{
    static «type» images[BATCH * «count»];
    static int32_t scores[BATCH * SCORES];
    FILE *in = fopen(arguments[count - 2], "rb"), *out = fopen(arguments[count - 1], "wb");
    size_t read;
    if (in == NULL || out == NULL)
        return 2;
    while ((read = fread(images, sizeof images[0] * «count», BATCH, in)) > 0) {
<% if word > 1 %>
        word bits[«inputs»];
        «name»_«reader»«word»(images, (int)read, bits);
        «name»_scores«word»(bits, scores);
<% endif %>
        for (size_t i = 0; i < read; ++i) {
            int32_t alone[SCORES];
            const int32_t label = «name»_predict«single»(images + i * «count»);
            «name»_scores«single»(images + i * «count», alone);
<% if word > 1 %>
            for (int c = 0; c < SCORES; ++c)
                if (alone[c] != scores[i * SCORES + c])
                    scores[i * SCORES + c] = -1;
            fwrite(scores + i * SCORES, sizeof(int32_t), SCORES, out);
<% else %>
            (void)scores;
            fwrite(alone, sizeof(int32_t), SCORES, out);
<% endif %>
            fwrite(&label, sizeof(int32_t), 1, out);
        }
    }
    return fclose(in) != 0 || fclose(out) != 0;
}
