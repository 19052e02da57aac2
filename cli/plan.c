/* cli/plan.c - the command plan: what a model's RoPE can do, and what to try. */
#include "cli.h"
#include "base/paths.h"
#include "attention/cache.h"
#include "base/base.h"
#include "lab/reach.h"
#include "model/layers/layers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Shown where --rope names none; .. of a model some of whose pairs never turn, which frequencies of a method's own
 * would set in motion. */
static const char distances[] = "file,rerope,self-extend,dca,string,sinks,lm-infinite", usual_specs[] =
    "none,linear,ntk,by-parts,yarn,llama3,rerope,self-extend,dca,string,sinks,lm-infinite";

static double cache_size(const Config *c, CacheType type, int64_t n) {
    double slot = 0;
    for (int l = 0; l < c->n_layers; l++) {
        const Config own = c->decoder ? layer_view(c, l) : *c;
        if (c->decoder && (layer_borrows(c, l) || c->decoder->kinds[l].mixer != MIXER_SOFTMAX)) continue;
        slot += own.n_kv_heads *
                (double)(cache_packed_bytes(&cache_formats[type], (size_t)own.head_dim) +
                         cache_packed_bytes(&cache_formats[type], whole_lanes((size_t)own.value_dim)));
    }
    return slot * (double)n;
}

static int changes(const Reach *p, const ReachMethod *m) {
    return memcmp(m->inv_freq, p->inv_freq, (size_t)p->n_pairs * sizeof *p->inv_freq) != 0;
}

/* A row a pair; of a pair alone what stands in front of the methods [n]. */
static void print_pair_rows(const Reach *p, const ReachMethod *const *methods, size_t n, int alone, int wide) {
    int room[] = {wide ? 12 : 10, wide ? 10 : 8, n == 0 ? 0 : wide ? 20 : 17}, width = wide ? 12 : 8;
    out_printf("\n%4s", "pair");
    if (alone) out_printf(" %*s %*s  %-*s", room[0], "wavelength", room[1], "turns", room[2], "in training");
    for (size_t i = 0; i < n; i++) out_printf(" %*.*s", width, width, methods[i]->name);
    for (int k = 0; k < p->n_pairs; k++) {
        double turns = reach_turns(p, k);
        out_printf("\n%4d", k);
        if (alone)
            out_printf(" %*.5g %*.4g  %-*s", room[0], TURN / p->inv_freq[k], room[1], turns, room[2],
                       turns >= 1 ? "every angle" : "never a full turn");
        for (size_t i = 0; i < n; i++) out_printf(" %*.4g", width, methods[i]->inv_freq[k] / p->inv_freq[k]);
    }
    out_printf("\n");
}

/* Which methods change this pair is their column: its frequency as a part of the trained one. Those that a line has no
 * room for have a table of their own below. */
static void print_pairs(const Reach *p) {
    const ReachMethod *others[REACH_MOST];
    size_t n = 0, at = 0, room = (size_t)line_room();
    for (size_t i = 0; i < p->n_methods; i++)
        if (changes(p, &p->methods[i])) others[n++] = &p->methods[i];
    int wide = 51 + 13 * n <= room;
    size_t now = wide ? n : room > 43 ? (room - 43) / 9 : 0;
    for (int alone = 1; alone || at < n; alone = 0, at += now, now = room > 13 ? (room - 4) / 9 : 1) {
        if (now > n - at) now = n - at;
        print_pair_rows(p, others + at, now, alone, wide);
    }
}

static void print_methods(const Reach *p) {
    enum { NUMBERS = 70 };
    size_t longest = strlen("with all its numbers");
    for (size_t i = 0; i < p->n_methods; i++)
        if (strlen(p->methods[i].spec) > longest) longest = strlen(p->methods[i].spec);
    int beside = NUMBERS + longest <= (size_t)line_room();
    out_printf("\n%-22s%12s%12s%10s%12s%s\n", "method", "farthest", "keys seen", "unseen", "scores by",
               beside ? "  with all its numbers" : "");
    for (size_t i = 0; i < p->n_methods; i++) {
        const ReachMethod *m = &p->methods[i];
        out_printf("%-22.22s%12.6g%12lld%10d%12.4g%s%s\n", m->name, m->farthest, (long long)m->keys, m->unseen,
                   m->scale, beside ? "  " : "", beside ? m->spec : "");
    }
    if (!beside) out_printf("\nwith all their numbers\n");
    for (size_t i = 0; i < p->n_methods && !beside; i++) out_printf("%s\n", p->methods[i].spec);
    if (!beside) out_printf("\n");
    prose("farthest: the distance at which the last query sees its farthest key, in the layer and the head that see\n"
          "farthest (ms-poe leaves its first layers as they are; 0: no layer rotates). unseen: pairs that meet angles\n"
          "there which they never had in training: what a model has not learnt to read");
}

