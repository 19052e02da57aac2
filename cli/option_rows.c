/* cli/option_rows.c - the table of options: a row says who takes it, where its value goes, and what help says. */
#include "options.h"

#include "attention/maps.h"
#include "bench/bench.h"
#include "kernels/rows.h"
#include "lab/cuts.h"
#include "rope/axes.h"
#include "rope/spec.h"
#include "text/chat_template.h"

const char *const option_groups[] = {"text in", "output",    "sampling", "measuring", "context",
                                     "rope",    "attention", "RoFormer", "machine"};

/* Where a row's commands are these, by name. */
#define WRITERS "generate chat"
#define ENCODERS "fill embed classify"
#define FILES "tokenize perplexity compare recall " ENCODERS
#define TEXTS "score " FILES
#define STRETCHED "logits score perplexity bench proof " WRITERS " " ENCODERS
#define MODELS "plan " STRETCHED
#define PROBES "passkey recall"
#define READERS "compare explain " PROBES " " MODELS
#define SHOWS "rope explain"
#define ALL "tokenize " READERS " " SHOWS

static const char *axes_name(int i) { return axes_row_of(i) ? axes_row_of(i)->name : NULL; }
static const char *kernels_name(int i) { return kernels_row(i) ? kernels_row(i)->name : NULL; }
static const char *template_name(int i) { return chat_template_row(i) ? chat_template_row(i)->name : NULL; }
static const char *phi_name(int i) { return feature_map_row(i) ? feature_map_row(i)->name : NULL; }
static const char *convention_name(int i) { return cut_convention_row(i) ? cut_convention_row(i)->name : NULL; }
static const char *form_name(int i) { return linear_form_row(i) ? linear_form_row(i)->name : NULL; }

