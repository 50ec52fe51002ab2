"""Packages that only some of it needs."""

from __future__ import annotations

import importlib
from typing import Any

from ._native import Error


class MissingPackageError(Error, ImportError):
    """A package that is not installed; the message says which extra brings it."""


def needs(module: str, extra: str, what: str) -> Any:
    """A module that `what` needs, if it is installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.split(".")[0]
        if error.name is None or error.name.split(".")[0] != package:
            # It is there, and lacks something itself.
            raise
        raise MissingPackageError(
            f"{what} needs {package}, which is not installed: pip install 'fourcorners[{extra}]', or "
            f"pip install './python[{extra}]' in its source",
            name=package,
        ) from None
