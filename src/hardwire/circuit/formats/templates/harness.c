/* What `hardwire circuit verify` compiles: the exported file, and a program that reads images of a kind (bits, bytes or
   floats) and writes the class sums of each and the class of the single-image entry, as 32-bit integers. */
#define main exported_main
#include "«source»"
#undef main
#include <stdio.h>

enum { CLASSES = «classes» };

static void answer(FILE *file, const uint64_t *bits, int images, const int32_t *classes)
{
    int32_t scores[64 * CLASSES];
    «name»_scores64(bits, scores);
    for (int i = 0; i < images; ++i) {
        fwrite(scores + i * CLASSES, sizeof(int32_t), CLASSES, file);
        fwrite(classes + i, sizeof(int32_t), 1, file);
    }
}

int main(int count, char **arguments)
{
    static «type» images[64 * «count»];
    uint64_t bits[«inputs»];
    int32_t classes[64] = {0};
    FILE *in = fopen(arguments[count - 2], "rb"), *out = fopen(arguments[count - 1], "wb");
    size_t read;
    if (in == NULL || out == NULL)
        return 2;
    while ((read = fread(images, sizeof(«type») * «count», 64, in)) > 0) {
        «name»_«reader»(images, (int)read, bits);
        for (size_t i = 0; i < read; ++i)
            classes[i] = «name»_«single»(images + i * «count»);
        answer(out, bits, (int)read, classes);
    }
    return fclose(in) != 0 || fclose(out) != 0;
}