#define ROPE_LIST_HELP "specs with commas between, each NAME[:key=value..][+NAME..], --rope help for their keys, of:"
#define AT(field) offsetof(Args, field)
const Option options[] = {
    {TEXT_IN, 'i', "--prompt", "TEXT", STRING, "generate", AT(in.prompt), .help = "the text to go on from"},
    {TEXT_IN, 'i', "--prompt", "TEXT", STRING, "chat", AT(in.prompt), .help = "the first message"},
    {TEXT_IN, 'i', "--prompt", "TEXT", STRING, "proof", AT(in.prompt), .help = "the text (some sentences)"},
    {TEXT_IN, 'i', "--prompt", "TEXT", STRING, "score", AT(in.prompt), .help = "what stands before it (nothing)"},
    {TEXT_IN, 0, "--text", "TEXT", STRINGS, "score", AT(in.texts),
     .help = "the text that is scored; may be given up to 16 times"},
    {TEXT_IN, 'f', "--file", "FILE", STRING, "generate " FILES, AT(in.file),
     .help = "read the text from FILE; - is stdin"},
    {TEXT_IN, 0, "--ids", "1,15,7", STRING, "logits", AT(in.ids), .help = "the ids to evaluate, exactly these"},
    {TEXT_IN, 0, "--type-ids", "0,0,1", STRING, "logits", AT(in.type_ids),
     .help = "RoFormer: the segment of each id (all 0)"},
    {TEXT_IN, 0, "--attention-mask", "1,1,0", STRING, "logits", AT(in.attention_mask),
     .help = "RoFormer: 0 where an id is padding, which no other sees (all 1)"},
    {TEXT_IN, 0, "--positions", "FILE", STRING, "logits", AT(in.positions),
     .help =
         "where the ids stand, a line each: one number, or two or three of several axes (0, 1, 2 ..); who sees whom "
         "goes by their order"},
    {TEXT_IN, 0, "--axes", "NAME", STRING, "logits", AT(in.axes),
     .help = "with --positions: which pairs turn by which coordinate (of three: mrope, of two: tie):",
     .choice = axes_name},
    {TEXT_IN, 0, "--separator", "LINE", STRING, "perplexity", AT(in.separator),
     .help = "the file is documents between lines that hold exactly LINE"},
    {TEXT_IN, 0, "--pair", NULL, FLAG, "embed", AT(in.pair),
     .help = "each line is two texts with a tab between: print the cosine of their vectors"},
    {TEXT_IN, 0, "--special", NULL, FLAG, "generate tokenize", AT(in.special),
     .help = "special tokens written in the text count as such"},
    {TEXT_IN, 0, "--no-bos", NULL, FLAG, "tokenize", AT(in.no_bos),
     .help = "the text's own ids, nothing added before or after"},
    {TEXT_IN, 'm', "--mode", "MODE", STRING, "generate", AT(in.mode), .help = "generate or chat (generate)"},
    {TEXT_IN, 'y', "--system", "TEXT", STRING, "chat", AT(in.system),
     .help = "the system prompt (the template's own, where it has one)", .silent = "generate"},
    {TEXT_IN, 0, "--chat-template", "NAME", STRING, "chat", AT(in.chat_template),
     .help = "how a conversation is written down (as the file says):", .silent = "generate", .choice = template_name},
    {TEXT_IN, 'z', "--tokenizer", "FILE", STRING, WRITERS " explain " TEXTS, AT(tokenizer.file),
     .help =
         "tokenizer.json, tokenizer.model, tokenizer.bin, vocab.txt, a .tiktoken file, or a folder with one or with "
         "vocab.json and merges.txt"},
    {TEXT_IN, 0, "--pre", "NAME", STRING, WRITERS " explain " TEXTS, AT(tokenizer.pre),
     .help =
         "byte-level BPE whose file does not say how words are cut: gpt-2, llama-bpe, qwen2 .. (GGUF's names; known "
         "vocabularies need none)"},
    {TEXT_IN, 0, "--tokenizer-backend", "NAME", STRING, WRITERS " explain " TEXTS, AT(tokenizer.backend),
     .help =
         "who encodes a tokenizer.model: own, or sentencepiece, its library, where built with SENTENCEPIECE=1 (own)"},
    {TEXT_IN, 0, "--jieba", "DICT", STRING, WRITERS " explain " TEXTS, AT(tokenizer.jieba),
     .help = "WordPiece: jieba's dictionary, by which text is cut into words (dict.txt beside the model)"},
    {TEXT_IN, 0, "--bert4keras", NULL, FLAG, WRITERS " " TEXTS, AT(tokenizer.bert4keras),
     .help = "WordPiece: bert4keras' order of steps, not transformers'"},

    {OUTPUT, 0, "--no-echo", NULL, FLAG, "generate", AT(show.no_echo), .help = "leave the prompt out of the output"},
    {OUTPUT, 0, "--logprobs", "N", INTEGER, "generate score", AT(show.logprobs),
     .help = "the log-probability of each token written or scored, and of the N most probable there: what the "
             "model says, before temperature and the like (generate: on stderr, behind the text; --json: in it)",
     0, 100, .given = AT(show.logprobs_given)},
    {OUTPUT, 0, "--all", NULL, FLAG, "logits", AT(show.all),
     .help = "a line of logits for every id, not only the last (longrope: all as in one call of this length)"},
    {OUTPUT, 0, "--ids", NULL, FLAG, "tokenize", AT(show.want_ids), .help = "print ids on one line (the default)"},
    {OUTPUT, 0, "--pieces", NULL, FLAG, "tokenize", AT(show.pieces), .help = "print pieces, one a line"},
    {OUTPUT, 0, "--top-k", "K", INTEGER, "fill", AT(show.candidates), .help = "candidates for each mask (5)", 1, 1e6},
    {OUTPUT, 0, "--pooling", "HOW", STRING, "embed", AT(show.pooling),
     .help = "cls, mean (of all tokens), or pooler (the file's pooler, else mean)"},
    {OUTPUT, 0, "--normalize", NULL, FLAG, "embed", AT(show.normalize), .help = "vectors of length 1"},
    {OUTPUT, 0, "--csv", NULL, FLAG, "perplexity compare bench proof plan " PROBES " " SHOWS, AT(show.csv),
     .help = "print a table with commas"},
    {OUTPUT, 0, "--svg", "FILE", NEW_FILE, "perplexity", AT(show.svg),
     .help = "draw the loss by position into FILE (with --by-position)"},
    {OUTPUT, 0, "--svg", "FILE", NEW_FILE, "compare", AT(show.svg), .help = "draw the loss into FILE"},
    {OUTPUT, 0, "--svg", "FILE", NEW_FILE, "plan", AT(show.svg), .help = "draw the pairs' dials into FILE"},
    {OUTPUT, 0, "--svg", "FILE", NEW_FILE, "passkey", AT(show.svg),
     .help = "draw a heat map into FILE; of several methods into FILE-1, FILE-2 .."},
    {OUTPUT, 0, "--svg", "FILE", NEW_FILE, "recall", AT(show.svg), .help = "draw the gain by distance into FILE"},
    {OUTPUT, 0, "--svg", "FILE", NEW_FILE, SHOWS, AT(show.svg), .help = "draw the picture into FILE"},
    {OUTPUT, 0, "--svg", "FILE", NEW_FILE, "proof", AT(show.svg), .help = "draw the loss by position into FILE"},
    {OUTPUT, 0, "--json", NULL, FLAG, "generate logits score perplexity compare bench proof plan " PROBES,
     AT(show.json), .help = "print a JSON object"},
    {OUTPUT, 0, "--json", NULL, FLAG, ENCODERS, AT(show.json), .help = "print a JSON object a line"},
    {OUTPUT, 'q', "--quiet", NULL, FLAG, ALL, AT(show.quiet), .help = "no timings, no progress"},
    {OUTPUT, 'v', "--verbose", NULL, FLAG, ALL, AT(show.verbose), .help = "say what was opened"},
    {OUTPUT, 0, "--version", NULL, FLAG, ALL, AT(show.version), .help = "version and kernels"},
    {OUTPUT, 'h', "--help", NULL, FLAG, ALL, AT(show.help), .help = "this help"},

    {SAMPLING, 'n', "--steps", "N", INTEGER, "generate", AT(sampling.n),
     .help = "positions to read and write, prompt included (256); 0: to the context's end, which linear attention "
             "has not",
     0, 1e15, .alias = "--n-predict", .given = AT(sampling.n_given), .hint = "; 0 goes to the context's end"},
    {SAMPLING, 0, "--max-tokens", "N", INTEGER, "generate", AT(sampling.max_tokens), .help = "at most N new tokens", 0,
     1e15, .given = AT(sampling.max_given)},
    {SAMPLING, 0, "--max-tokens", "N", INTEGER, "chat", AT(sampling.max_tokens),
     .help = "tokens of an answer (up to its own end)", 0, 1e15, .given = AT(sampling.max_given)},
    {SAMPLING, 'n', "--steps", "N", INTEGER, "chat", AT(sampling.n), .help = "the same; 0: up to its own end", 0, 1e15,
     .alias = "--n-predict", .given = AT(sampling.n_given), .hint = "; 0 goes to the answer's own end"},
    {SAMPLING, 't', "--temperature", "T", NUMBER, WRITERS " explain", AT(sampling.temperature),
     .help = "0 is greedy (1.0)", 0, 1e6, .alias = "--temp"},
    {SAMPLING, 'p', "--top-p", "P", NUMBER, WRITERS " explain", AT(sampling.top_p),
     .help = "nucleus: 0 or 1 is off (0.9)", 0, 1, .hint = " (-p is top-p; the prompt is -i)"},
    {SAMPLING, 0, "--top-k", "K", INTEGER, WRITERS " explain", AT(sampling.top_k),
     .help = "only the K most probable; 0 is off (0)", 0, 1e9},
    {SAMPLING, 0, "--min-p", "P", NUMBER, WRITERS " explain", AT(sampling.min_p),
     .help = "only those P times as probable as the first; 0 is off (0)", 0, 1},
    {SAMPLING, 0, "--repetition-penalty", "R", NUMBER, WRITERS, AT(sampling.repetition),
     .help = "divide the logits of recent tokens; 1 is off (1)", 1e-6, 1e6, .alias = "--repeat-penalty"},
    {SAMPLING, 0, "--presence-penalty", "X", NUMBER, WRITERS, AT(sampling.presence),
     .help = "subtract once from recent tokens (0)", -1e6, 1e6},
    {SAMPLING, 0, "--frequency-penalty", "X", NUMBER, WRITERS, AT(sampling.frequency),
     .help = "subtract for each time a token is recent (0)", -1e6, 1e6},
    {SAMPLING, 0, "--penalty-window", "N", INTEGER, WRITERS, AT(sampling.penalty_window),
     .help = "how many tokens are recent (64)", 0, 1e9, .alias = "--repeat-last-n"},
    {SAMPLING, 's', "--seed", "S", INTEGER, WRITERS, AT(sampling.seed),
     .help = "same seed, same text; 0 is the time (0)", 0, 9.2e18, .given = AT(sampling.seed_given)},
    {SAMPLING, 0, "--stop", "TEXT", STRINGS, WRITERS, AT(sampling.stop),
     .help = "end before TEXT; may be given up to 16 times"},
    {SAMPLING, 0, "--ignore-eos", NULL, FLAG, WRITERS, AT(sampling.ignore_eos),
     .help = "go on after an end-of-text token"},

    {MEASURING, 0, "--contexts", "0,1024", STRING, "bench", AT(bench.contexts),
     .help = "decode after so many positions; none: not at all (0,1024,4096 .. as far as -c or the model goes)"},
    {MEASURING, 0, "--prompts", "128,512", STRING, "bench", AT(bench.prompts),
     .help = "read prompts of these lengths; none: not at all (128,512,2048)"},
    {MEASURING, 0, "--shift", "0,1000", STRING, "proof", AT(proof.shifts),
     .help = "read the text from these positions on, too (1000; with --angles up to 10485759)"},
    {MEASURING, 0, "--angles", "KIND", STRING, "proof", AT(proof.angles),
     .help = "angles there as other programs round them: f32, bf16, ggml, or double (double)"},
    {MEASURING, 0, "--runs", "N", INTEGER, "bench", AT(bench.runs),
     .help = "runs of each line (5, fewer where they take long)", 1, BENCH_MOST_RUNS},

    {MEASURING, 0, "--by-position", "BIN", OPEN_FLAG, "perplexity", AT(cut.bin),
     .help = "the loss by the number of ids before, in bins of so many positions (a sixteenth of the window)", 1, 1e15,
     .given = AT(cut.by_position)},
    {MEASURING, 0, "--stride", "N", INTEGER, "perplexity", AT(cut.stride),
     .help = "a window begins N ids behind the one before and scores what that did not (windows side by side)", 1,
     1e15},
    {MEASURING, 0, "--last", "K", INTEGER, "perplexity", AT(cut.last),
     .help = "score only the last K ids of each window; a last window that is not full is left out (all ids)", 1, 1e15},
    {MEASURING, 0, "--convention", "NAME", STRING, "perplexity", AT(cut.convention),
     .help = "cut and average as another program does, for its number; unless told otherwise llama.cpp has -c 512, "
             "hf-sliding --stride 512, yarn --stride 256 (stream):",
     .choice = convention_name},

    {MEASURING, 0, "--lengths", "256,512", STRING, "passkey", AT(compare.lengths),
     .help = "positions that prompts fill (1, 2 and 4 times the trained context)"},
    {MEASURING, 0, "--depths", "0,50,100", STRING, "passkey", AT(probe.depths),
     .help = "where the key stands, per cent of the filler (0,25,50,75,100)"},
    {MEASURING, 0, "--trials", "N", INTEGER, "passkey", AT(probe.trials), .help = "keys a cell (5)", 1, 10000},
    {MEASURING, 0, "--template", "FILE", STRING, "passkey", AT(probe.template_file),
     .help = "a prompt of your own: lines before:, filler:, needle: (with {key}), question: (the papers')"},
    {MEASURING, 0, "--distances", "64,1024", STRING, "recall", AT(probe.distances),
     .help = "from a span to its second reading (a quarter to 4 times the trained context)"},
    {MEASURING, 0, "--span", "N", INTEGER, "recall", AT(probe.span), .help = "tokens of a span (64)", 1, 100000},
    {MEASURING, 0, "--samples", "N", INTEGER, "recall", AT(probe.samples), .help = "spans, or texts (20)", 1, 100000},
    {MEASURING, 0, "--longppl", NULL, FLAG, "recall", AT(probe.longppl),
     .help = "the loss of tokens that need the far text, in texts of -c tokens (LongPPL, arXiv:2410.23771)"},
    {MEASURING, 0, "--short", "N", INTEGER, "recall", AT(probe.n_short),
     .help = "with --longppl: the context they are told from (4096, or half of -c)", 2, 1e9},
    {MEASURING, 's', "--seed", "S", INTEGER, PROBES, AT(sampling.seed), .help = "which keys, which spans (42)", 1,
     9.2e18, .given = AT(sampling.seed_given)},
    {MEASURING, 0, "--lengths", "256,512", STRING, "compare", AT(compare.lengths),
     .help = "positions that windows have (1, 2, 4, 8 and 16 times the trained context)"},
    {MEASURING, 0, "--score", "N", INTEGER, "compare", AT(compare.score),
     .help = "ids that are scored, in every cell the same (2048); by position: at most (all)", 1, 1e9,
     .given = AT(compare.score_given)},
    {MEASURING, 0, "--from", "I", INTEGER, "compare", AT(compare.from),
     .help = "the first of them, counted from 0 (the longest length less 1)", 0, 1e12, .given = AT(compare.from_given)},
    {MEASURING, 0, "--by-position", "BIN", OPEN_FLAG, "compare", AT(cut.bin),
     .help = "the loss by position in windows of the longest length, which follow each other from the text's first id "
             "on, in bins of so many (a 32nd of the window)",
     1, 1e15, .given = AT(cut.by_position)},
    {MEASURING, 0, "--entropy", NULL, FLAG, "compare", AT(compare.entropy),
     .help = "how widely attention spreads, too: the entropy of the scored queries' weights, mean of all layers and "
             "heads (slow); a figure of its own beside --svg FILE.svg: FILE-entropy.svg"},
    {MEASURING, 0, "--resume", "FILE", NEW_FILE, "compare", AT(compare.resume),
     .help = "write cells to FILE as they are done (CSV), and leave out those that it has"},
    {MEASURING, 0, "--jobs", NULL, FLAG, "compare", AT(compare.jobs),
     .help = "measure nothing: print each cell as a command, which writes it as CSV"},
    {MEASURING, 0, "--merge", NULL, FLAG, "compare", AT(compare.merge),
     .help = "measure nothing: join CSV files, or all *.csv of folders"},

    {MEASURING, 0, "--theta", "B,..", STRING, "rope", AT(lesson.thetas),
     .help = "base of the frequencies, without a model (10000); decay: a list (100,10000,1000000)"},
    {MEASURING, 0, "--dims", "D", INTEGER, "rope", AT(lesson.dims),
     .help = "entries of a head that turn, without a model (8; decay, wavelengths, axes: 128)", 2, 1024},
    {MEASURING, 0, "--positions", "N", INTEGER, "rope", AT(lesson.positions),
     .help = "how many (table 5, clock 6, relative 12, decay 257)", 1, 100000},
    {MEASURING, 0, "--pairing", "HOW", STRING, "rope", AT(lesson.pairing),
     .help = "rotate, matrix, relative: which entries make a pair: interleaved or half (the model's, or interleaved)"},
    {MEASURING, 0, "--kind", "NAME", STRING, "rope", AT(lesson.kind),
     .help = "axes: how positions are given (mrope):", .choice = axes_name},
    {MEASURING, 0, "--q", "1,0,..", STRING, "rope", AT(lesson.q), .help = "decay: a query (all ones)"},
    {MEASURING, 0, "--k", "1,0,..", STRING, "rope", AT(lesson.k), .help = "decay: a key (all ones)"},
    {MEASURING, 0, "--layer", "L", INTEGER, "explain", AT(explain.layer),
     .help = "this layer (all; where one is shown, 0)", 0, 1023},
    {MEASURING, 0, "--head", "H", INTEGER, "explain", AT(explain.head), .help = "this head (all; one: 0)", 0, 65535},
    {MEASURING, 0, "--query", "I", INTEGER, "explain", AT(explain.query),
     .help = "the token that looks, counted from 0 (the last)", 0, 1e9},
    {MEASURING, 0, "--key", "J", INTEGER, "explain", AT(explain.key),
     .help = "the token that is looked at (the one before)", 0, 1e9},
    {MEASURING, 0, "--shift", "K", INTEGER, "explain", AT(explain.shift), .help = "shift: how far (1000)", 0, 1e12},
    {MEASURING, 0, "--without-rope", "PARTS", OPEN_STRING, "explain", AT(explain.without),
     .help = "map: also without rotation, in layers L, heads L.H, pairs L.H.P, * for all of a kind (all)",
     .given = AT(explain.without_given)},

    {CONTEXT, 'c', "--context", "N", INTEGER, "plan", AT(context.n),
     .help = "the positions that are wanted (4 times the trained context)", 1, 1e15, .alias = "--ctx-size"},
    {CONTEXT, 'c', "--context", "N", INTEGER, "recall", AT(context.n),
     .help = "with --longppl: tokens of a text (4 times the trained context)", 16, 1e9, .alias = "--ctx-size"},
    {CONTEXT, 'c', "--context", "N", INTEGER, STRETCHED " " SHOWS, AT(context.n),
     .help = "positions to make room for; may go beyond the trained ones", 1, 1e15, .alias = "--ctx-size"},
    {CONTEXT, 0, "--kv", "TYPE", STRING, "compare " PROBES " logits score perplexity bench " WRITERS " " ENCODERS,
     AT(context.kv),
     .help = "what keys and values are kept as: f32, f16, q8_0 or auto: f16 for larger decoders of 16 bits or fewer "
             "a weight (auto; logits: f32)"},
    {CONTEXT, 0, "--shift", "keep=S", STRING, "generate", AT(context.shift),
     .help = "text without end: when the context is full, the older half of it leaves, but for the first S positions"},
    {CONTEXT, 0, "--save-state", "FILE", NEW_FILE, "generate logits", AT(context.save),
     .help = "keep what was read in FILE: the prompt need not be read again"},
    {CONTEXT, 0, "--load-state", "FILE", NEW_FILE, "generate logits", AT(context.load),
     .help = "go on from a saved state, with the --rope it was saved with; -i is then how the text goes on"},
    {CONTEXT, 0, "--save-state", "FILE", NEW_FILE, "chat", AT(context.save), .help = "/save FILE at the end"},
    {CONTEXT, 0, "--load-state", "FILE", NEW_FILE, "chat", AT(context.load), .help = "/load FILE at the beginning"},

    {ROPE, 0, "--rope", "SPEC", STRING, STRETCHED " " SHOWS, AT(rope.method),
     .help = "how RoPE is stretched (as the file says): NAME[:key=value..][+NAME..], --rope help for each one's keys, "
             "of:",
     .choice = rope_spec_name},
    {ROPE, 0, "--rope", "LIST", STRING, "plan", AT(rope.method), .help = ROPE_LIST_HELP, .choice = rope_spec_name},
    {ROPE, 0, "--rope", "LIST", STRING, "compare " PROBES, AT(compare.ropes), .help = ROPE_LIST_HELP,
     .choice = rope_spec_name},
    {ROPE, 0, "--rope-theta", "B", NUMBER, MODELS " " SHOWS, AT(rope.theta),
     .help = "base of the frequencies (the file's)", 1e-6, 1e30},
    {ROPE, 0, "--rope-factor", "S", NUMBER, STRETCHED " " SHOWS, AT(rope.factor),
     .help = "how many times longer than trained", 1, 1e9},
    {ROPE, 0, "--rope-original-context", "N", INTEGER, STRETCHED " " SHOWS, AT(rope.n_original),
     .help = "the length trained on (the file's)", 1, 1e15},
    {ROPE, 0, "--position-extend", "HOW", STRING, READERS, AT(rope.extend),
     .help = "learned positions: more than the table has, hierarchical[:alpha=.4] (none; a table of n becomes n^2)"},

    {ATTENTION, 0, "--attention", "KIND", STRING, READERS, AT(attention.kind),
     .help = "softmax or linear (the file's); linear: RoFormer eq. 19, memory does not grow"},
    {ATTENTION, 0, "--phi", "MAP", STRING, READERS, AT(attention.phi),
     .help = "linear attention's feature map (the file's, or elu+1):", .choice = phi_name},
    {ATTENTION, 0, "--phi-key", "MAP", STRING, READERS, AT(attention.phi_key),
     .help = "another one for keys, --phi being the queries' (the file's, or --phi's):", .choice = phi_name},
    {ATTENTION, 0, "--form", "FORM", STRING, READERS, AT(attention.form),
     .help = "where its rotation goes (the file's, or numerator; cosine forms take --phi identity only):",
     .choice = form_name},
    {ATTENTION, 0, "--epsilon", "E", NUMBER, READERS, AT(attention.epsilon),
     .help = "added to its denominators (the file's, or 1e-6)", 0, 0.999, .given = AT(attention.epsilon_given)},
    {ATTENTION, 0, "--favor-features", "R", INTEGER, READERS, AT(attention.favor_features),
     .help = "favor+: random features a head (the file's, or 128)", 2, 1024},
    {ATTENTION, 0, "--favor-seed", "S", INTEGER, READERS, AT(attention.favor_seed),
     .help = "favor+: which random features (the file's, or 1)", 0, 9e15, .given = AT(attention.favor_seed_given)},
    {ATTENTION, 0, "--chunk", "C", INTEGER, "logits perplexity bench " WRITERS, AT(attention.chunk),
     .help = "linear attention: read in chunks of C tokens, to compare; 0 is one by one (0)", 0, 4096,
     .silent = ENCODERS},

    {ROFORMER, 0, "--arch", "KIND", STRING, READERS, AT(roformer.arch),
     .help = "v1, v2 or gau-alpha (as the tensors say)"},
    {ROFORMER, 0, "--mask", "MASK", STRING, READERS, AT(roformer.mask),
     .help = "padding, causal or unilm (the file's)"},
    {ROFORMER, 0, "--pooler", "KIND", STRING, "embed classify", AT(roformer.pooler),
     .help = "tanh, linear or none (the file's)", .silent = "logits perplexity bench fill " WRITERS},

    {MACHINE, 'j', "--threads", "N", INTEGER, READERS, AT(machine.threads), .help = "threads (all processors)", 1,
     1024},
    {MACHINE, 0, "--kernels", "NAME", STRING, READERS, AT(machine.kernels),
     .help = "a row of the arithmetic (the fastest that runs here):", .choice = kernels_name},
    {MACHINE, 0, "--no-mmap", NULL, FLAG, READERS, AT(machine.no_mmap),
     .help = "copy F32, F16 and BF16 weights into large pages: a slower start, faster tokens (the file is mapped)"},
    {0},
};
