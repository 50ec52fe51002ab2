"""A loop device over a file, for as long as it is wanted. For root."""
import contextlib
import subprocess


@contextlib.contextmanager
def looped(file, direct_io=False):
    """The path of a loop device over `file`, which passes the page cache by with `direct_io`."""
    attach = ["losetup", "--find", "--show", f"--direct-io={'on' if direct_io else 'off'}", file]
    device = subprocess.run(attach, check=True, capture_output=True, text=True).stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
