/* tests/faults/core.c - ./core has no jobs beside what it does. */
#include "faults.h"

const char *const fault_program = "core";
const FaultJob fault_jobs[] = {{0}};
