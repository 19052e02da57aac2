/* cli/cli.h - what the files of the program share: its arguments, what a command runs on, and how it speaks. run.c and
 * this folder are the only files that read argv, print and exit; stdout is the text, everything else goes to stderr.
 *
 *     int run_logits(Args *a) {
 *         Engine e = {0};
 *         int code = engine_open(&e, a, 0);
 *         if (code == 0) code = engine_session(&e, a, n, 1);
 *         ...
 *         engine_close(&e);
 *         return out_end(code);
 *     }
 *
 * Functions that return int return 0 or an exit code after saying why, unless they say otherwise. */
#ifndef CLI_H
#define CLI_H

#include "base/base.h"
#include "lab/plot/plot.h"
#include "model/sampler.h"
#include "model/session.h"
#include "tokenizer/open.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* ---- options.c: what the program was told ---- */

enum { STRING_LIST_MOST = 16 };
typedef struct { const char *at[STRING_LIST_MOST]; int n; } StringList;

/* The text that is read, and how. */
typedef struct {
    const char *prompt, *file, *positions, *axes, *mode, *system, *chat_template, *ids, *type_ids, *attention_mask,
        *separator, *lines;
    int special, no_bos, pair, parallel_given;
    StringList texts;
    long long parallel; /* --lines: texts at once */
} InputArgs;
typedef struct { const char *file, *pre, *backend, *jieba; int bert4keras; } TokenizerArgs;

/* What is printed. */
typedef struct {
    int no_echo, all, want_ids, pieces, normalize, csv, json, quiet, verbose, version, help;
    const char *pooling, *svg;
    long long candidates, logprobs;
    int logprobs_given;
} OutputArgs;

/* Where it says so, X_given: the option was there, whatever its value. */
typedef struct {
    long long n, max_tokens, top_k, penalty_window, seed;
    double temperature, top_p, min_p, repetition, presence, frequency;
    double dry_multiplier, dry_base, xtc_probability, xtc_threshold;
    long long dry_allowed, dry_last; /* dry_last -1: as far as the context goes */
    StringList stop, biases, breakers;
    const char *draft;
    long long draft_most;
    int ignore_eos, n_given, max_given, seed_given;
    int temperature_given, top_p_given, top_k_given, min_p_given, repetition_given;
} SamplingArgs;

typedef struct { const char *contexts, *prompts, *at_once; long long runs; } BenchArgs;
typedef struct { const char *shifts, *angles; } ProofArgs;
typedef struct {
    const char *depths, *template_file, *distances;
    long long trials, span, samples, n_short;
    int longppl;
} ProbeArgs; /* passkey, recall; 0: not given */
typedef struct { const char *task, *by; long long dimensions, most; } EmbedArgs; /* embed, rank; most 0: all */
typedef struct { const char *thetas, *pairing, *kind, *q, *k; long long dims, positions; } LessonArgs; /* rope WHAT */
typedef struct {
    const char *x, *y, *title, *subtitle, *y_name;
    double bin, least, most, mark;
    int log_x, least_given, most_given, mark_given;
} PlotArgs;
/* explain WHAT; -1, NULL: not given */
typedef struct { const char *without; long long layer, head, query, key, shift; int without_given; } ExplainArgs;
typedef struct { const char *convention; long long stride, last, bin; int by_position; } CutArgs; /* 0: not given */
typedef struct {
    const char *type, *config, *name, *mask, *pooler, *task;
    int no_tokenizer, list, force, keys, summary, check_layout;
} ToolArgs; /* convert, quantize, inspect */
typedef struct {
    const char *ropes, *lengths, *resume;
    long long score, from;
    int score_given, from_given, entropy, jobs, merge;
} CompareArgs;
typedef struct {
    long long n;
    const char *kv, *save, *load, *shift;
    int exact; /* the command's own: the most exact cache, where --kv does not say */
} ContextArgs;
typedef struct { const char *method, *extend; double theta, factor; long long n_original; } RopeArgs;
typedef struct {
    const char *kind, *phi, *phi_key, *form;
    double epsilon;
    long long favor_features, favor_seed, chunk;
    int epsilon_given, favor_seed_given;
} AttentionArgs;
typedef struct { const char *arch, *mask, *pooler; } RoformerArgs;
typedef struct {
    long long threads;
    const char *kernels, *panels;
    int no_mmap, sandbox, no_sandbox;
    StringList loras;
} MachineArgs;

