"""Runs a command in a terminal, closes the terminal when the command prints "ready", and prints how the command ended."""

import os
import pty
import select
import sys
import time

SECONDS = 60
command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
deadline = time.monotonic() + SECONDS
text = b""
while b"ready" not in text and time.monotonic() < deadline:
    readable, _, _ = select.select([terminal], [], [], 1)
    if readable:
        try:
            text += os.read(terminal, 4096)
        except OSError:
            break
os.close(terminal)
_, status = os.waitpid(child, 0)
print("signal" if os.WIFSIGNALED(status) else "exit", os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
