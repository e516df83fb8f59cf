"""W5: the value of the FEM program, 500 steps: 3×3 matrices in registers, gather and scatter-add."""

import dataclasses

from programs import fem

SIZES = {"7986 tetrahedra, 500 steps": dict(edge=12, steps=500)}
SMALL = dict(edge=3, steps=300)


def program(random, edge, steps):
    return dataclasses.replace(fem.program(random, edge, steps), argnums=None)
