"""Injecting faults into a program by a preloaded library (program_faults.cc), and hearing how it ended."""
import collections
import itertools
import os
import struct
import subprocess
import sys
import threading

HANG_SECONDS = 20
PATIENCE_SECONDS = 20  # on top of it, for what a program is told to wait for, and for a busy machine

# What can become of each call, in the order of program_faults.cc. A program must not notice those of TRANSPARENT.
CALLS = {
    "write": ["EIO", "ENOSPC", "EINTR", "short", "kill"],
    "read": ["EIO", "EINTR", "short"],
    "fsync": ["EIO", "EINTR", "kill"],
    "fdatasync": ["EIO", "EINTR", "kill"],
    "rename": ["EIO", "ENOSPC", "kill"],
    "open": ["EMFILE", "EIO", "EINTR"],
    "mmap": ["ENOMEM", "kill"],
    "msync": ["EIO", "kill"],
    "fallocate": ["ENOSPC", "EIO", "EINTR", "kill"],
    "ftruncate": ["EIO", "EINTR", "kill"],
    "unlink": ["EIO", "kill"],
    "close": ["EIO", "EINTR"],
    "mkdir": ["ENOSPC", "kill"],
    "link": ["EIO", "kill"],
    "madvise": ["EIO", "ENOMEM", "EINTR"],
    "clock": ["step"],
}
COUNTS_BYTES = 8 + 8 * len(CALLS) + 4096  # as struct Counts there
TRANSPARENT = ("EINTR", "short", "step")
STEPS_S = (-100, 10 * 365 * 86400)


class Fault(collections.namedtuple("Fault", "work call action ever at")):
    """One fault: in which work, which call, what becomes of it, from then on or once, from the at-th call on."""

    def __str__(self):
        return f"{self.work}:{self.call}:{self.action}:{'ever' if self.ever else 'once'}:{self.at}"

    def kills(self):
        return self.action.startswith("kill")

    def step_s(self):
        """By how many seconds the clock is wrong while it is struck."""
        return int(self.action.partition("=")[2] or 0)

    def transparent(self):
        return self.action.split("=")[0] in TRANSPARENT


def series_of(work):
    """All faults of a work, without their numbers."""
    for call, actions in CALLS.items():
        for action in actions:
            if action == "kill":
                yield Fault(work, call, "kill-before", False, 0)
                yield Fault(work, call, "kill-after", False, 0)
            elif action == "step":
                for seconds, ever in itertools.product(STEPS_S, (False, True)):
                    yield Fault(work, call, f"step={seconds}", ever, 0)
            else:
                yield Fault(work, call, action, False, 0)
                if action not in TRANSPARENT:
                    yield Fault(work, call, action, True, 0)


# A run in which nothing is struck, and every call counted.
def counting(work):
    return Fault(work, "count", "EIO", False, 1)


class Wrong(Exception):
    """What a run left is not as it must be."""


class Ended(collections.namedtuple("Ended", "status out error calls struck path replies")):
    """How a program ended, and what it told."""


class Programs:
    """The programs, and how they are run under a fault."""

    def __init__(self, build):
        self.tool = os.path.join(build, "cellar")
        self.writer = os.path.join(build, "cellar_outside_writer")
        self.faults = os.path.join(build, "libcellar_outside_faults.so")
        for path in (self.tool, self.writer, self.faults):
            if not os.path.exists(path):
                sys.exit(f"outside: {path} is missing: build the targets cellar_tool and cellar_outside")

    def run(self, command, directory, fault=None, text="", replies=False):
        """Runs a command with the fault on files below `directory`. It must end in time, and not by a signal."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("CELLAR_FAULT")}
        counts = directory + ".counts"
        if fault is not None:
            with open(counts, "wb") as file:
                file.write(bytes(COUNTS_BYTES))
            action, _, step = fault.action.partition("=")
            environment.update(LD_PRELOAD=self.faults, CELLAR_FAULT_CALL=fault.call, CELLAR_FAULT_ACTION=action,
                               CELLAR_FAULT_AT=str(fault.at), CELLAR_FAULT_FOR="0" if fault.ever else "1",
                               CELLAR_FAULT_BELOW=directory, CELLAR_FAULT_STEP_S=step or "0",
                               CELLAR_FAULT_COUNTS=counts)
        ended = self.wait(command, environment, text, replies)
        calls, struck, path = {}, 0, ""
        if fault is not None:
            with open(counts, "rb") as file:
                struck, *numbers = struct.unpack(f"{1 + len(CALLS)}Q", file.read(8 + 8 * len(CALLS)))
                path = file.read().split(b"\0")[0].decode(errors="replace")
            calls = dict(zip(CALLS, numbers))
        killed = fault is not None and fault.kills() and struck > 0
        if ended[0] < 0 and not (killed and ended[0] == -9):
            raise Wrong(f"{os.path.basename(command[0])} ended by signal {-ended[0]}: {ended[2][-2000:]}")
        if ended[0] == 120:
            raise Wrong("the faults could not be injected: " + ended[2])
        return Ended(*ended[:3], calls, struck, path, ended[3])

    def wait(self, command, environment, text, replies):
        reader, child_end = os.pipe() if replies else (None, None)
        lines = []
        if replies:
            command = [*command, str(child_end)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=environment, text=True, errors="replace",
                                   pass_fds=(child_end,) if replies else ())
        if replies:
            os.close(child_end)
            thread = threading.Thread(target=lambda: lines.extend(open(reader, encoding="utf-8", errors="replace")))
            thread.start()
        try:
            out, error = process.communicate(text, timeout=HANG_SECONDS + PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Wrong(f"{os.path.basename(command[0])} does not end; {len(lines)} lines told, the last: "
                        f"{lines[-1] if lines else ''}") from None
        finally:
            if replies:
                thread.join()
        return process.returncode, out, error, [line.rstrip("\n") for line in lines]
