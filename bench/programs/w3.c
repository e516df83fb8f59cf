// The logistic map by hand.

double forward(long steps, double x, double r) {
    for (long k = 0; k < steps; k++) x = r * x * (1.0 - x);
    return x;
}
