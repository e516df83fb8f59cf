// Euler steps of the Lorenz system by hand; the gradient keeps every state.

typedef struct { double x, y, z; } State;

static inline State step(State s, double dt, double sigma, double rho, double beta) {
    return (State){s.x + dt * (sigma * (s.y - s.x)), s.y + dt * (s.x * (rho - s.z) - s.y), s.z + dt * (s.x * s.y - beta * s.z)};
}

double forward(long steps, double dt, State s, double sigma, double rho, double beta) {
    for (long k = 0; k < steps; k++) s = step(s, dt, sigma, rho, beta);
    return s.x * s.x + s.y * s.y + s.z * s.z;
}

double gradient(long steps, double dt, State s, double sigma, double rho, double beta, State *tape, double *out) {
    for (long k = 0; k < steps; k++) {
        tape[k] = s;
        s = step(s, dt, sigma, rho, beta);
    }
    double cx = 2 * s.x, cy = 2 * s.y, cz = 2 * s.z, dsigma = 0, drho = 0, dbeta = 0;
    for (long k = steps - 1; k >= 0; k--) {
        State t = tape[k];
        double dx = dt * cx, dy = dt * cy, dz = dt * cz;
        dsigma += dx * (t.y - t.x);
        drho += dy * t.x;
        dbeta -= dz * t.z;
        cx += dy * (rho - t.z) + dz * t.y - dx * sigma;
        cy += dx * sigma - dy + dz * t.x;
        cz -= dy * t.x + dz * beta;
    }
    out[0] = cx, out[1] = cy, out[2] = cz, out[3] = dsigma, out[4] = drho, out[5] = dbeta;
    return s.x * s.x + s.y * s.y + s.z * s.z;
}
