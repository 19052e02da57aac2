/* text/chat.c - the template in a model's files. Nothing of it is executed: it is recognised, or refused. */
#include "chat.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/base.h"
#include "base/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 2000 };    /* room for the names of all rows */
enum { MOST = 1 << 20 }; /* bytes of a template: those that are published have 16 KB at most */

void chat_template_names(char *list, size_t size) {
    const ChatTemplate *t;
    size_t n = 0;
    list[0] = 0;
    for (int i = 0; (t = chat_template_row(i)) && n + strlen(t->name) + 3 < size; i++)
        n += (size_t)snprintf(list + n, size - n, "%s%s", i ? ", " : "", t->name);
}

static int recognise(const ChatTemplate **t, char **system, const char *text, size_t len, const char *name, char *err,
                     size_t errlen) {
    char list[LIST];
    *t = len <= MOST ? chat_template_recognise(text, len) : NULL;
    if (*t && (*t)->flags & CHAT_DEFAULT_IN_FILE && !(*system = chat_template_default(text, len))) {
        *t = NULL;
        return base_error(err, errlen, -EINVAL, "%s: the default system message of its chat template cannot be read",
                          name);
    }
    if (*t && *system && !**system) free(*system), *system = NULL;
    if (*t) return 0;
    chat_template_names(list, sizeof list);
    return base_error(err, errlen, -EINVAL,
                      "%s: its chat template is none that is known here; --chat-template gives one by name: %s", name,
                      list);
}

/* A template as tokenizer_config.json has it: a text, or a list of {"name", "template"}. NULL: none. */
static const JsonValue *template_value(const JsonValue *v) {
    if (!v || v->type != JSON_ARRAY) return v && v->type == JSON_STRING ? v : NULL;
    const JsonValue *first = NULL;
    for (const JsonValue *item = v->child; item; item = item->next) {
        const JsonValue *text = json_typed(item, "template", JSON_STRING);
        if (!text) continue;
        if (json_is(json_get(item, "name"), "default")) return text;
        if (!first) first = text;
    }
    return first;
}

/* s [n] as *text, malloc'ed. */
static int copy(char **text, size_t *len, const char *s, size_t n, const char *name, char *err, size_t errlen) {
    if (n > MOST) return base_error(err, errlen, -EINVAL, "%s: a chat template of %zu bytes is none", name, n);
    if (!(*text = malloc(n + 1))) return base_error(err, errlen, -ENOMEM, "%s: no memory", name);
    memcpy(*text, s, n);
    (*text)[n] = 0;
    *len = n;
    return 0;
}

static int of_config(char **text, size_t *len, const char *path, char *err, size_t errlen) {
    Json j;
    int rc = json_open(&j, path, err, errlen);
    if (rc) return rc;
    const JsonValue *v = json_get(j.root, "chat_template"), *t = template_value(v);
    if (t) rc = copy(text, len, t->str, t->len, path, err, errlen);
    else if (!json_absent(v))
        rc = base_error(err, errlen, -EINVAL, "%s: chat_template is neither a text nor a list of them", path);
    json_free(&j);
    return rc;
}

static int of_jinja(char **text, size_t *len, const char *path, char *err, size_t errlen) {
    MappedFile f;
    int rc = file_map(&f, path, err, errlen);
    if (rc) return rc;
    rc = copy(text, len, (const char *)f.data, f.size, path, err, errlen);
    file_unmap(&f);
    return rc;
}

int chat_template_text(char **text, size_t *len, const char *folder, char *err, size_t errlen) {
    static const char *const names[] = {"chat_template.jinja", "tokenizer_config.json", "chat_template.json"};
    int rc = 0;
    *text = NULL;
    *len = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && rc == 0 && !*text; i++) {
        char *path = file_join(folder, names[i]);
        if (!path) return base_error(err, errlen, -ENOMEM, "%s: no memory", folder);
        if (file_exists(path)) rc = (i == 0 ? of_jinja : of_config)(text, len, path, err, errlen);
        free(path);
    }
    return rc;
}

/* Mistral's own files have no template: how a conversation is written follows from the version of tekken.json. */
static int of_tekken(const ChatTemplate **t, const char *folder, char *err, size_t errlen) {
    static const char *const known[][2] = {{"v3", "mistral-v3-tekken"}, {"v7", "mistral-common"},
                                           {"v11", "mistral-common"}, {"v13", "mistral-common"}};
    Json j;
    int rc = json_open_in(&j, folder, "tekken.json", err, errlen);
    const JsonValue *version = json_get(json_get(j.root, "config"), "version");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (json_is(version, known[i][0])) *t = chat_template_find(known[i][1]);
    json_free(&j);
    return rc;
}

static int of_folder(const ChatTemplate **t, char **system, const char *folder, char *err, size_t errlen) {
    char *text;
    size_t len;
    int rc = chat_template_text(&text, &len, folder, err, errlen);
    if (rc == 0) rc = text ? recognise(t, system, text, len, folder, err, errlen) : of_tekken(t, folder, err, errlen);
    free(text);
    return rc;
}

static const char *name_of(int i) {
    const ChatTemplate *t = chat_template_row(i);
    return t ? t->name : NULL;
}

int chat_template_of(const ChatTemplate **t, char **system, const Weights *w, const char *given, char *err,
                     size_t errlen) {
    char list[LIST];
    const char *name = w->path ? w->path : "GGUF";
    *system = NULL;
    *t = given ? chat_template_find(given) : NULL;
    if (*t) return 0;
    const char *near = given ? nearest_word(given, name_of) : NULL;
    if (near)
        return base_error(err, errlen, -EINVAL, "there is no chat template \"%s\"; did you mean %s", given, near);
    chat_template_names(list, sizeof list);
    if (given) return base_error(err, errlen, -EINVAL, "there is no chat template \"%s\"; known are %s", given, list);
    if (w->format == FORMAT_LLAMA2C) *t = chat_template_find("llama2c");
    if (w->format == FORMAT_HF) return of_folder(t, system, w->folder, err, errlen);
    const MetaValue *v = weights_meta(w, "tokenizer.chat_template");
    if (w->format != FORMAT_GGUF || !v) return 0;
    if (v->type != META_STRING) return base_error(err, errlen, -EINVAL, "%s: tokenizer.chat_template is no text", name);
    return recognise(t, system, (const char *)v->data, (size_t)v->n, name, err, errlen);
}