typedef struct {
    const char *model, *text; /* the words that are no options; model: compiled_in where none of them is one */
    const char *program;      /* as it was called */
    char **options, **words;  /* [n_options], [n_words]: all that was given, sorted */
    int n_options, n_words;
    InputArgs in;
    TokenizerArgs tokenizer;
    OutputArgs show;
    SamplingArgs sampling;
    BenchArgs bench;
    ProofArgs proof;
    ProbeArgs probe;
    LessonArgs lesson;
    ExplainArgs explain;
    EmbedArgs embed;
    PlotArgs plot;
    CutArgs cut;
    CompareArgs compare;
    ToolArgs tool;
    ContextArgs context;
    RopeArgs rope;
    AttentionArgs attention;
    RoformerArgs roformer;
    MachineArgs machine;
} Args;

/* A part of a command that has several: rope table, explain map. */
typedef struct {
    const char *name, *words, *summary; /* words: what stands behind its name, as help writes it */
    int (*run)(Args *a);
} Topic;

typedef struct {
    const char *name, *usage, *summary;
    const char *about; /* paragraphs, a line each; a space begins a line of a table; NULL: nothing more */
    const char *examples;
    int (*run)(Args *a);
    int takes_text; /* 1: a word behind MODEL is a text; WORDS: there may be any number, and it sorts them itself */
    const Topic *topics; /* NULL: it has none; a row without a name ends them */
    const char *(*word)(int i); /* the i-th value of a word that is one of a list; NULL: it has no such word */
    int (*run_own)(int argc, char **argv); /* train: its options have a table of their own; run is NULL */
} Command;
enum { WORDS = 2 };
enum { HELP_ASKED = -1 }; /* from run_own, in place of an exit code */

const Command *command_named(const char *word); /* run.c's row, or NULL */
extern const char compiled_in[]; /* Args.model of the model in the program: what errors and tables call it */
/* Could word be a model? It is a file or folder, holds a / or ends in .gguf, .bin or .safetensors. */
int is_model_word(const char *word);

/* Options may stand anywhere; --name VALUE and --name=VALUE; after -- everything is positional. argv is sorted: options
 * with their values come first. */
int options_parse(Args *a, int argc, char **argv, const Command *cmd);

/* ---- help.c ---- */

void help_print(const Command *commands, int n, const Command *cmd); /* of cmd; the first one is the usual command */
int options_ask_for_specs(const Args *a); /* --rope help */
void print_specs(void);          /* all methods and their keys */
/* A command to copy, in stdout's own line; on a terminal that has less room in several, a backslash at the end of each,
 * the later ones so far indented. */
void print_command(const char *line, int indent);
void models_print(void);         /* --help models: those that run here, and why others do not */
void print_kernels(void);        /* the rows that run here, a space in front of each */

/* ---- options.c, for single options ---- */

/* "1,15,7" (commas, spaces) to *ids [*n], malloc'ed: 0, or an exit code after saying why, and *ids is NULL. */
int parse_ids(int **ids, size_t *n, const char *option, const char *s);
extern const char *const generate_modes[]; /* generate.c: "generate", "chat" */
const char *kv_name(int i);                /* engine.c: the i-th that --kv takes; NULL behind the last */
/* Where word stands among names (NULL ends them), from the first on; -1 after saying why. */
int named(const char *option, const char *word, const char *const *names, int first);

/* ---- output.c: saying things ---- */

extern double started;                    /* when the program began */
extern atomic_int interrupted; /* Ctrl-C was pressed */
extern int quiet;
extern const char *command_name;          /* the command's name as it was given, for what an error points to */
extern const char *called;                /* the program as it was called: what our lines, which say ./run, print */
extern const char *volatile unfinished;   /* a temporary file that goes where a signal ends the program; or NULL, "" */

/* text, a line or a page of ours, with called for each ./run in it; malloc'ed, NULL without memory. */
char *as_called(const char *text);
/* SIGINT, SIGTERM and SIGHUP say interrupted from here on; flags: signal_catch's. */
void hear_interrupts(int flags);

int fail(const char *fmt, ...) BASE_PRINTF(1, 2);   /* one line on stderr; EXIT_FAILED */
int usage(const char *fmt, ...) BASE_PRINTF(1, 2);  /* the same with a hint; EXIT_USAGE */
/* What a check of an option's value gave, its line behind `before`: usage, but a failure where memory or the disk was
 * in the way and not the value; 0 where rc is 0. */
int option_refused(int rc, const char *before, const char *err);
void note(const char *fmt, ...) BASE_PRINTF(1, 2);  /* a line on stderr, unless quiet, without control characters */
void answer_line(const char *fmt, ...) BASE_PRINTF(1, 2); /* .. also when quiet: it was asked for */

