"""File systems on served drives and on files: through FUSE and a loop device, mounted for as long as they are wanted. For root."""
import contextlib
import signal
import subprocess
import sys
import time

# The tools that it takes, beside those of the file system.
TOOLS = ["nbdfuse", "fusermount3", "losetup"]

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


@contextlib.contextmanager
def fused(socket, file):
    """`file`, created if it is not there, as the drive that `fourcorners serve` has at the unix socket `socket`."""
    file.touch()
    door = subprocess.Popen(["nbdfuse", file, "--unix", socket])
    try:
        while file.stat().st_size == 0:
            if door.poll() is not None:
                sys.exit(f"{file}: nbdfuse ended with status {door.returncode} before the drive was there")
            time.sleep(0.05)
        yield file
    finally:
        if door.poll() is None:
            subprocess.run(["fusermount3", "-u", file], check=True)
            door.wait()


class CannotMount(Exception):
    """What mount said."""


@contextlib.contextmanager
def mounted(device, folder, options="defaults"):
    """The folder `folder`, which is there and empty, with the file system of `device` in it."""
    mount = subprocess.run(["mount", "-o", options, device, folder], capture_output=True, text=True)
    if mount.returncode != 0:
        raise CannotMount(mount.stderr.strip().splitlines()[0])
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
