/* cli/confine.c - what a command has to open, by what it was told; all else is refused it (sandbox.h). */
#include "sandbox.h"

#include "cli.h"
#include "compare.h"
#include "base/paths.h"
#include "base/threads.h"
#include "text/open.h"
#include "weights-tools/sidecars.h"
#include "weights-tools/training/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SandboxPath *paths; /* until confine_end, each path its own copy */
static size_t n_paths, cap_paths;
static int wanted, told, is; /* --sandbox; -v; what was entered */
static int full;             /* no memory for a path, or to see whether it is one */
static int lists;            /* of numbers, in specs: each method reads its own when its turn comes */

static void name(const char *path, SandboxUse use, int late) {
    char *own = path ? strdup(path) : NULL;
    if (own && array_reserve(&paths, &cap_paths, n_paths + 1, sizeof *paths) == 0)
        paths[n_paths++] = (SandboxPath){own, use, late};
    else free(own), full |= path != NULL;
}

void confine_end(void) {
    for (size_t i = 0; i < n_paths; i++) free((char *)paths[i].path);
    free(paths);
}

/* An exit code. */
static int enter(int wish, int never, int verbose) {
    const char *why;
    if (wish && never) return usage("--sandbox and --no-sandbox are both given");
    if (never) return 0;
    if (full) return fail("out of memory");
    wanted = wish, told = verbose;
    is = sandbox_enter(paths, n_paths, &why);
    if (is < 0) return fail("out of memory");
    if (wish && is != SANDBOX_WHOLE) return fail("--sandbox: there is none here: %s", why);
    if (verbose && is != SANDBOX_WHOLE) note("sandbox: %s: %s", is ? "a part of it" : "none", why);
    else if (verbose) note("sandbox: no network, no programs, and no files but those that were named");
    return 0;
}

/* Pieces of a word that are files, behind a name or others: NAME=FILE,FILE@ROWS. */
static void name_pieces(const char *word) {
    char *copy = strdup(word);
    full |= !copy;
    name(word, SANDBOX_FILE, 0);
    for (char *at = copy, *next; at; at = next) {
        if ((next = strpbrk(at, "=,@"))) *next++ = 0;
        name(at, SANDBOX_FILE, 0);
    }
    free(copy);
}

/* Specs of RoPE may name lists of numbers, in quotes or not: longrope:long=FILE. */
static void name_lists(const char *specs) {
    char *copy = specs ? strdup(specs) : NULL, *from = copy, *to = copy;
    int quoted = 0;
    full |= specs && !copy;
    for (const char *at = specs; copy; at++) {
        if (*at == '"') quoted = !quoted;
        else if (*at && (quoted || !strchr("=:+,", *at))) *to++ = *at;
        else {
            *to++ = 0;
            if (file_is_regular(from)) name(from, SANDBOX_FILE, 0), lists = 1;
            from = to;
        }
        if (!*at) break;
    }
    free(copy);
}

/* One that stands neither in a model's file nor beside it may be looked for in the working folder, as llama2.c does. */
static void name_tokenizer(const Args *a, int late) {
    char *here = NULL;
    name(a->tokenizer.file, SANDBOX_MODEL, late);
    if (a->tokenizer.file || (a->model == compiled_in && !a->sampling.draft)) return;
    full |= vocabulary_here(&here) != 0;
    name(here, SANDBOX_FILE, late);
    free(here);
}

/* FILE:scale. */
static void name_adapter(const char *word) {
    const char *colon = strrchr(word, ':');
    char *file = colon && !file_there(word) ? strndup(word, (size_t)(colon - word)) : strdup(word);
    full |= !file;
    name(file, SANDBOX_MODEL, 0);
    free(file);
}

/* A file's own name, or "auto": one beside the model. */
static void name_panels(const Args *a) {
    const char *panels = a->machine.panels, *model = a->model;
    if (!panels || model == compiled_in) return;
    char *inside = strcmp(panels, "auto") == 0 && file_is_folder(model) ? file_join(model, "model.panels") : NULL;
    name(inside ? inside : strcmp(panels, "auto") == 0 ? model : panels, SANDBOX_NEW, 0);
    free(inside);
}