/* A line on stderr that is drawn over, from two seconds on, on a terminal only. */
typedef struct {
    const char *what;
    double start, drawn;
    int on_screen;
    const char *unit; /* of what is done, and how many make one; NULL: tokens */
    double each;
} Progress;

/* A line of a terminal's over the one before, cut at its width; and none there, the cursor at its beginning. */
void progress_line(const char *fmt, ...) BASE_PRINTF(1, 2);
void progress_wipe(void);
void progress_show(Progress *p, size_t done, size_t total);
void progress_clear(Progress *p);
int on_progress(void *arg, size_t done, size_t total); /* SessionOptions.progress with a Progress: stops on Ctrl-C */
int on_batch(void *arg, size_t done, size_t total);    /* the same where nothing is to be shown */

/* Anything written to stdout goes through here. A reader that has gone away (EPIPE) is no error: there is just nobody
 * left. */
typedef struct {
    int terminal;            /* control characters of the model's text are not for a terminal */
    atomic_int gone, broken; /* EPIPE; errno of any other failure: any thread's */
    int whole;               /* a Ctrl-C waits until what is written is out, where a program goes on behind it */
} Out;

extern Out out;
void out_bytes(const char *s, size_t n);
void out_text(
    const char *s,
    size_t n); /* text of the model, in whole characters: to a terminal without C0 (but newline and tab), DEL and C1 */
void out_own(const char *text); /* ours, as_called */
void out_printf(const char *fmt, ...) BASE_PRINTF(1, 2);
/* A paragraph of ours, and the end of its last line: on a terminal broken at its width, for others as it is. */
void prose(const char *fmt, ...) BASE_PRINTF(1, 2);
void out_flush(void);
/* Waits until stdout takes more. 0: Ctrl-C came, of which a write might not hear that begins to wait just behind it. */
int out_room(void);
int out_end(int code); /* flush: code, or EXIT_FAILED where something was not written */
int close_written(FILE *f); /* f is closed; 1 where not all that was written to it is there */

void json_string(const char *s, size_t n); /* controls, C1 too, as \u001b */
void json_text(const char *key, const char *s); /* "key":"s", and null where s is NULL */
/* A text of a file's or ours: in quotes where it has a comma, a quote or the end of a line (RFC 4180). */
void csv_field(const char *s);
void json_number(double v); /* JSON has no word for what is no number: null */
void json_ids(const char *key, const int *ids, size_t n); /* "key":[..], */

/* ---- engine.c: files, tokenizers, models ---- */

/* What a command runs on; everything zeroed or open. */
typedef struct {
    Model model;
    Tokenizer *tokenizer;
    Session session;
    const float *logits; /* after the last id read, where a state was loaded, of n_loaded ids */
    size_t n_loaded;
    size_t keep; /* --shift: positions that stay */
    const struct Attention *attention; /* another than the program's, for the session; NULL: none */
    Progress progress;
    double load_s;
    char err[1200];
} Engine;

int engine_open(Engine *e, const Args *a, int want_tokenizer); /* *e is zeroed where it fails */
/* A session with room for -c positions, else for those wanted, at most the trained ones; where a state is loaded, for
 * its ids too. Linear attention takes no room. e stays open where it fails. */
int engine_session(Engine *e, const Args *a, size_t wanted, size_t n_logits);
/* 0, or an exit code after saying that what is of RoPE, and which positions this model has instead. */
int needs_rope(const Engine *e, const char *what);
void note_price(const Engine *e); /* of a rope method that reads the text again for each new token */
void engine_close(Engine *e);
int engine_bos(const Engine *e); /* the tokenizer's BOS, else the model's; -1: neither has one */
/* What --kv says, where it says something: *cache is what it would be otherwise. */
int cache_option(CacheType *cache, const Args *a, const Model *m);
int save_state(Engine *e, const Args *a); /* what was read, where --save-state asks */
/* 0, or a negative errno and a line: what is there and is no state, or cannot be read, is not to be written over. */
int state_may_write(const char *path, char *err, size_t errlen);
int tokenizer_options(TokenizerOptions *o, const Args *a);
/* The whole of a file or of stdin ("-"), byte for byte, and a 0 behind it. The caller frees *text. */
int read_text(const char *path, char **text, size_t *n);
/* The text of -i, else of -f's file or a pipe, whose last newline is echo's or an editor's and left out; "" where there
 * is neither. *file is what the caller frees, or NULL. */