static void print_memory(const Config *c, int64_t n) {
    if (c->linear.form) return;
    char line[200];
    int at = snprintf(line, sizeof line, "keys and values of %lld positions: ", (long long)n);
    for (int t = 0; cache_formats[t].name && at < (int)sizeof line; t++)
        at += snprintf(line + at, sizeof line - (size_t)at, "%s%.4g MB as %s", t ? ", " : "",
                       cache_size(c, (CacheType)t, n) / 1e6, cache_formats[t].name);
    out_printf("\n");
    prose("%s", line);
}

/* Nothing is stretched: a model whose pairs stand still in part is proportional as it is. */
static int is_own(const ReachMethod *m) {
    return strcmp(m->name, "none") == 0 || strcmp(m->name, "file") == 0 || strcmp(m->name, "proportional") == 0;
}

static void advise(const char *spec, const char *why) {
    size_t wide = 9 + (strlen(spec) > 20 ? strlen(spec) : 20) + 1 + strlen(why);
    int beside = wide <= (size_t)line_room();
    out_printf(beside ? "  --rope %-20s %s\n" : "  --rope %s\n", spec, why);
    if (!beside) prose("    %s", why);
}

/* The command that says which of them is best. */
static void print_compare(const Reach *p, const Args *a, const char *specs) {
    int named = a->model != compiled_in;
    size_t n = strlen(called) + strlen(a->model) + strlen(specs) + 120;
    char *line = malloc(n);
    if (!line) out.broken = ENOMEM;
    else snprintf(line, n, "  %s compare%s%s -f TEXT --rope %s --lengths %lld,%lld", called, named ? " " : "",
                  named ? a->model : "", specs, (long long)p->trained, (long long)p->context);
    out_printf("which is best for this model and a text of yours:\n");
    if (line) print_command(line, 2);
    free(line);
}

/* Those of the methods that show the model nothing new and yet all keys (but for linear, which brings neighbours too
 * close), ntk by the factor that was reported to do better, and sinks. specs: what was asked for, or NULL; whole: no
 * distances are rewritten; compares: the model has a loss, id by id. */
static void print_advice(const Reach *p, const Args *a, const char *specs, int whole, int still, int compares) {
    double factor = (double)p->context / (double)p->trained;
    if (factor <= 1) {
        out_printf("\n");
        prose("%lld positions are no more than this model was trained on: nothing to stretch", (long long)p->context);
        return;
    }
    int64_t most = 0;
    int new_angles = 1;
    for (size_t i = 0; i < p->n_methods; i++) most = p->methods[i].keys > most ? p->methods[i].keys : most;
    for (size_t i = 0; i < p->n_methods; i++)
        if (is_own(&p->methods[i]))
            new_angles = p->methods[i].unseen > 0 || p->methods[i].keys < most || most == p->context;
    if (!new_angles) {
        out_printf("\n");
        prose("its own windows let a query see no farther than it was trained on: nothing to stretch");
        return;
    }
    out_printf("\nto try for %lld positions, a factor of %g, without training:\n", (long long)p->context, factor);
    char ntk[64], usual[1000];
    snprintf(ntk, sizeof ntk, "ntk:factor=%g", 2 * factor);
    int n = snprintf(usual, sizeof usual, "%s%s%s", still ? "file" : "none,", still ? "" : ntk, whole ? "" : ",sinks");
    for (size_t i = 0; i < p->n_methods; i++) {
        const ReachMethod *m = &p->methods[i];
        if (m->unseen || m->keys != most || m->farthest <= 0) continue;
        if (strcmp(m->name, "linear") == 0 || is_own(m)) continue; /* which is compared anyway */
        out_printf("  --rope %s\n", m->spec);
        if ((size_t)n < sizeof usual) n += snprintf(usual + n, sizeof usual - (size_t)n, ",%s", m->name);
    }
    if (!still) advise(ntk, "(twice the factor: what was reported to do better than the factor itself)");
    if (!whole) advise("sinks", "(reads on without end, and sees the last part only)");
    if (compares) print_compare(p, a, specs ? specs : usual);
}

