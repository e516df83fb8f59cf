"""The public surface: what `dir` shows, types, docstrings whose examples run, the stub of the native module, copies, pickles, threads."""

import copy
import doctest
import inspect
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import retrograd as rg

PACKAGE = pathlib.Path(rg.__file__).parent


def test_dir_is_the_public_surface():
    assert dir(rg) == sorted(rg.__all__)
    assert all(hasattr(rg, name) for name in rg.__all__)
    assert rg.__version__ and all(part.isdigit() for part in rg.__version__.split(".")[:2])


def test_every_public_function_says_its_types_and_what_it_does():
    for name in rg.__all__:
        item = getattr(rg, name)
        if name in ("__version__", "errors"):
            continue
        assert item.__doc__, name
        if inspect.isfunction(item):
            signature = inspect.signature(item)
            # The options by name are told in the documentation, with their defaults.
            own = [parameter for parameter in signature.parameters.values() if parameter.name in item.__annotations__ or parameter.kind is not parameter.KEYWORD_ONLY]
            assert all(parameter.annotation is not parameter.empty for parameter in own), name
            assert signature.return_annotation is not signature.empty, name
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize("module", ["api", "tree", "versions", "plan", "compiled", "custom", "steps", "linalg", "arguments"])
def test_examples_of_docstrings_run(module):
    text = sys.modules[f"retrograd.{module}"]
    failed, tried = doctest.testmod(text, extraglobs={"rg": rg, "np": np}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed
    if module in ("api", "tree"):
        assert tried >= 2


def test_the_stub_of_the_native_module_is_true():
    run = subprocess.run([sys.executable, "-m", "mypy.stubtest", "retrograd._native", "--ignore-missing-stub"], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_users_file_is_typed(tmp_path):
    (tmp_path / "use.py").write_text(
        "import numpy as np\nimport retrograd as rg\n"
        "g = rg.grad(np.sum, argnums=(0, 1), budget='1 MB')\nreveal_type(g)\n"
        "rg.grad(3)\n"
    )
    run = subprocess.run([sys.executable, "-m", "mypy", "use.py", "--follow-imports=silent"], capture_output=True, text=True, cwd=tmp_path, timeout=600)
    assert "Transformed" in run.stdout and 'incompatible type "int"' in run.stdout, run.stdout + run.stderr


def cube(x):
    return np.sum(x**3)


@rg.jit
def decorated(x):
    return x * 2.0


def test_everything_prints():
    assert repr(rg.grad(cube, argnums=(0,), budget="1 MB")) == "rg.grad(cube, argnums=(0,), budget='1 MB')"
    assert repr(rg.jit(cube)) == "rg.jit(cube)"
    assert "cube() compiled by" in repr(rg.grad(cube).compile(np.ones(3)))
    assert repr(rg.spec((2, 3))) == "rg.spec((2, 3), float64)"
    assert repr(rg.user(values={"sin": "keep"})).startswith("rg.user(")
    assert repr(rg.tree_structure({"a": (1.0, None)})) == "TreeDef({'a': (*, None)})"
    assert "fate" in repr(rg.fate(cube, "keep"))
    rg.show_versions()


def test_functions_are_pickled_and_copied():
    x = np.arange(3.0)
    expected = 3 * x**2
    for again in (pickle.loads(pickle.dumps(rg.grad(cube, budget="1 MB"))), copy.deepcopy(rg.grad(cube)), copy.copy(rg.grad(cube))):
        np.testing.assert_array_equal(again(x), expected)
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    compiled = rg.value_and_grad(cube).compile(x)
    value, gradient = pickle.loads(pickle.dumps(compiled))(x)
    np.testing.assert_array_equal(gradient, expected)
    np.testing.assert_array_equal(copy.deepcopy(compiled)(x)[1], expected)
    assert pickle.loads(pickle.dumps(rg.periodic(3))) == rg.periodic(3)


def test_traced_arrays_are_copied_as_numpys():
    def f(x):
        y, z = copy.copy(x), copy.deepcopy(x)
        y[0] = 5.0
        z[1] = 7.0
        return np.sum(x * x) + np.sum(y * z)

    x = np.arange(1.0, 4.0)
    np.testing.assert_allclose(rg.value_and_grad(f)(x)[0], f(x.copy()))


def test_threads_share_a_function():
    """Calls of one function, of several types, while some are compiled, from many threads: each has its own result."""

    def loss(x, n):
        for i in range(20):
            x = np.sin(x) * 1.5 + n
        return np.sum(x)

    g, wrong = rg.value_and_grad(loss), []
    reference = {size: [rg.value_and_grad(loss)(np.full(size, 0.1 * k), 0.5) for k in range(4)] for size in (3, 50, 1000)}

    def work(k):
        for turn in range(8):
            for size, results in reference.items():
                value, gradient = g(np.full(size, 0.1 * k), 0.5)
                if value != results[k][0] or not np.array_equal(gradient, results[k][1]):
                    wrong.append((k, size))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_packages_are_not_imported():
    code = "import sys, retrograd; print([name for name in ('scipy', 'pandas', 'jax', 'torch') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_plain_numpy_for_debugging():
    seen = []

    def f(x):
        seen.append(type(x))
        return x * 2.0

    def fails(x):
        return np.linalg.cholesky(x)[0, 0]

    with rg.disable_jit():
        assert rg.jit(f)(3.0) == 6.0 and rg.grad(cube)(np.ones(1)) == 3.0
        with pytest.raises(np.linalg.LinAlgError):
            rg.grad(fails)(-np.eye(2))
    assert seen == [float]
