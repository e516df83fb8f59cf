// The mean of an orbit of the logistic map by hand; the gradient keeps every state.

double forward(long steps, double x, double r) {
    double total = 0;
    for (long k = 0; k < steps; k++) {
        total += x;
        x = r * x * (1.0 - x);
    }
    return total / steps;
}

double gradient(long steps, double x, double r, double *tape, double *dx, double *dr) {
    double total = 0, ct = 0, ct_r = 0, ct_total = 1.0 / steps;
    for (long k = 0; k < steps; k++) {
        tape[k] = x;
        total += x;
        x = r * x * (1.0 - x);
    }
    for (long k = steps - 1; k >= 0; k--) {
        double t = tape[k];
        ct_r += ct * t * (1.0 - t);
        ct = ct * r * (1.0 - 2.0 * t) + ct_total;
    }
    *dx = ct, *dr = ct_r;
    return total / steps;
}
