"""Runs a program: launch.py ROUNDS PROGRAM [ARGUMENT...]; prints wall seconds, peak KiB, status and
processor seconds of each round.

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
    spent = usage.ru_utime + usage.ru_stime
    print(f"{time.monotonic() - start:.6f} {usage.ru_maxrss} {child.returncode} {spent:.6f}", flush=True)
