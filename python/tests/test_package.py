import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

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


def test_the_example_of_the_readme_runs(tmp_path, monkeypatch):
    example = re.findall(r"```python\n(.*?)```", (ROOT / "python/README.md").read_text(), re.DOTALL)[0]
    # The same on drives of 4 GB and for seconds, with a record that is there.
    for large, small in [
        ("crucial-m4-256gb", "m4-4gb"),
        ("intel-x25-m-g2-160gb", "m4-4gb-wear"),
        ('methods=["four-corners"]', 'methods=["four-corners"], quick=True'),
        ("seconds=60", "seconds=2"),
        ("seconds=30", "seconds=2"),
        ("runtime=10", "runtime=1"),
        ('"6287de5"', "records[0].id"),
    ]:
        assert large in example
        example = example.replace(large, small)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOURCORNERS_DATABASE", str(tmp_path / "results.db"))
    lines = (f"{at * 500},{'read' if at % 3 else 'write'},{at * 7919 % 1000 << 20},4096,90\n" for at in range(300))
    Path("web.csv").write_text("time_us,op,offset_bytes,length_bytes,duration_us\n" + "".join(lines))
    fc.Trace("web.csv").convert("web.fct", "compact")
    there = {}
    exec(compile(example, "python/README.md", "exec"), there)
    assert there["swept"].ran == 4 and not there["swept"].failed and there["choice"].drives
    assert sorted(file.name for file in tmp_path.glob("*.*")) == ["figures.parquet", "new.fct", "results.db", "web.csv", "web.fct"]
