/* run.c - the program: main, its signals and the table of its commands. With cli/, where the commands are, it is the
 * only file that reads argv, prints and exits. stdout is the text, everything else goes to stderr. */
#include "cli/cli.h"
#include "base/system.h"
#include "base/base.h"
#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION "unknown"
#endif

static const Command commands[] = {
    {"generate", "[MODEL] [options]", "write text; the default command",
     "  ./run                                        a story from the compiled-in model\n"
     "  ./run -i \"Lily found a key\" -t 0.8 -s 42     the same text each time\n"
     "  echo \"Lily found a key\" | ./run               a pipe, or a file behind <, is the prompt\n"
     "  ./run model/tales-1m.gguf -i \"Once upon a time\" -n 200\n"
     "  ./run model.gguf --lines prompts.txt -t 0 | jq -r .text\n"
     "  ./run folder-from-hugging-face -f prompt.txt --max-tokens 100 --stop \"The end\"\n"
     "  ./run stories15M.bin -z tokenizer.bin -t 0\n",
     run_generate, 0, NULL, NULL},
    {"chat", "[MODEL] [options]", "talk with a model, turn by turn",
     "  ./run chat llama-3.2-1b-instruct.gguf\n"
     "  ./run chat FOLDER -y \"Answer in one sentence.\" -t 0.7\n"
     "  ./run chat model.gguf --chat-template plain -c 8192     a model that knows no template\n"
     "  ./run chat model.gguf < questions.txt                   a line is a turn; answers are printed\n"
     "  ./run llama2-chat.bin -m chat -y \"Be brief.\"           llama2.c's way to say it\n"
     "\nAt the prompt: keys are those of readline (arrows, Ctrl-A E K U W Y, Alt-B F), up and down go\n"
     "through what was said; Alt-Enter or a paste makes a message of several lines. A line that ends in \\\n"
     "goes on in the next one; a line \"\"\" begins or ends a text of several lines; /help lists the\n"
     "commands (/retry /undo /clear /system /save /load /stats /quit). Ctrl-C stops an answer, drops a line\n"
     "that was begun and leaves at an empty one, as Ctrl-D does.\n",
     run_chat, 0, NULL, NULL},
    {"logits", "[MODEL] [--ids 1,15,7 | -i TEXT | -f FILE] [--all]",
     "print what the model expects next, for comparing with other software",
     "  ./run logits model.gguf --ids 1,403,407\n"
     "  ./run logits model.gguf -i \"Once upon a\"               or from a pipe\n"
     "  ./run logits folder --ids 1,403,407 --all --json\n",
     run_logits, 0, NULL, NULL},
    {"score", "[MODEL] --text B [--prompt A]", "how probable a text is after a prompt: its log-probability",
     "  ./run score model.gguf --prompt \"The capital of France is\" --text \" Paris\"\n"
     "  ./run score model.gguf -i \"2 + 2 =\" --text \" 4\" --text \" 5\"       which of them\n"
     "  ./run score model.gguf --text \"Once upon a time\" --logprobs 3 --json\n",
     run_score, 0, NULL, NULL},
    {"tokenize", "[MODEL|TOKENIZER] [TEXT | -f FILE]", "print the ids of a text (from stdin where none is given)",
     "  ./run tokenize \"Hello world\"                  the compiled-in model's ids\n"
     "  ./run tokenize model.gguf \"Hello world\"\n"
     "  ./run tokenize tokenizer.model -f book.txt --no-bos\n"
     "  echo -n \"Hello\" | ./run tokenize tokenizer.bin --pieces\n",
     run_tokenize, 1, NULL, NULL},
    {"perplexity", "[MODEL] [-f FILE] [--separator LINE]", "how well the model foresees a text",
     "  ./run perplexity model.gguf -f book.txt               or < book.txt\n"
     "  ./run perplexity model.gguf -f stories.txt --separator \"<|endoftext|>\" --json\n"
     "  ./run perplexity model.gguf -f book.txt -c 4096 --by-position --svg loss.svg\n"
     "  ./run perplexity model.gguf -f book.txt -c 4096 --stride 1024 --last 512\n"
     "  ./run perplexity model.gguf -f wiki.test.raw --convention llama.cpp    llama-perplexity's number\n",
     run_perplexity, 0, NULL, NULL},
    {"compare", "[MODEL] -f FILE --rope LIST [options] | --merge FILE|DIR..",
     "the loss of a text under many ways to stretch RoPE, at many lengths",
     "  ./run compare model.gguf -f book.txt --rope none,linear,ntk,yarn,rerope:window=128 --svg loss.svg\n"
     "  ./run compare model.gguf -f book.txt --rope none,yarn+log-n --lengths 256,1024,4096 --csv > loss.csv\n"
     "  ./run compare model.gguf -f book.txt --rope none,yarn --resume loss.csv     go on after Ctrl-C\n"
     "  ./run compare model.gguf -f book.txt --rope none,yarn --by-position\n"
     "  ./run compare model.gguf -f book.txt --rope none,yarn --jobs | parallel -j 2 > all.csv\n"
     "  ./run compare --merge all.csv more/ --svg loss.svg\n"
     "\nEvery method at every length, on the same ids: --score of them, counted from where the longest\n"
     "length is available (its positions less one). A window is BOS and ids up to the length; of each its\n"
     "last quarter is scored, so an id has between three quarters of the length and all of it before it.\n"
     "A factor that a spec does not give is the length over the trained one, at least 1.\n",
     run_compare, WORDS, NULL, NULL},
    {"passkey", "[MODEL] [--rope LIST] [options]", "is a number found again that stands in a long text?",
     "  ./run passkey model.gguf --rope none,yarn,rerope --lengths 2048,4096,8192 --svg found.svg\n"
     "  ./run passkey model.gguf --depths 0,10,20,30,40,50,60,70,80,90,100 --trials 10 --csv\n"
     "  ./run passkey model.gguf --template mine.txt           lines before: filler: needle: question:\n",
     run_passkey, 0, NULL, NULL},
    {"recall", "[MODEL] -f FILE [--rope LIST] [options]", "how much easier a span of text is the second time",
     "  ./run recall model.gguf -f book.txt --rope none,yarn,rerope --svg recall.svg\n"
     "  ./run recall model.gguf -f book.txt --span 32 --distances 64,256,1024 --samples 50 --csv\n"
     "  ./run recall model.gguf -f book.txt --rope none,yarn,window --longppl -c 8192 --short 2048\n",
     run_recall, 0, NULL, NULL},
    {"plan", "[MODEL] [-c N]", "what this file's RoPE can do, and how to stretch it to N positions",
     "  ./run plan model.gguf -c 32768\n"
     "  ./run plan model.gguf -c 32768 --rope yarn,rerope:window=1024 --svg dials.svg\n",
     run_plan, 0, NULL, NULL},
    {"proof", "[MODEL] [--shift K] [--angles KIND]", "does the model see distances alone? a text from two places",
     "  ./run proof model.gguf --shift 1000,1000000\n"
     "  ./run proof model.gguf --rope yarn:factor=4+self-extend:group=8:window=64 --shift 1000,1003\n"
     "  ./run proof model.gguf --angles f32 --csv           what llama2.c's rounding of angles costs\n"
     "\nBoth ways to attend are shown, the one the model was not trained for as well: the proof does not\n"
     "need training.\n",
     run_proof, 0, NULL, NULL},
    {"plot", "[NAME=]FILE.csv[,FILE.csv..] .. [options]", "draw columns of tables, as means of several runs",
     "  ./run plot rope=rope-1.csv,rope-2.csv nope=nope-1.csv,nope-2.csv --bin 50 --svg loss.svg\n"
     "  ./run plot none=loss.csv@rope=none yarn=loss.csv@rope=yarn --x length --y nll --log-x\n"
     "\nTables are those of ./run train, compare, recall .. (--csv) or any other with names in its\n"
     "first line. Of several files means are drawn, with their standard error; behind @ stands which rows\n"
     "count.\n",
     run_plot, WORDS, NULL, NULL},
    {"rope", "WHAT [MODEL] [options]", "see rotary position embedding, from a model's own angles",
     "  ./run rope clock\n"
     "  ./run rope table model.gguf --positions 8\n",
     run_rope, WORDS, rope_topics, NULL},
    {"explain", "[MODEL] TEXT WHAT [options]", "what happened in attention while a text was read",
     "  ./run explain \"Tom had a dog. The dog\" map           in the compiled-in model\n"
     "  ./run explain model/tales-1m.gguf \"Tom had a dog. The dog\" map\n",
     run_explain, WORDS, explain_topics, NULL},
    {"fill", "[MODEL] [TEXT | -f FILE]", "what stands at each [MASK]; a line is a text",
     "  ./run fill model/words-1m.gguf \"The [MASK] was shining in the sky.\"\n"
     "  ./run fill chinese_roformer.gguf \"今天[MASK]很好，我[MASK]去公园玩。\"\n"
     "  ./run fill folder --jieba dict.txt --top-k 10 --json < texts\n",
     run_fill, 1, NULL, NULL},
    {"embed", "[MODEL] [TEXT | -f FILE]", "a vector for each line",
     "  ./run embed embeddinggemma-300m/ --task query \"which planet is red?\"\n"
     "  ./run embed nomic-embed-text-v1.5/ --task document --dimensions 256 < passages > vectors\n"
     "  ./run embed roformer-sim.gguf --normalize < sentences > vectors\n"
     "  printf '今天天气好\\t今天天气不错\\n' | ./run embed roformer-sim.gguf --pair\n",
     run_embed, 1, NULL, NULL},
    {"rank", "[MODEL] QUERY [-f FILE]", "lines by how well they answer a question",
     "  ./run rank gte-multilingual-reranker-base/ \"which planet is red?\" < passages\n"
     "  ./run rank nomic-embed-text-v1.5/ \"which planet is red?\" -f passages --top-k 3\n",
     run_rank, 1, NULL, NULL},
    {"classify", "[MODEL] [TEXT | -f FILE]", "the labels of each line, or of each of its tokens",
     "  ./run classify folder \"这部电影很好看\"\n"
     "  ./run classify folder --json < reviews\n",
     run_classify, 1, NULL, NULL},
    {"convert", "IN OUT.gguf|OUT.safetensors [options] | --list IN", "any model or checkpoint to GGUF or safetensors",
     "  ./run convert TinyLlama-1.1B/ tinyllama.gguf --type f16\n"
     "  ./run convert stories15M.bin stories15M.gguf -z tokenizer.bin\n"
     "  ./run convert roformer_chinese_base/ roformer.gguf --type f16\n"
     "  ./run convert chinese_roformer_L-12_H-768_A-12/bert_model.ckpt roformer.gguf\n"
     "  ./run convert chinese_roformer-sim-char_L-12_H-768_A-12/ sim.gguf --pooler linear\n"
     "  ./run convert pytorch_model.bin hf/model.safetensors\n"
     "\nTo GGUF, tokenizer included: a RoFormer, or a decoder of Hugging Face that ./run knows, from safetensors,\n"
     "a PyTorch file (.bin, .pt, .pth; zip or legacy; nothing in it is ever run) or a TensorFlow V2 checkpoint\n"
     "(its prefix or its .index file), or a folder with one of these; llama2.c's .bin; GGUF (the parts of a\n"
     "split file become one). To safetensors: any checkpoint of PyTorch's, no GGUF; config.json and the tokenizer's\n"
     "files are put beside it. OUT appears whole or not at all.\n",
     run_convert, WORDS, NULL, NULL},
    {"quantize", "IN OUT.gguf TYPE [options]", "a model with fewer bits a weight",
     "  ./run quantize tinyllama-f16.gguf tinyllama-q4.gguf Q4_K_M\n"
     "  ./run quantize TinyLlama-1.1B/ tinyllama-q8.gguf Q8_0 -j 4\n"
     "  ./run quantize stories15M.bin stories15M-q8.gguf Q8_0 -z tokenizer.bin\n"
     "\n  TYPE            bits a weight, mean error of a weight (of a Gaussian's sigma)\n"
     "  F32  F16  BF16  32, 16, 16\n"
     "  Q8_0            8.5      0.5 %\n"
     "  Q6_K            6.6      1.8 %\n"
     "  Q5_K_M          5.5      3.6 %   attn_v and ffn_down of half of the layers, and the output, in Q6_K\n"
     "  Q4_K_M          4.5      7.1 %   the same\n"
     "  Q4_0            4.5      8.6 %   the output in Q6_K\n"
     "\nIN is whatever ./run opens or ./run convert reads. The mixture of types is llama.cpp's; tensors whose\n"
     "rows are no whole blocks of their type get another one, and a line says so. OUT.gguf appears whole or\n"
     "not at all.\n",
     run_quantize, WORDS, NULL, NULL},
    {"inspect", "FILE [options]", "what a file of weights holds",
     "  ./run inspect model.gguf\n"
     "  ./run inspect TinyLlama-1.1B/ --summary\n"
     "  ./run inspect model.gguf --json | jq '.types'\n"
     "  ./run inspect converted-by-hand.gguf --check-layout\n"
     "\nThe model's sizes, rope and attention, the tokenizer, types, and each tensor. FILE is whatever ./run\n"
     "opens, or a checkpoint that ./run convert reads. Shapes are [out, in], as PyTorch counts.\n",
     run_inspect, WORDS, NULL, NULL},
    {"train", "OUT.gguf --text FILE [options]", "a small model from a text of yours",
     "  ./run train mine.gguf --text diary.txt --steps 400\n", NULL, WORDS, NULL, run_train},
    {"bench", "[MODEL] [options]", "how fast the model is here, beside what this machine can do at most",
     "  ./run bench                                  the compiled-in model\n"
     "  ./run bench model.gguf -j 2\n"
     "  ./run bench model.gguf -c 16384 --prompts 512 --json\n"
     "  ./run bench model.gguf --contexts 0 --prompts none --runs 9 --csv > speed.csv\n"
     "\nWhat the columns say:\n"
     "  tok/s    the median of the runs, and the slowest and the fastest\n"
     "  MB/tok   bytes of matrices, keys and values that a token reads; a prompt reads all once, so a\n"
     "           token reads its part\n"
     "  GB/s     that times tok/s\n"
     "  Gop/s    multiplications and additions: two for each weight, and attention's own; a prompt's\n"
     "           output only for its last token\n"
     "  limit    tok/s with memory at its best rate and arithmetic at its peak, as measured between the\n"
     "           runs, whichever takes longer\n"
     "  share    tok/s of limit\n"
     "  load     from opening the file, which has been read before, to the logits after a token; without\n"
     "           the tokenizer\n",
     run_bench, 0, NULL, NULL},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static int help(const Command *cmd) {
    int usual = cmd == &commands[0], most = cmd->takes_text; /* usual: it needs no name */
    if (cmd->run_own) return cmd->run_own(2, (char *[]){"train", "--help", NULL});
    printf("roformer.c %s: runs LLaMA-family and RoFormer models\n\nusage: %s %s%s%s\n", VERSION, called,
           usual ? "" : cmd->name, usual ? "" : " ", cmd->usage);
    if (strstr(cmd->usage, "MODEL"))
        printf("MODEL is a GGUF file, a Hugging Face folder (config.json + safetensors) or a llama2.c .bin file;\n"
               "--help models lists the models that run.%s%s\n",
               strstr(cmd->usage, "[MODEL") ? " Without one, the model in the program is taken" : "",
               strstr(cmd->usage, "[MODEL") == NULL ? ""
               : most == 1 ? ": a first word\nthat is a file or folder, holds a / or ends in .gguf or .bin is MODEL, "
                             "any other the text."
                           : ".");
    if (usual) {
        printf("\ncommands (%s COMMAND --help):\n", called);
        for (int i = 0; i < N_COMMANDS; i++) printf("  %-12s %s\n", commands[i].name, commands[i].summary);
    }
    if (cmd->topics) printf("\nWHAT:\n"), topics_print(cmd->topics);
    options_print(cmd);
    printf("\nexamples:\n");
    out_own(cmd->examples);
    return out_end(EXIT_DONE);
}

/* ---- the first word ---- */

static const char *command_at(int i) { return i < N_COMMANDS ? commands[i].name : NULL; }

static const Command *find_command(const char *word) {
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(word, commands[i].name) == 0) return &commands[i];
    return NULL;
}

