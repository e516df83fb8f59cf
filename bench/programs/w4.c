// The sum of squares by hand: 32 partial sums, because gcc keeps the order of one.

double forward(long n, const double *x) {
    double part[32] = {0}, total = 0;
    long k = 0;
    for (; k + 32 <= n; k += 32)
        for (int lane = 0; lane < 32; lane++) part[lane] += x[k + lane] * x[k + lane];
    for (; k < n; k++) total += x[k] * x[k];
    for (int lane = 0; lane < 32; lane++) total += part[lane];
    return total;
}