static void json_plan(const Reach *p, const Config *c, const Args *a) {
    out_printf("{\"model\":");
    json_string(a->model, strlen(a->model));
    out_printf(",\"trained\":%lld,\"context\":%lld,\"pairs\":[", (long long)p->trained, (long long)p->context);
    for (int k = 0; k < p->n_pairs; k++)
        out_printf("%s{\"wavelength\":%.9g,\"turns\":%.9g}", k ? "," : "", TURN / p->inv_freq[k],
                   reach_turns(p, k));
    out_printf("],\"cache_bytes\":{");
    for (int t = 0; !c->linear.form && cache_formats[t].name; t++)
        out_printf("%s\"%s\":%.0f", t ? "," : "", cache_formats[t].name, cache_size(c, (CacheType)t, p->context));
    out_printf("},\"methods\":[");
    for (size_t i = 0; i < p->n_methods; i++) {
        const ReachMethod *m = &p->methods[i];
        out_printf("%s{\"rope\":", i ? "," : "");
        json_string(m->spec, strlen(m->spec));
        out_printf(",\"farthest\":%.9g,\"keys\":%lld,\"unseen\":%d,\"scores_by\":%.9g,\"frequencies\":[", m->farthest,
                   (long long)m->keys, m->unseen, m->scale);
        for (int k = 0; k < p->n_pairs; k++) out_printf("%s%.9g", k ? "," : "", m->inv_freq[k]);
        out_printf("]}");
    }
    out_printf("]}\n");
}

static void csv_plan(const Reach *p) {
    out_printf("rope,pair,wavelength,turns,frequency,farthest,keys,unseen,scores_by\n");
    for (size_t i = 0; i < p->n_methods; i++)
        for (int k = 0; k < p->n_pairs; k++) {
            const ReachMethod *m = &p->methods[i];
            csv_field(m->spec);
            out_printf(",%d,%.9g,%.9g,%.9g,%.9g,%lld,%d,%.9g\n", k, TURN / p->inv_freq[k],
                       reach_turns(p, k), m->inv_freq[k], m->farthest, (long long)m->keys, m->unseen, m->scale);
        }
}

static int save_dials(const Reach *p, const Args *a, char *err, size_t errlen) {
    PlotText svg = {0};
    PlotSeries names[REACH_MOST];
    int styles[REACH_MOST];
    char title[300];
    for (size_t i = 0; i < p->n_methods; i++) names[i] = (PlotSeries){.name = p->methods[i].name};
    plot_styles(names, p->n_methods);
    for (size_t i = 0; i < p->n_methods; i++) styles[i] = names[i].style - 1;
    snprintf(title, sizeof title, "%.200s: its pairs at %lld positions", file_name(a->model), (long long)p->context);
    int code = reach_svg(&svg, p, title, styles, err, errlen) ? fail("%s", err) : svg_save(a->show.svg, &svg);
    plot_text_free(&svg);
    return code;
}

int run_plan(Args *a) {
    Engine e;
    Reach p = {0};
    char spec[ROPE_SPEC_MOST];
    const char *specs = a->rope.method, *asked = specs;
    a->rope.method = NULL; /* a list, and not the model's own setting */
    int code = engine_open(&e, a, 0), more = 1;
    if (code == 0) files_opened(NULL);
    if (code == 0 && (code = needs_rope(&e, "plan"))) engine_close(&e);
    if (code) return code;
    int still = rope_still_pairs(&e.model.config.rope);
    if (!specs) specs = still ? distances : usual_specs;
    /* distances are rewritten only where softmax reads from left to right */
    int whole = e.model.config.linear.form != NULL || e.model.config.mask != MASK_CAUSAL;
    if (reach_init(&p, &e.model, a->context.n, e.err, sizeof e.err)) code = fail("%s", e.err);
    while (code == 0 && (more = rope_spec_next(&specs, spec, sizeof spec)) > 0) {
        code = option_refused(rope_spec_check(spec, e.err, sizeof e.err), "--", e.err);
        int rc = code ? 0 : reach_add(&p, &e.model, spec, e.err, sizeof e.err);
        if (rc && (asked || errno_is_passing(rc))) code = fail("--rope %s: %s", spec, e.err); /* usual: what fits */
    }
    if (code == 0 && more < 0) code = usage("--rope: a spec of the list is too long");
    if (code == 0 && asked && p.n_methods == 0) code = usage("--rope: no method is named");
    if (code == 0 && a->show.json) json_plan(&p, &e.model.config, a);
    else if (code == 0 && a->show.csv) csv_plan(&p);
    else if (code == 0) {
        prose("%s: trained on %lld positions; RoPE of base %g turns %d pairs, %d of them at least once around",
              a->model, (long long)p.trained, e.model.config.rope.theta, p.n_pairs - still,
              p.n_full < p.n_pairs - still ? p.n_full : p.n_pairs - still);
        if (still)
            prose("%d pairs more stand still in this model, whatever the distance; methods that give frequencies of "
                  "their own would turn these, too", still);
        print_pairs(&p);
        print_methods(&p);
        print_memory(&e.model.config, p.context);
        print_advice(&p, a, asked, whole, still, e.model.config.mask == MASK_CAUSAL);
    }
    if (code == 0 && a->show.svg) code = save_dials(&p, a, e.err, sizeof e.err);
    reach_free(&p);
    engine_close(&e);
    return out_end(code);
}
