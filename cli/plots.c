/* cli/plots.c - where pictures go: files, and the terminal. */
#include "cli.h"
#include "base/newfile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

int svg_save(const char *path, PlotText *svg) {
    NewFile f;
    char err[400];
    int rc = newfile_open(&f, path, err, sizeof err);
    if (rc == 0) {
        newfile_write(&f, svg->at, svg->n);
        rc = newfile_close(&f, 1, err, sizeof err);
    }
    return rc ? fail("--svg: %s", err) : 0;
}

int plot_is_wanted(const Args *a) { return out.terminal && !a->show.json && !a->show.csv; }

TerminalSize terminal_size(void) {
    TerminalSize t = {80, 20, 0};
    struct winsize w;
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    if (ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 0) {
        t.width = w.ws_col < 120 ? w.ws_col : 120;
        t.height = w.ws_row < 30 ? w.ws_row - 4 : 26;
    }
    t.colour = !(plain && *plain) && term && strcmp(term, "dumb") != 0;
    return t;
}

const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
