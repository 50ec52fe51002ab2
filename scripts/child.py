"""A program run to its end, with the CPU time that it took."""
import json
import resource
import subprocess


def run_json(command):
    """The JSON it printed, and user and system time of its process in us, all threads, those of the kernel for it included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # fio's job is a session of its own, to which a scheduler with automatic groups gives a share of its own.
    printed = subprocess.run(
        command, check=True, capture_output=True, text=True, start_new_session=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return json.loads(printed), (user * 1e6, system * 1e6)
