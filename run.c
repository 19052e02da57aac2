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
     .about = "Goes on from a prompt: of -i, of a file, or of a pipe; without one it begins a text of its own. The "
              "text is on stdout, everything else on stderr.\n",
     .examples =
         "  ./run                                      # a story from the compiled-in model\n"
         "  ./run -i \"Lily found a key\" -t 0.8 -s 42   # the same text each time\n"
         "  echo \"Lily found a key\" | ./run             # a pipe, or a file behind <, is the prompt\n"
         "  ./run model/tales-1m.gguf -i \"Once upon a time\" -n 200\n"
         "  ./run model.gguf --lines prompts.txt -t 0 | jq -r .text\n"
         "  ./run folder-from-hugging-face -f prompt.txt --max-tokens 100 --stop \"The end\"\n"
         "  ./run stories15M.bin -z tokenizer.bin -t 0\n",
     .run = run_generate},
    {"chat", "[MODEL] [options]", "talk with a model, turn by turn",
     .about = "Each message gets an answer, which is on stdout; the conversation is kept until /clear.\n"
              "At the prompt: keys are those of readline (arrows, Ctrl-A E K U W Y, Alt-B F), up and down go through "
              "what was said; Alt-Enter or a paste makes a message of several lines. A line that ends in \\ goes on "
              "in the next one; a line \"\"\" begins or ends a text of several lines; /help lists the commands "
              "(/retry /undo /clear /system /save /load /stats /quit). Ctrl-C stops an answer, drops a line that was "
              "begun and leaves at an empty one, as Ctrl-D does.\n",
     .examples =
         "  ./run chat llama-3.2-1b-instruct.gguf\n"
         "  ./run chat FOLDER -y \"Answer in one sentence.\" -t 0.7\n"
         "  ./run chat model.gguf --chat-template plain -c 8192   # a model that knows no template\n"
         "  ./run chat model.gguf < questions.txt                 # a line is a turn; answers are printed\n"
         "  ./run llama2-chat.bin -m chat -y \"Be brief.\"         # llama2.c's way to say it\n",
     .run = run_chat},
    {"logits", "[MODEL] [--ids 1,15,7 | -i TEXT | -f FILE] [--all]",
     "print what the model expects next, for comparing with other software",
     .about = "Reads ids or a text, and prints a number for each token of the vocabulary: the logits of what comes "
              "next, nine digits each.\n",
     .examples =
         "  ./run logits model.gguf --ids 1,403,407\n"
         "  ./run logits model.gguf -i \"Once upon a\"             # or from a pipe\n"
         "  ./run logits folder --ids 1,403,407 --all --json\n",
     .run = run_logits},
    {"score", "[MODEL] --text B [--prompt A]", "how probable a text is after a prompt: its log-probability",
     .about = "Prints the sum of the log-probabilities of the text's tokens, in nats, and their mean; of several "
              "texts a line each.\n",
     .examples =
         "  ./run score model.gguf --prompt \"The capital of France is\" --text \" Paris\"\n"
         "  ./run score model.gguf -i \"2 + 2 =\" --text \" 4\" --text \" 5\"     # which of them\n"
         "  ./run score model.gguf --text \"Once upon a time\" --logprobs 3 --json\n",
     .run = run_score},
    {"tokenize", "[MODEL|TOKENIZER] [TEXT | -f FILE]", "print the ids of a text (from stdin where none is given)",
     .about = "The ids are those that the model reads, with what its tokenizer puts before and after a text; "
              "--no-bos leaves that out.\n",
     .examples =
         "  ./run tokenize \"Hello world\"                # the compiled-in model's ids\n"
         "  ./run tokenize model.gguf \"Hello world\"\n"
         "  ./run tokenize tokenizer.model -f book.txt --no-bos\n"
         "  echo -n \"Hello\" | ./run tokenize tokenizer.bin --pieces\n",
     .run = run_tokenize, .takes_text = 1},
    {"perplexity", "[MODEL] [-f FILE] [--separator LINE]", "how well the model foresees a text",
     .about = "The text is read in windows of the context; printed are the mean loss of its tokens, in nats, and its "
              "exponential, the perplexity. lab/README.md says where windows begin and which tokens count.\n",
     .examples =
         "  ./run perplexity model.gguf -f book.txt             # or < book.txt\n"
         "  ./run perplexity model.gguf -f stories.txt --separator \"<|endoftext|>\" --json\n"
         "  ./run perplexity model.gguf -f book.txt -c 4096 --by-position --svg loss.svg\n"
         "  ./run perplexity model.gguf -f book.txt -c 4096 --stride 1024 --last 512\n"
         "  ./run perplexity model.gguf -f wiki.test.raw --convention llama.cpp  # llama-perplexity's number\n",
     .run = run_perplexity},
    {"compare", "[MODEL] -f FILE --rope LIST [options] | --merge FILE|DIR..",
     "the loss of a text under many ways to stretch RoPE, at many lengths",
     .about = "Every method at every length, on the same ids: --score of them, counted from where the longest length "
              "is available (its positions less one). A window is BOS and ids up to the length; of each its last "
              "quarter is scored, so an id has between three quarters of the length and all of it before it. A "
              "factor that a spec does not give is the length over the trained one, at least 1; of a method that "
              "the file has, it is the file's.\n",
     .examples =
         "  ./run compare model.gguf -f book.txt --rope none,linear,ntk,yarn,rerope:window=128 --svg loss.svg\n"
         "  ./run compare model.gguf -f book.txt --rope none,yarn+log-n --lengths 256,1024 --csv > loss.csv\n"
         "  ./run compare model.gguf -f book.txt --rope none,yarn --resume loss.csv   # go on after Ctrl-C\n"
         "  ./run compare model.gguf -f book.txt --rope none,yarn --by-position\n"
         "  ./run compare model.gguf -f book.txt --rope none,yarn --jobs | parallel -j 2 > all.csv\n"
         "  ./run compare --merge all.csv more/ --svg loss.svg\n",
     .run = run_compare, .takes_text = WORDS},
    {"passkey", "[MODEL] [--rope LIST] [options]", "is a number found again that stands in a long text?",
     .about = "A number is hidden in a long text of filler, at several depths, and the model is asked for it at the "
              "text's end; printed is how often it is right.\n",
     .examples =
         "  ./run passkey model.gguf --rope none,yarn,rerope --lengths 2048,4096,8192 --svg found.svg\n"
         "  ./run passkey model.gguf --depths 0,10,20,30,40,50,60,70,80,90,100 --trials 10 --csv\n"
         "  ./run passkey model.gguf --template mine.txt         # lines before: filler: needle: question:\n",
     .run = run_passkey},
    {"recall", "[MODEL] -f FILE [--rope LIST] [options]", "how much easier a span of text is the second time",
     .about = "A span of text is read, other text, and the span again; printed is how much smaller its loss is the "
              "second time, by the distance.\n",
     .examples =
         "  ./run recall model.gguf -f book.txt --rope none,yarn,rerope --svg recall.svg\n"
         "  ./run recall model.gguf -f book.txt --span 32 --distances 64,256,1024 --samples 50 --csv\n"
         "  ./run recall model.gguf -f book.txt --rope none,yarn,window --longppl -c 8192 --short 2048\n",
     .run = run_recall},
    {"plan", "[MODEL] [-c N]", "what this file's RoPE can do, and how to stretch it to N positions",
     .examples =
         "  ./run plan model.gguf -c 32768\n"
         "  ./run plan model.gguf -c 32768 --rope yarn,rerope:window=1024 --svg dials.svg\n",
     .run = run_plan},
    {"proof", "[MODEL] [--shift K] [--angles KIND]", "does the model see distances alone? a text from two places",
     .about = "Both ways to attend are shown where the model's layers can, the one it was not trained for as well: the "
              "proof does not need training.\n",
     .examples =
         "  ./run proof model.gguf --shift 1000,1000000\n"
         "  ./run proof model.gguf --rope yarn:factor=4+self-extend:group=8:window=64 --shift 1000,1003\n"
         "  ./run proof model.gguf --angles f32 --csv         # what llama2.c's rounding of angles costs\n",
     .run = run_proof},
    {"plot", "[NAME=]FILE.csv[,FILE.csv..] .. [options]", "draw columns of tables, as means of several runs",
     .about = "Tables are those of ./run train, compare, recall .. (--csv) or any other with names in its first "
              "line. Of several files means are drawn, with their standard error; behind @ stands which rows count.\n",
     .examples =
         "  ./run plot rope=rope-1.csv,rope-2.csv nope=nope-1.csv,nope-2.csv --bin 50 --svg loss.svg\n"
         "  ./run plot none=loss.csv@rope=none yarn=loss.csv@rope=yarn --x length --y nll --log-x\n",
     .run = run_plot, .takes_text = WORDS},
    {"rope", "WHAT [MODEL] [options]", "see rotary position embedding, from a model's own angles",
     .examples =
         "  ./run rope clock\n"
         "  ./run rope table model.gguf --positions 8\n"
         "  ./run rope rotate 1,0,0,1 5                        # a vector at position 5\n"
         "  ./run rope relative --dims 4 --q 1,0,0,1 --k 0,1,1,0\n"
         "  ./run rope axes \"text:3 image:2x3 text:2\" --kind tie-v2\n",
     .run = run_rope, .takes_text = WORDS, .topics = rope_topics},
    {"explain", "[MODEL] TEXT WHAT [options]", "what happened in attention while a text was read",
     .examples =
         "  ./run explain \"Tom had a dog. The dog\" map         # in the compiled-in model\n"
         "  ./run explain model/tales-1m.gguf \"Tom had a dog. The dog\" map --layer 4 --head 0\n"
         "  ./run explain \"Tom had a red ball.\" turn --query 4 --key 2\n"
         "  ./run explain \"Tom had a red ball.\" score --shift 100 # moved by 100 positions: the same\n"
         "  ./run explain \"Tom had a red ball.\" next -t 0.8 --top-p 0.9\n",
     .run = run_explain, .takes_text = WORDS, .topics = explain_topics},
    {"fill", "MODEL [TEXT | -f FILE]", "what stands at each [MASK]; a line is a text",
     .about = "Each [MASK] of a line gets the most probable token, and the candidates are printed below.\n",
     .examples =
         "  ./run fill model/words-1m.gguf \"The [MASK] was shining in the sky.\"\n"
         "  ./run fill chinese_roformer.gguf \"今天[MASK]很好，我[MASK]去公园玩。\"\n"
         "  ./run fill folder --jieba dict.txt --top-k 10 --json < texts\n",
     .run = run_fill, .takes_text = 1},
    {"embed", "[MODEL] [TEXT | -f FILE]", "a vector for each line",
     .about = "Each line is a text, and its vector a line of numbers. What is pooled, and what stands in front of a "
              "text, is what the model's files say.\n",
     .examples =
         "  ./run embed embeddinggemma-300m/ --task query \"which planet is red?\"\n"
         "  ./run embed nomic-embed-text-v1.5/ --task document --dimensions 256 < passages > vectors\n"
         "  ./run embed roformer-sim.gguf --normalize < sentences > vectors\n"
         "  printf '今天天气好\\t今天天气不错\\n' | ./run embed roformer-sim.gguf --pair\n",
     .run = run_embed, .takes_text = 1},
    {"rank", "[MODEL] QUERY [-f FILE]", "lines by how well they answer a question",
     .about = "Prints the lines, best first, each behind its score.\n",
     .examples =
         "  ./run rank gte-multilingual-reranker-base/ \"which planet is red?\" < passages\n"
         "  ./run rank nomic-embed-text-v1.5/ \"which planet is red?\" -f passages --top-k 3\n",
     .run = run_rank, .takes_text = 1},
    {"classify", "MODEL [TEXT | -f FILE]", "the labels of each line, or of each of its tokens",
     .examples =
         "  ./run classify folder \"这部电影很好看\"\n"
         "  ./run classify folder --json < reviews\n",
     .run = run_classify, .takes_text = 1},
    {"convert", "IN OUT.gguf|OUT.safetensors [options] | --list IN", "any model or checkpoint to GGUF or safetensors",
     .about = "To GGUF, tokenizer included: a RoFormer, or a decoder of Hugging Face that ./run knows, from "
              "safetensors, a PyTorch file (.bin, .pt, .pth; zip or legacy; nothing in it is ever run) or a "
              "TensorFlow V2 checkpoint (its prefix or its .index file), or a folder with one of these; a LLaMA as "
              "Meta and a Mistral as Mistral publish it (params.json, consolidated.00.pth or .safetensors); llama2.c's "
              ".bin, and its training's ckpt.pt; GGUF (the parts of a split file become one). To safetensors: any "
              "checkpoint of PyTorch's, no GGUF; config.json and the tokenizer's files are put beside it. OUT appears "
              "whole or not at all.\n",
     .examples =
         "  ./run convert TinyLlama-1.1B/ tinyllama.gguf --type f16\n"
         "  ./run convert stories15M.bin stories15M.gguf -z tokenizer.bin\n"
         "  ./run convert llama-2-7b/ llama.gguf -z tokenizer.model\n"
         "  ./run convert roformer_chinese_base/ roformer.gguf --type f16\n"
         "  ./run convert chinese_roformer_L-12_H-768_A-12/bert_model.ckpt roformer.gguf\n"
         "  ./run convert chinese_roformer-sim-char_L-12_H-768_A-12/ sim.gguf --pooler linear\n"
         "  ./run convert pytorch_model.bin hf/model.safetensors\n",
     .run = run_convert, .takes_text = WORDS},
    {"quantize", "IN OUT.gguf TYPE [options]", "a model with fewer bits a weight",
     .about = "  TYPE           bits a weight   mean error (of a Gaussian's sigma)\n"
              "  F32 F16 BF16   32, 16, 16\n"
              "  Q8_0            8.5            0.5 %\n"
              "  Q6_K            6.6            1.8 %\n"
              "  Q5_K_M Q5_K_S   5.5            3.6 %\n"
              "  Q5_1            6.0            3.8 %\n"
              "  Q5_0            5.5            4.3 %\n"
              "  Q4_K_M Q4_K_S   4.5            7.1 %\n"
              "  IQ4_NL          4.5            7.4 %\n"
              "  IQ4_XS          4.25           7.5 %\n"
              "  Q4_1            5.0            7.8 %\n"
              "  Q4_0            4.5            8.6 %\n"
              "  Q3_K_L Q3_K_M   3.4           14.5 %\n"
              "  Q3_K_S          3.4           14.5 %\n"
              "  Q2_K            2.6           27 %\n"
              "These are of most matrices. Where errors cost most a file has more bits: the output is Q6_K in all "
              "types from Q6_K down, and so are attn_v and ffn_down of half of the layers in Q5_K_M and Q4_K_M; of "
              "Q3_K_M, Q3_K_L and Q2_K these and attn_output are larger, too.\n"
              "IN is whatever ./run opens or ./run convert reads. The mixture of types is llama.cpp's; tensors whose "
              "rows are no whole blocks of their type get another one, and a line says so. OUT.gguf appears whole or "
              "not at all.\n",
     .examples =
         "  ./run quantize tinyllama-f16.gguf tinyllama-q4.gguf Q4_K_M\n"
         "  ./run quantize TinyLlama-1.1B/ tinyllama-q8.gguf Q8_0 -j 4\n"
         "  ./run quantize stories15M.bin stories15M-q8.gguf Q8_0 -z tokenizer.bin\n",
     .run = run_quantize, .takes_text = WORDS, .word = quantize_type},
    {"inspect", "FILE [options]", "what a file of weights holds",
     .about = "The model's sizes, rope and attention, the tokenizer, types, and each tensor. FILE is whatever ./run "
              "opens, or a checkpoint that ./run convert reads. Shapes are [out, in], as PyTorch counts.\n",
     .examples =
         "  ./run inspect model.gguf\n"
         "  ./run inspect TinyLlama-1.1B/ --summary\n"
         "  ./run inspect model.gguf --json | jq '.types'\n"
         "  ./run inspect converted-by-hand.gguf --check-layout\n",
     .run = run_inspect, .takes_text = WORDS},
    {"train", "OUT.gguf --text FILE [options]", "a small model from a text of yours",
     .about = "Trains a decoder, or a RoFormer, on a text, on this machine's processor, to a GGUF file that ./run "
              "opens. What it is doing is kept in OUT.checkpoint.gguf, which ./run opens, too; Ctrl-C saves and "
              "stops (exit code 130), --resume goes on. The same options give the same bits, whatever the threads "
              "and however often it was stopped.\n",
     .examples =
         "  ./run train mine.gguf --text diary.txt --steps 400\n"
         "  ./run mine.gguf -i \"Today\"\n"
         "  ./run train stories.gguf --text stories.txt -z tok1024.model --steps 2000 --csv loss.csv\n"
         "  ./run train stories.gguf --text stories.txt -z tok1024.model --steps 2000 --csv loss.csv --resume\n",
     .run_own = run_train, .takes_text = WORDS},
    {"bench", "[MODEL] [options]", "how fast the model is here, beside what this machine can do at most",
     .about = "What the columns say:\n"
              "  tok/s    the median of the runs, and the slowest and the fastest\n"
              "  MB/tok   bytes of matrices, keys and values that a token reads; a\n"
              "           prompt reads all once, so a token reads its part\n"
              "  GB/s     that times tok/s\n"
              "  Gop/s    multiplications and additions: two for each weight, and\n"
              "           attention's own; a prompt's output only for its last token\n"
              "  limit    tok/s with memory at its best rate and arithmetic at its\n"
              "           peak, as measured between the runs, whichever takes longer\n"
              "  share    tok/s of limit\n"
              "  load     from opening the file, which has been read before, to the\n"
              "           logits after a token; without the tokenizer\n"
              "  time     how long so many tokens at once take, one token at 0 being 1:\n"
              "           what --draft pays for guesses, and several texts at once\n",
     .examples =
         "  ./run bench                                # the compiled-in model\n"
         "  ./run bench model.gguf -j 2\n"
         "  ./run bench model.gguf -c 16384 --prompts 512 --json\n"
         "  ./run bench model.gguf --contexts 0 --prompts none --at-once 2,4,8\n"
         "  ./run bench model.gguf --contexts 0 --prompts none --runs 9 --csv > speed.csv\n",
     .run = run_bench},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static int help(const Command *cmd) {
    printf("roformer.c %s: runs LLaMA-family and RoFormer models\n\n", VERSION);
    help_print(commands, N_COMMANDS, cmd);
    return out_end(EXIT_DONE);
}

