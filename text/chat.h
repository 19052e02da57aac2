/* text/chat.h - the bridge between a model's files and the templates of conversations (text/chat_template.h).
 *
 *     const ChatTemplate *t;
 *     char *system;
 *     if (chat_template_of(&t, &system, &w, NULL, err, sizeof err)) ...     NULL in t: the files have no template
 *     ChatOptions o = {.system = system, ..};
 *     free(system); */
#ifndef CHAT_H
#define CHAT_H

#include "model/files/weights.h"
#include "text/chat_template.h"

/* The template by the name given (NULL: none), else the one that the model's files hold: a GGUF file's key
 * tokenizer.chat_template; in a folder chat_template.jinja, else tokenizer_config.json's chat_template (of a list the
 * one named default, else the first), else chat_template.json's, which is a processor's, else what Mistral's own
 * package writes for the version of tekken.json. A llama2.c file has none, and is read as llama2.c reads it. *t belongs
 * to the table. *system: the default system message that the file's own template sets (CHAT_DEFAULT_IN_FILE),
 * malloc'ed; NULL: none. Errors: -EINVAL (no such name, or a template that is none of the known ones: the line names
 * the nearest, or all; a default message that is no plain text; a key of the wrong type), those of reading; *t and
 * *system are NULL then. */
int chat_template_of(const ChatTemplate **t, char **system, const Weights *w, const char *given, char *err,
                     size_t errlen);

/* The published text in a Hugging Face folder, as above: *text malloc'ed [len], with a NUL behind; NULL where there is
 * none. Errors: -EINVAL (a key of the wrong type, more than 1 MB), -ENOMEM, those of reading. */
int chat_template_text(char **text, size_t *len, const char *folder, char *err, size_t errlen);

/* The names of all rows with commas between, into list[size]. */
void chat_template_names(char *list, size_t size);

#endif