/* help [COMMAND]; what make install asks: help --man [COMMAND], --completions SHELL */
static int help_of(int n, char **words) {
    int man = n && strcmp(words[0], "--man") == 0;
    if (n == 2 && strcmp(words[0], "--completions") == 0) {
        int code = manual_completions(commands, N_COMMANDS, words[1]);
        return code ? code : out_end(EXIT_DONE);
    }
    n -= man, words += man;
    const Command *cmd = n ? find_command(words[0]) : &commands[0];
    if (man && n <= 1 && (cmd || n == 0)) {
        manual_page(commands, N_COMMANDS, n ? cmd : NULL);
        return out_end(EXIT_DONE);
    }
    if (n > 1) return usage("help takes one command, not %d words", n);
    if (cmd) return help(cmd);
    if (strcmp(words[0], "models") == 0) return models_print(), out_end(EXIT_DONE);
    const char *meant = nearest_word(words[0], command_at);
    return meant ? usage("there is no command %s (did you mean %s?)", words[0], meant)
                 : usage("there is no command %s", words[0]);
}

/* A word that is no command is a model: a file or folder, or what could be one. EXIT_DONE, or after saying that it is
 * none EXIT_USAGE. */
static int check_model_word(const char *word) {
    const char *meant = nearest_word(word, command_at);
    if (word[0] == '-' || is_model_word(word)) return EXIT_DONE;
    if (meant) return usage("there is no command and no model %s (did you mean %s?)", word, meant);
    if (!*word) return usage("the first word is empty");
    if (strchr(word, ' ')) return usage("\"%.60s\" is no model: a text to go on from stands behind -i", word);
    return usage("there is no command and no model %s; a text to go on from stands behind -i, in quotes", word);
}

