/* What `hardwire circuit verify` compiles: the exported file, and a program that reads images of a kind and writes the
   class sums of each, by the entry for many images if there is one, and the class by the entry for one. */
#define main exported_main
#include "«source»"
#undef main
#include <stdio.h>

enum { CLASSES = «classes», AT_ONCE = «word» };

int main(int count, char **arguments)
{
    static «type» images[AT_ONCE * «count»];
    static int32_t scores[AT_ONCE * CLASSES];
    FILE *in = fopen(arguments[count - 2], "rb"), *out = fopen(arguments[count - 1], "wb");
    size_t read;
    if (in == NULL || out == NULL)
        return 2;
    while ((read = fread(images, sizeof images[0] * «count», AT_ONCE, in)) > 0) {
<% if word > 1 %>
        word bits[«inputs»];
        «name»_«reader»«word»(images, (int)read, bits);
        «name»_scores«word»(bits, scores);
<% endif %>
        for (size_t i = 0; i < read; ++i) {
            int32_t alone[CLASSES];
            const int32_t label = «name»_predict«single»(images + i * «count»);
            «name»_scores«single»(images + i * «count», alone);
<% if word > 1 %>
            for (int c = 0; c < CLASSES; ++c)
                if (alone[c] != scores[i * CLASSES + c])
                    scores[i * CLASSES + c] = -1;
            fwrite(scores + i * CLASSES, sizeof(int32_t), CLASSES, out);
<% else %>
            (void)scores;
            fwrite(alone, sizeof(int32_t), CLASSES, out);
<% endif %>
            fwrite(&label, sizeof(int32_t), 1, out);
        }
    }
    return fclose(in) != 0 || fclose(out) != 0;
}
