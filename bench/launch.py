"""Runs a program: launch.py ROUNDS PROGRAM [ARGUMENT...]; prints wall seconds, peak KiB and status of each round.

A separate process, because a child's peak memory includes that of the process it is forked from.
"""
import os
import subprocess
import sys
import time

for _ in range(int(sys.argv[1])):
    start = time.monotonic()
    child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    print(f"{time.monotonic() - start:.6f} {usage.ru_maxrss} {child.returncode}", flush=True)