/* What stands beside a model of Hugging Face's is compared before it is left as it is. */
static void name_sidecars(const char *model) {
    char *folder = text_ends_with(model, ".safetensors") ? file_folder(model) : NULL;
    for (size_t i = 0; folder && sidecar_name(i); i++) {
        char *path = file_join(folder, sidecar_name(i));
        full |= !path;
        name(path, SANDBOX_FILE, 0);
        free(path);
    }
    free(folder);
}

/* --svg's file, and those beside it that compare and passkey look at before they replace them. */
static void name_pictures(const Args *a) {
    const char *svg = a->show.svg;
    char suffix[24] = "entropy";
    name(svg, SANDBOX_NEW, 0);
    for (int i = 0; svg && i <= (a->compare.ropes ? COMPARE_ROPES : 0); i++) {
        char *path = svg_beside(svg, suffix);
        full |= !path;
        if (path && file_there(path)) name(path, SANDBOX_FILE, 0);
        free(path);
        snprintf(suffix, sizeof suffix, "%d", i + 1);
    }
}

static void name_words(const Args *a, const Command *cmd) {
    int makes = strcmp(cmd->name, "convert") == 0 || strcmp(cmd->name, "quantize") == 0,
        opens = makes || strcmp(cmd->name, "inspect") == 0; /* or what begins with that word: a checkpoint's prefix */
    for (int i = 0; i < a->n_words; i++)
        if (makes && i == 1) name(a->words[i], SANDBOX_NEW, 0), name_sidecars(a->words[i]);
        else if (cmd->run == run_plot) name_pieces(a->words[i]);
        else if ((opens && i == 0) || file_there(a->words[i])) name(a->words[i], SANDBOX_MODEL, 0);
}

int confine(const Args *a, const Command *cmd) {
    int chats = cmd->run == run_chat || (a->in.mode && strcmp(a->in.mode, "chat") == 0);
    if (cmd->takes_text == WORDS) name_words(a, cmd);
    else if (a->model != compiled_in) name(a->model, SANDBOX_MODEL, 0);
    name_tokenizer(a, chats && a->sampling.draft);
    for (int i = 0; i < a->machine.loras.n; i++) name_adapter(a->machine.loras.at[i]);
    if (a->sampling.draft && file_there(a->sampling.draft)) name(a->sampling.draft, SANDBOX_MODEL, 1);
    name_panels(a);
    name(a->tool.config, SANDBOX_MODEL, 0);
    name_lists(a->rope.method);
    name_lists(a->compare.ropes);
    const char *const read[] = {a->in.file, a->in.lines, a->in.positions, a->tokenizer.jieba, a->probe.template_file};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) name(read[i], SANDBOX_FILE, 0);
    name(a->context.load, SANDBOX_FILE, 1);
    name_pictures(a);
    name(a->compare.resume, SANDBOX_NEW, 0);
    name(a->context.save, SANDBOX_NEW, 1);
    if (chats) name(".", SANDBOX_FOLDER, 1); /* /save, /load */
    return enter(a->machine.sandbox, a->machine.no_sandbox, a->show.verbose);
}

int confine_training(const TrainingOptions *o) {
    static char checkpoint[4096];
    for (int i = 0; i < o->n_texts; i++) name(o->texts[i], SANDBOX_FILE, 0);
    name(o->held, SANDBOX_FILE, 0);
    name(o->tokenizer, SANDBOX_MODEL, 0);
    name(o->from, SANDBOX_MODEL, 0);
    const char *const written[] = {o->out, o->csv, o->svg, checkpoint};
    snprintf(checkpoint, sizeof checkpoint, "%.*s.checkpoint.gguf", (int)(strlen(o->out) - strlen(".gguf")), o->out);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) name(written[i], SANDBOX_NEW, 0);
    return enter(o->sandbox, o->no_sandbox, 0);
}

void model_opened(void) { sandbox_narrow(); }

/* A program that was to be confined and is not does not go on. */
void files_opened(Args *a) {
    if (a && a->machine.threads == 0) a->machine.threads = threads_most(); /* which reads files of the system's */
    int rc = lists ? 0 : sandbox_shut();
    if (rc && wanted) exit(fail("--sandbox: this kernel refuses it: %s", strerror(-rc)));
    if (told && is & SANDBOX_CALLS)
        note(rc || lists ? "sandbox: files can still be opened" : "sandbox: all files are open");
}

void confined_note(int rc) {
    if (is & SANDBOX_PATHS && rc == -EACCES)
        note("the sandbox keeps /save and /load within the working folder; --no-sandbox takes it off");
}
