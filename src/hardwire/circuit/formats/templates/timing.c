/* What `hardwire bench` compiles beside the exported file: prints the processor seconds of the best of «rounds» rounds
   over «blocks» blocks of 64 images, packing included, and those of one image alone. */
#include "«header»"
#include <stdio.h>
#include <time.h>

enum { INPUTS = «inputs», BLOCKS = «blocks», SINGLES = 200 };

static uint8_t images[(size_t)BLOCKS * 64 * INPUTS];

int main(int count, char **arguments)
{
    double best = 1e30, best_single = 1e30;
    int32_t classes[64], sum = 0;
    uint64_t bits[INPUTS];
    FILE *file = fopen(arguments[count - 1], "rb");
    if (file == NULL || fread(images, 1, sizeof images, file) != sizeof images)
        return 2;
    for (int round = 0; round < «rounds»; ++round) {
        clock_t start = clock();
        for (size_t block = 0; block < BLOCKS; ++block) {
            «name»_pack64(images + block * 64 * INPUTS, 64, bits);
            «name»_predict64(bits, classes);
            sum += classes[0];
        }
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = seconds < best ? seconds : best;
        start = clock();
        for (size_t i = 0; i < SINGLES; ++i)
            sum += «name»_predict_bits(images + i % 64 * INPUTS);
        seconds = (double)(clock() - start) / CLOCKS_PER_SEC / SINGLES;
        best_single = seconds < best_single ? seconds : best_single;
    }
    printf("%.9f %.9f\n", best, best_single);
    return sum < 0;
}
