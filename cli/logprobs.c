/* cli/logprobs.c - see logprobs.h. */
#include "logprobs.h"

#include "lab/perplexity.h"

#include <stdio.h>
#include <stdlib.h>

int logprobs_add(Logprobs *p, const float *logits, int id) {
    if (array_reserve(&p->at, &p->cap, p->n + 1, sizeof *p->at) ||
        array_reserve(&p->best, &p->cap_best, (p->n + 1) * p->most, sizeof *p->best))
        return -1;
    double nll = perplexity_nll(p->model, logits, id), whole = nll + (double)logits[id]; /* ln of the sum of e^logits */
    Candidate *best = p->best + p->n * p->most;
    p->at[p->n++] = (Logprob){id, -nll};
    if (p->most) texts_best(logits, (size_t)p->model->config.vocab_size, best, p->most);
    for (size_t k = 0; k < p->most; k++) best[k].p = (double)logits[best[k].id] - whole;
    return 0;
}

void logprobs_free(Logprobs *p) {
    free(p->at);
    free(p->best);
    *p = (Logprobs){0};
}

double logprobs_sum(const Logprobs *p) {
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) sum += p->at[i].logprob;
    return sum;
}

static void json_token(const Tokenizer *t, int id, double logprob) {
    size_t len = 0;
    const char *piece = tokenizer_piece(t, id, &len);
    out_printf("{\"id\":%d,\"token\":", id);
    json_string(piece ? piece : "", len);
    out_printf(",\"logprob\":");
    json_number(logprob);
}

void logprobs_json(const Logprobs *p, const Tokenizer *t) {
    out_printf("[");
    for (size_t i = 0; i < p->n; i++) {
        out_printf("%s", i ? "," : "");
        json_token(t, p->at[i].id, p->at[i].logprob);
        out_printf(",\"top\":[");
        for (size_t k = 0; k < p->most; k++) {
            out_printf("%s", k ? "," : "");
            json_token(t, p->best[i * p->most + k].id, p->best[i * p->most + k].p);
            out_printf("}");
        }
        out_printf("]}");
    }
    out_printf("]");
}

/* What a token says, between marks that show where it begins and ends. */
static int put_token(char *line, size_t n, const Tokenizer *t, int id, double logprob) {
    size_t len = 0;
    const char *piece = tokenizer_piece(t, id, &len);
    int wrote = snprintf(line, n, "%8.4f \"%.*s\"", logprob, piece ? (int)len : 0, piece ? piece : "");
    return wrote < (int)n ? wrote : (int)n - 1;
}

void logprobs_line(const Logprobs *p, size_t i, const Tokenizer *t, char *line, size_t n) {
    size_t at = (size_t)put_token(line, n, t, p->at[i].id, p->at[i].logprob);
    for (size_t k = 0; k < p->most && at + 1 < n; k++) {
        at += (size_t)snprintf(line + at, n - at, "%s", k ? "  " : "   of  ");
        if (at >= n) break;
        const Candidate *c = &p->best[i * p->most + k];
        at += (size_t)put_token(line + at, n - at, t, c->id, c->p);
    }
}
