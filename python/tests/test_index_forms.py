"""Random indices: integers, slices, None, Ellipsis, arrays of integers and masks, known and traced, read and assigned; against NumPy."""

import linecache

import numpy as np
import pytest

import retrograd as rg


def indices(rng, shape):
    """(items of an index as text, arrays that they name) that fits a shape."""
    items, arrays, axis = [], {}, 0
    extents = tuple(int(n) for n in rng.choice([1, 2, 3], size=rng.integers(0, 3)))
    at = rng.integers(0, len(shape) + 1) if rng.random() < 0.3 else None
    while axis < len(shape):
        if at == axis:
            items.append("...")
            axis += int(rng.integers(0, len(shape) - axis + 1))
            at = None
            continue
        n, kind = shape[axis], rng.choice(["int", "slice", "array", "array", "mask", "none", "end", "list", "wide"])
        if kind == "none":
            items.append("None")
            continue
        if kind == "end":
            break
        if kind == "int":
            items.append(str(int(rng.integers(-n, n))))
        elif kind == "slice":
            start, stop, step = rng.integers(-n, n + 1), rng.integers(-n, n + 1), rng.choice([-2, -1, 1, 2])
            items.append(rng.choice([f"{start}:{stop}:{step}", ":", f"{start}:", "::-1"]))
        elif kind == "mask":
            name = f"m{len(arrays)}"
            arrays[name] = rng.random(n) > 0.5
            if int(np.prod(extents)) != 1 and len(extents):
                arrays[name][:] = False
                arrays[name][: extents[-1]] = True
                if n < extents[-1]:
                    del arrays[name]
                    items.append(":")
                    axis += 1
                    continue
            items.append(name)
        elif kind == "wide" and axis + 1 < len(shape):
            name = f"m{len(arrays)}"
            mask = np.zeros(shape[axis : axis + 2], bool)
            mask.reshape(-1)[: min(extents[-1] if extents else 1, mask.size)] = True
            arrays[name] = mask
            items.append(name)
            axis += 1
        elif kind == "list":
            items.append(str([int(k) for k in rng.integers(-n, n, size=extents[-1] if extents else 1)]))
        else:
            name = f"i{len(arrays)}"
            arrays[name] = rng.integers(-n, n, size=extents)
            items.append(name)
        axis += 1
    return items, arrays


def program(text, arrays, body):
    code = f"def f(a, v{''.join(', ' + name for name in arrays)}):\n    {body.format(index=text)}\n"
    file = f"<index {code}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    scope = {"np": np}
    exec(compile(code, file, "exec"), scope)
    return scope["f"]


def result(run):
    try:
        return run()
    except (IndexError, ValueError, rg.Error) as error:
        return error


@pytest.mark.parametrize("seed", range(40))
def test_random_indices(seed):
    rng = np.random.default_rng(seed)
    done = 0
    while done < 5:
        shape = tuple(int(n) for n in rng.integers(1, 5, size=rng.integers(1, 5)))
        items, arrays = indices(rng, shape)
        text = ", ".join(items) + ("," if len(items) == 1 else "") if items else "()"
        a = rng.normal(size=shape)
        places = result(lambda: program(text, arrays, "return a[{index}]")(np.arange(a.size).reshape(shape), 0.0, *arrays.values()))
        if isinstance(places, Exception):
            continue
        done += 1
        read = program(text, arrays, "return a[{index}]")
        weights = rng.normal(size=np.shape(places))
        expected = read(a, 0.0, *arrays.values())
        literal = text
        for name, array in arrays.items():
            literal = literal.replace(name, f"np.array({array.tolist()})")
        known = program(literal, {}, "return a[{index}]")
        traced_masks = any(name.startswith("m") for name in arrays)
        variants = [(known, ())] + ([] if traced_masks else [(read, tuple(arrays.values()))])
        for f, rest in variants:
            np.testing.assert_array_equal(rg.jit(f)(a, 0.0, *rest), expected, err_msg=text)
            loss = lambda a, *rest: np.sum(weights * f(a, 0.0, *rest))
            gradient = np.zeros(a.size)
            np.add.at(gradient, np.asarray(places).reshape(-1), weights.reshape(-1))
            np.testing.assert_allclose(rg.grad(loss)(a, *rest), gradient.reshape(shape), atol=1e-14, err_msg=text)
        # Memory: what a view of the copy sees.
        lies = program(literal, {}, "r = a[{index}]; w = np.ravel(r, order='K') if np.ndim(r) else np.ravel(r); return w")
        np.testing.assert_array_equal(rg.jit(lies)(a, 0.0), lies(a, 0.0), err_msg=f"order of {text}")
        for body in ("a[{index}] = v; return a", "a[{index}] += v; return a", "a[{index}] *= 2.0; return a", "np.add.at(a, np.s_[{index}], v); return a"):
            store = program(literal, {}, body)
            for value in (weights, 1.5):
                want = result(lambda: store(a.copy(), value))
                found = result(lambda: rg.jit(store)(a.copy(), value))
                if isinstance(want, Exception):
                    assert isinstance(found, Exception), f"{body} at {text}: NumPy refuses it: {want}"
                    continue
                assert not isinstance(found, Exception), f"{body} at {text}: {found}"
                np.testing.assert_allclose(found, want, atol=1e-14, err_msg=f"{body} at {text}")
        if traced_masks and len(arrays) == 1:
            name, mask = next(iter(arrays.items()))
            total = program(text, arrays, "return np.sum(np.sin(a[{index}]))")
            found = result(lambda: rg.jit(total)(a, 0.0, mask))
            if not isinstance(found, rg.Unsupported):
                np.testing.assert_allclose(found, total(a, 0.0, mask), atol=1e-13, err_msg=f"traced mask in {text}")