int read_prompt_text(const Args *a, const char **text, size_t *n, char **file);
/* Before stdin is read: where that is a terminal, a line says that it is waited for. */
void note_terminal(void);
/* "-" where stdin is a pipe or a regular file, so that a text may come from there, else NULL. */
const char *piped_text(void);

/* ---- plots.c: pictures (lab/plot/plot.h) ---- */

/* Into the file of --svg, where it was given, which appears whole or not at all; and on stdout, where that is a
 * terminal and text was asked for. Size and colour are set here: the terminal's, NO_COLOR. */
int plot_show(PlotLines *p, const Args *a);
/* The styles of series whose names are specs: a method looks the same in every picture. */
void plot_styles(PlotSeries *s, size_t n);
int heat_show(PlotHeat *p, const Args *a);
/* Before anything is read: can --svg be written? A file that is there, is not empty and is no SVG stays as it is, and
 * so does what the command reads. svg_may_write: the same of a picture beside it. An exit code. */
int svg_check(const Args *a);
int svg_may_write(const char *path);
char *svg_beside(const char *path, const char *suffix); /* "a.svg": "a-SUFFIX.svg"; malloc'ed, NULL without memory */
int svg_save(const char *path, const PlotText *svg); /* a picture that is drawn already, as --svg would save it */
/* One of these, drawn into --svg's file, and on stdout unless numbers were asked for: into a pipe, too, for the picture
 * is what the command says. Size and colour are set here. */
typedef struct { PlotLines *lines; PlotHeat *heat; PlotSheet *sheet; PlotDials *dials; PlotBars *bars; } Figure;
int figure_show(Figure f, const Args *a);
/* What a picture on stdout may take, and whether it may have colours: the terminal's size, else 80 columns; NO_COLOR,
 * TERM=dumb. */
void screen(int *width, int *height, int *colour);
/* Columns of a line of stdout: a terminal's. What reads a pipe finds each row of a table whole: INT_MAX. */
int line_room(void);
const char *file_name(const char *path); /* behind the last / */

/* ---- confine.c: the sandbox, of what the options name (sandbox.h) ---- */

/* Before anything is opened: an exit code. */
int confine(const Args *a, const Command *cmd);
void confine_end(void); /* frees what these keep; the fence stays */
struct TrainingOptions;
int confine_training(const struct TrainingOptions *o);
/* chat, whose model and tokenizer are open and whose threads are not made: what they lie in is not needed any more. */
void model_opened(void);
/* From here on a command opens nothing but what it writes; a: where it makes sessions, which then read nothing of the
 * system's, or NULL. */
void files_opened(Args *a);
void confined_note(int rc); /* a line where chat could not open a file because of it */

/* ---- manual.c: what is installed beside the program, from the tables of commands and options ---- */

/* A page of man on stdout: of cmd, or with NULL of the program. */
void manual_page(const Command *commands, int n, const Command *cmd);
/* Completions for shell "bash", "zsh" or "fish" on stdout: 0, or an exit code after saying that it is none. */
int manual_completions(const Command *commands, int n, const char *shell);

/* ---- topics.c: commands of several parts ---- */

const Topic *topic_named(const Topic *topics, const char *command, const char *word); /* NULL after saying why */
const Topic *topic_among(const Topic *topics, char *const *words, int n); /* the one that a word names; NULL: none */
/* A paragraph on stdout behind an empty line, broken at the screen's width, at most 100; spaces as given are one. */
void teach(const char *fmt, ...) BASE_PRINTF(1, 2);
/* The line of C that makes a number, by its place in cited[] (topics.c): a line on stdout, and what --csv writes. */
void cite(const char *key);
const char *cited_place(const char *key); /* "rope/rope.c rope_row64" */

/* ---- the commands, a file each ---- */

int run_generate(Args *a), run_logits(Args *a), run_tokenize(Args *a), run_perplexity(Args *a), run_bench(Args *a),
    run_chat(Args *a), run_compare(Args *a), run_proof(Args *a), run_plan(Args *a), run_passkey(Args *a),
    run_recall(Args *a), run_rope(Args *a), run_explain(Args *a), run_plot(Args *a);
extern const Topic rope_topics[], explain_topics[]; /* rope/, explain/ */
int run_score(Args *a);
const char *quantize_type(int i); /* the i-th TYPE; NULL behind the last */
int run_convert(Args *a), run_quantize(Args *a), run_inspect(Args *a), run_train(int argc, char **argv);
int run_fill(Args *a), run_classify(Args *a); /* lines.c */
int run_embed(Args *a), run_rank(Args *a);    /* embed.c */

#endif
