"""A loop device over a file, for as long as it is wanted. For root."""
import contextlib
import signal
import subprocess
import sys

# `timeout` and service managers end a script by this; what it set up is to be taken down then, too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


@contextlib.contextmanager
def looped(file, direct_io=False, size_bytes=None):
    """The path of a loop device over `file`, or its first `size_bytes`, which passes the page cache by with `direct_io`."""
    attach = ["losetup", "--find", "--show", f"--direct-io={'on' if direct_io else 'off'}"]
    attach += ["--sizelimit", str(size_bytes)] if size_bytes else []
    attach.append(file)
    attached = subprocess.run(attach, capture_output=True, text=True)
    if attached.returncode != 0:
        hint = "; it is to have direct I/O, which not every file system has" if direct_io else ""
        sys.exit(f"{file}: no loop device could be made of it: {attached.stderr.strip()}{hint}")
    device = attached.stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
