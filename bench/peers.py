"""Other libraries that reverse a loop in less memory than its states, over the same JAX steps. Imported only where they are asked for."""

import jax
import jax.numpy as jnp


def equinox_losses(step, loss, steps, checkpoints):
    """Losses by Equinox: a scan and a while that hold so many states (Stumm–Walther, then bisection). `step(state, *parameters)`, `loss(state)`."""
    import equinox.internal as eqxi

    def scan(state, *parameters):
        return loss(eqxi.scan(lambda state, _: (step(state, *parameters), None), state, None, length=steps, kind="checkpointed", checkpoints=checkpoints)[0])

    def loop(state, *parameters):
        body = lambda carry: (carry[0] + 1, step(carry[1], *parameters))
        return loss(eqxi.while_loop(lambda carry: carry[0] < steps, body, (jnp.asarray(0), state), max_steps=steps, kind="checkpointed", checkpoints=checkpoints)[1])

    return {"Equinox, scan": scan, "Equinox, while": loop}


def diffrax_loss(slope, loss, steps, dt, checkpoints):
    """The loss by Diffrax: Euler steps of `slope(state, parameters)`, by its default adjoint with so many states."""
    import diffrax

    def solve(state, parameters):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, state, parameters: slope(state, parameters)),
            diffrax.Euler(),
            t0=0.0,
            t1=steps * dt,
            dt0=None,
            y0=state,
            args=parameters,
            stepsize_controller=diffrax.StepTo(ts=jnp.arange(steps + 1) * dt),
            adjoint=diffrax.RecursiveCheckpointAdjoint(checkpoints=checkpoints),
            max_steps=steps + 1,
        )
        return loss(solution.ys[-1])

    return {"Diffrax, RecursiveCheckpointAdjoint": solve}


def revolve(step, loss, steps, slots):
    """`f(state, *parameters)` gives the loss and its gradient, by the Revolve of checkpoint_schedules: Python takes its actions and runs jitted steps."""
    from checkpoint_schedules import Copy, EndForward, EndReverse, Forward, Move, Revolve, Reverse

    advance = jax.jit(lambda count, state, *parameters: jax.lax.fori_loop(0, count, lambda _, state: step(state, *parameters), state))
    turn = jax.jit(jax.value_and_grad(loss))

    @jax.jit
    def back(state, parameters, ct, sums):
        ct, *more = jax.vjp(step, state, *parameters)[1](ct)
        return ct, jax.tree.map(jnp.add, sums, tuple(more))

    def run(state, *parameters):
        held, before, sums = {}, None, jax.tree.map(jnp.zeros_like, parameters)
        for action in Revolve(steps, slots):
            match action:
                case Forward():
                    if action.write_ics:
                        held[action.n0] = state
                    if action.write_adj_deps:
                        before = state
                    # What only a reversal would read is not computed; the last step of all leads to the loss.
                    if not action.write_adj_deps or action.n1 == steps:
                        state = advance(action.n1 - action.n0, state, *parameters)
                case EndForward():
                    value, ct = turn(state)
                case Reverse():
                    ct, sums = back(before, parameters, ct, sums)
                case Copy():
                    state = held[action.n]
                case Move():
                    state = held.pop(action.n)
                case EndReverse():
                    return value, (ct, *sums)

    return {"checkpoint_schedules, Revolve from Python": run}
