// tanh(a x + b) exp(-x²) by hand, eight elements at a time; n is a multiple of 8, arrays are aligned.

#include <time.h>
#include "vector_math.h"

double seconds; // of the last call

double forward(long n, const vec *x, double a, double b, vec *y) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < n / LANES; i++) y[i] = vector_tanh(a * x[i] + b) * vector_exp(-x[i] * x[i]);
    clock_gettime(CLOCK_MONOTONIC, &end);
    seconds = (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
    return 0;
}