/* A mapped file that another program shortens raises SIGBUS where it is read next. */
static void on_bus_error(int sig) {
    static const char line[] = ": a file became shorter while it was being read\n";
    (void)sig;
    if (unfinished) unlink(unfinished);
    const char *name = file_name(called);
    ssize_t ignored = write(2, name, strlen(name));
    ignored = write(2, line, sizeof line - 1);
    (void)ignored;
    _exit(EXIT_FAILED);
}

static void install_signals(void) {
    hear_interrupts(SA_RESETHAND); /* a second Ctrl-C ends at once */
    signal_catch(SIGBUS, on_bus_error, 0);
    signal_catch(SIGPIPE, SIG_IGN, 0);
    signal_catch(SIGXFSZ, SIG_IGN, 0); /* a file that grows beyond its limit is a failed write */
}

static int print_version(void) {
    printf("roformer.c %s\nkernels:", VERSION);
    print_kernels();
    putchar('\n');
    return out_end(EXIT_DONE);
}

/* The command that the program is called by (weights-tools/convert), or that its first word is; *first: what is behind
 * it. */
static const Command *first_command(int argc, char **argv, int *first) {
    const Command *cmd = argc ? find_command(file_name(argv[0])) : NULL;
    *first = 1;
    if (cmd) return cmd;
    if (argc && !strchr(argv[0], '%')) called = argv[0];
    cmd = argc > 1 ? find_command(argv[1]) : NULL;
    *first += cmd != NULL;
    return cmd;
}

