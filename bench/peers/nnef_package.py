"""Measures the PyPI package `nnef`: nnef_package.py read|expand FILE SECONDS REPETITIONS [NAMES]

NAMES is a file with the operations to lower. Prints a line for each repetition: CPU seconds of the call,
operations, peak memory in KiB.
"""
import sys
import time

import _nnef  # the extension module that nnef.parse_string calls


def peak():
    with open("/proc/self/status") as status:
        return next((int(line.split()[1]) for line in status if line.startswith("VmHWM:")), 0)


def main():
    _mode, path, seconds, repetitions, *names = sys.argv[1:]
    lowered = []
    if names:
        with open(names[0]) as file:
            lowered = file.read().split()
    with open(path) as file:
        text = file.read()
    spent = 0.0
    for _ in range(int(repetitions)):
        start = time.process_time()
        try:
            graph = _nnef.parse_string(text, quantization=None, stdlib=None, lowered=lowered)
        except Exception as error:
            sys.exit(f"{type(error).__name__}: {error}")
        taken = time.process_time() - start
        print(f"{taken:.9f} {len(graph.operations)} {peak()}", flush=True)
        del graph
        spent += taken
        if spent > float(seconds):
            break


main()
