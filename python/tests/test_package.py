import subprocess
import sys
from pathlib import Path

import fourcorners as fc


def test_importing_brings_in_nothing_large():
    code = "import sys, fourcorners; print(sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    for large in ("numpy", "pandas", "pyarrow", "scipy", "dask", "distributed"):
        assert f"'{large}'" not in loaded, large


def test_everything_named_is_there_and_typed():
    for name in fc.__all__:
        assert getattr(fc, name) is not None
    folder = Path(fc.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_native.pyi").read_text()
    import ast

    typed = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ClassDef):
            typed[node.name] = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            typed[node.name] = set()
    from fourcorners import _native

    there = {name for name in dir(_native) if not name.startswith("_")}
    assert there == set(typed)
    for name, members in typed.items():
        kind = getattr(_native, name)
        if members:
            public = {member for member in vars(kind) if not member.startswith("_")}
            assert public == {m for m in members if not m.startswith("_")}, name