int main(int argc, char **argv) {
    started = clock_seconds();
    out.terminal = isatty(1);
    install_signals();
    int first;
    const Command *cmd = first_command(argc, argv, &first);
    if (cmd) command_name = cmd->name;
    else if (argc > 1 && strcmp(argv[1], "help") == 0) return help_of(argc - 2, argv + 2);
    else if (argc > 1 && check_model_word(argv[1])) return EXIT_USAGE;
    else cmd = &commands[0];
    if (cmd->run_own) return cmd->run_own(argc - first + 1, argv + first - 1);
    Args a = {.sampling = {.temperature = 1.0, .top_p = 0.9, .repetition = 1, .penalty_window = 64,
                           .dry_base = 1.75, .dry_allowed = 2, .dry_last = -1, .xtc_threshold = 0.1},
              .show.candidates = 5, .explain = {.layer = -1, .head = -1, .query = -1, .key = -1, .shift = -1}};
    a.program = argv[0];
    int code = options_parse(&a, argc - first, argv + first, cmd);
    if (code) return code;
    quiet = a.show.quiet;
    if (a.show.json && a.show.csv) return usage("--json and --csv are both given; one is enough");
    if (a.show.help && a.model && strcmp(a.model, "models") == 0) return models_print(), out_end(EXIT_DONE);
    if (a.show.help) return help(cmd);
    if (a.show.version) return print_version();
    if (options_ask_for_specs(&a)) return print_specs(), out_end(EXIT_DONE);
    if (!a.sampling.seed_given || a.sampling.seed == 0)
        a.sampling.seed = (long long)(((uint64_t)time(NULL) * 1000003u + (uint64_t)getpid()) & 0x7fffffff) | 1;
    return cmd->run(&a);
}
