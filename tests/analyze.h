/* tests/analyze.h - what functions of other files return, for gcc -fanalyzer alone, which sees one file at a time and
 * would walk on as if base_error or fail had returned 0. analyze.sh puts it before each source; nothing is built with
 * it. */
#ifndef ANALYZE_H
#define ANALYZE_H

#include <errno.h>

#define base_error(err, errlen, code, ...) ((base_error)(err, errlen, code, __VA_ARGS__), (code))
#define base_complain(...) ((base_complain)(__VA_ARGS__), -EINVAL)
#ifdef CLI_H
#define fail(...) ((fail)(__VA_ARGS__), EXIT_FAILED)
#define usage(...) ((usage)(__VA_ARGS__), EXIT_USAGE)
#endif

#endif
