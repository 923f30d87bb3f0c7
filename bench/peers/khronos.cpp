// Measures Khronos' parser without Python: `khronos read|expand FILE SECONDS REPETITIONS [NAMES]`.
//
// Built from the sources in the PyPI package `nnef`. NAMES is a file with the operations
// to lower. Prints a line for each repetition: CPU seconds, operations, peak memory in KiB.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>

#include "nnef.h"

static double cpu_seconds()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static long peak()
{
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line))
        if (line.compare(0, 6, "VmHWM:") == 0)
            return std::atol(line.c_str() + 6);
    return 0;
}

int main(int argc, char** argv)
{
    if (argc < 5)
        return 2;
    std::ifstream file(argv[2]);
    std::stringstream content;
    content << file.rdbuf();
    const std::string text = content.str();
    const double seconds = std::atof(argv[3]);
    const int repetitions = std::atoi(argv[4]);
    std::set<std::string> lowered;
    if (argc > 5)
    {
        std::ifstream names(argv[5]);
        for (std::string name; names >> name;)
            lowered.insert(name);
    }
    double spent = 0;
    for (int i = 0; i < repetitions && spent <= seconds; i++)
    {
        nnef::Graph graph;
        std::string error;
        const double start = cpu_seconds();
        const bool ok = nnef::parse_string(text, "", graph, error, "", lowered);
        const double time = cpu_seconds() - start;
        if (!ok)
        {
            std::cerr << error << std::endl;
            return 1;
        }
        std::printf("%.9f %zu %ld\n", time, graph.operations.size(), peak());
        std::fflush(stdout);
        spent += time;
    }
    return 0;
}
