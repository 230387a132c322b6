/* What `hardwire bench` compiles beside the exported file: prints the processor seconds of the best of «rounds» rounds
   over «blocks» blocks of «word» images, packing or encoding included, and those of one image alone. */
#include "«header»"
#include <stddef.h>
#include <stdio.h>
#include <time.h>

enum { COUNT = «count», BLOCKS = «blocks», AT_ONCE = «word», SINGLES = 200 };

static «type» images[(size_t)BLOCKS * AT_ONCE * COUNT];

int main(int count, char **arguments)
{
    double best = 1e30, best_single = 1e30;
    int32_t classes[AT_ONCE], sum = 0;
    uint«word»_t bits[«inputs»];
    FILE *file = fopen(arguments[count - 1], "rb");
    if (file == NULL || fread(images, 1, sizeof images, file) != sizeof images)
        return 2;
    for (int round = 0; round < «rounds»; ++round) {
        clock_t start = clock();
        for (size_t block = 0; block < BLOCKS; ++block) {
            «name»_«reader»«word»(images + block * AT_ONCE * COUNT, AT_ONCE, bits);
            «name»_predict«word»(bits, classes);
            sum += classes[0];
        }
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = seconds < best ? seconds : best;
        start = clock();
        for (size_t i = 0; i < SINGLES; ++i)
            sum += «name»_predict«single»(images + i % AT_ONCE * COUNT);
        seconds = (double)(clock() - start) / CLOCKS_PER_SEC / SINGLES;
        best_single = seconds < best_single ? seconds : best_single;
    }
    printf("%.9f %.9f\n", best, best_single);
    return sum < 0;
}