/* ---- the first word ---- */

static const char *command_at(int i) { return i < N_COMMANDS ? commands[i].name : NULL; }

const Command *command_named(const char *word) {
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
    const Command *cmd = n ? command_named(words[0]) : &commands[0];
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
    hear_interrupts((int)SA_RESETHAND); /* a second Ctrl-C ends at once */
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
    const Command *cmd = argc ? command_named(file_name(argv[0])) : NULL;
    *first = 1;
    if (cmd) return cmd;
    if (argc && !strchr(argv[0], '%')) called = argv[0];
    cmd = argc > 1 ? command_named(argv[1]) : NULL;
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
    if (cmd->run_own) {
        int code = cmd->run_own(argc - first + 1, argv + first - 1);
        confine_end();
        return code == HELP_ASKED ? help(cmd) : code;
    }
    Args a = {.in.parallel = 8,
              .sampling = {.temperature = 1.0, .top_p = 0.9, .repetition = 1, .penalty_window = 64,
                           .dry_base = 1.75, .dry_allowed = 2, .dry_last = -1, .xtc_threshold = 0.1,
                           .draft_most = 8},
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
    code = confine(&a, cmd);
    if (code == 0) code = svg_check(&a);
    if (code == 0) code = cmd->run(&a);
    confine_end();
    return code;
}
