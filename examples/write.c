/* examples/write.c - a text, written by libroformer:  ./write [MODEL [PROMPT]]; without words a story, by the small
 * model that is in the library. Build it:  cc write.c -o write $(pkg-config --cflags --libs roformer) */
#include <roformer.h>
#include <stdio.h>
#include <string.h>

static int show(void *arg, const char *text, size_t n) {
    fwrite(text, 1, n, arg);
    return fflush(arg) != 0; /* not 0 ends the text: nobody reads any more */
}

int main(int argc, char **argv) {
    const char *prompt = argc > 2 ? argv[2] : "Once upon a time";
    char err[300];
    RoformerModel *model = NULL;
    RoformerSession *session = NULL;
    RoformerSampler *sampler = NULL;
    RoformerSamplerOptions how = {.size = sizeof how, .temperature = 0.8f, .top_p = 0.9f, .seed = 42};
    RoformerWriteOptions what = {.size = sizeof what, .max_tokens = 100, .piece = show, .arg = stdout};

    int rc = roformer_open(&model, argc > 1 ? argv[1] : NULL, NULL, err, sizeof err);
    if (rc == 0) rc = roformer_session_new(&session, model, NULL, err, sizeof err);
    if (rc == 0) rc = roformer_sampler_new(&sampler, model, &how, err, sizeof err);
    if (rc == 0) show(stdout, prompt, strlen(prompt));
    if (rc == 0) rc = roformer_write(session, sampler, prompt, strlen(prompt), &what, NULL, err, sizeof err);
    if (rc) fprintf(stderr, "write: %s\n", err);
    else puts("");
    roformer_sampler_free(sampler);
    roformer_session_free(session);
    roformer_close(model);
    return rc ? 1 : 0;
}
