"""What llama.cpp's converter makes of a folder, and where each number of its file comes from; for architectures.py.

The converter runs as it is, without its vocabularies. Where a number comes from is not read in its code but found out:
the folder is converted once more holding tags, a number of its own for every weight, and the tags are read back.
LLAMA_CPP is a checkout of llama.cpp; its own gguf package is used, which knows the architectures of its day.

A line of a map: GGUF_NAME - COUNT COLUMNS HOW .., where HOW is
    values v v ..     numbers that come from the config
    cast AS PIECES    a matrix, which files of another type hold in that type
    keep AS PIECES    always F32
    mxfp4 as PIECES   blocks of 32; the pieces count blocks of a tensor .._scales, whose codes stand in .._blocks
AS is as, plus1 (the number and 1) or negexp (minus e to the number); a piece is NAME START LOOPS COUNT STRIDE .., the
outermost loop first: numbers of Hugging Face's tensor NAME in the order of these loops.
"""
import json, os, pathlib, sys
import numpy as np, safetensors.numpy

LLAMA_CPP = os.environ.get("LLAMA_CPP", "")
sys.path[:0] = [LLAMA_CPP, os.path.join(LLAMA_CPP, "gguf-py")]
os.environ["TQDM_DISABLE"] = "1"
import gguf  # before anyone else does
import conversion, transformers
from conversion.base import ModelBase
from conversion.bert import BertModel, NomicBertModel, XLMRobertaModel
from conversion.gemma import EmbeddingGemma
from conversion.stablelm import StableLMModel

ANSWERS = {"yes": 7, "no": 11, "|": 0}  # ids for which a reranker's converter asks the tokenizer
TAG = 2.0 ** -20  # tags are multiples below 1: exact in F32, with 1 added too, and e^tag still tells them apart


# ---- the converter --------------------------------------------------------------------------------------------------

def yielding(self, *args, modify=StableLMModel.modify_tensors):
    """StableLM's norms of q and k: the stack of them is returned where it should be yielded, and so lost."""
    yield from (yield from modify(self, *args)) or ()


class Words:
    """A tokenizer that knows these words."""
    @staticmethod
    def from_pretrained(folder):
        return Words
    convert_tokens_to_ids = ANSWERS.get


def no_vocabulary(c):
    """In place of class c's set_vocab. What stands among the vocabulary's keys of BERT's kin is said still: how many
    token types there are."""
    if c in (BertModel, NomicBertModel, XLMRobertaModel):
        return lambda self: self.gguf_writer.add_token_type_count(self.hparams.get("type_vocab_size", 1))
    return lambda self: None


def convert(folder, path, ftype="ALL_F32"):
    """Write the GGUF file of a folder; of jina's v3 also lora-TASK-.. beside it."""
    hparams = ModelBase.load_hparams(pathlib.Path(folder), False)
    kind = conversion.get_model_class(conversion.get_model_architecture(hparams, conversion.ModelType.TEXT))
    if "use_parallel_residual" in hparams and "rope_parameters" in hparams:  # what transformers 5 calls otherwise
        hparams["rotary_pct"] = hparams["rope_parameters"].get("partial_rotary_factor", 1.0)
    if hparams.get("model_type") == "exaone":
        hparams["activation_function"] = hparams["hidden_act"]
    todo = [ModelBase]
    while todo:  # every class has its own way to a vocabulary
        c = todo.pop()
        todo += c.__subclasses__()
        if "set_vocab" in vars(c):
            c.set_vocab = no_vocabulary(c)
    StableLMModel.modify_tensors, transformers.AutoTokenizer.from_pretrained = yielding, Words.from_pretrained
    EmbeddingGemma.module_paths, EmbeddingGemma.dense_features_dims = [], {}  # they would grow from file to file
    words = pathlib.Path(folder, "tokenizer.json")  # Gemma 3's class counts them
    size = hparams.get("text_config", hparams)["vocab_size"]
    vocab = {"type": "WordPiece", "vocab": {str(i): i for i in range(size)}}
    words.write_text(json.dumps({"model": vocab, "added_tokens": []}))
    kind(pathlib.Path(folder), gguf.LlamaFileType[ftype], pathlib.Path(path), eager=True, hparams=hparams,
         sentence_transformers_dense_modules=True).write()
    words.unlink()


def read(path):
    """{name: (numbers or bytes, type's name)} of a GGUF file, and the size of its head."""
    r = gguf.GGUFReader(path)
    return {t.name: (np.array(t.data), t.tensor_type.name) for t in r.tensors}, r.data_offset


# ---- tags -----------------------------------------------------------------------------------------------------------

class Tags:
    """Which tensor a tag belongs to."""
    def __init__(self, tensors):
        self.names = list(tensors)
        self.starts = np.cumsum([0] + [t.size for t in tensors.values()])
        assert self.starts[-1] < 1 / TAG

    def of(self, tensors, digit):
        """Tensors with tags in them; a byte has room for one digit of its tag."""
        tagged = {}
        for (name, t), start in zip(tensors.items(), self.starts):
            i = np.arange(start, start + t.size).reshape(t.shape)
            tagged[name] = (i >> 8 * digit & 255).astype(np.uint8) if t.dtype == np.uint8 else (i * TAG).astype(t.dtype)
        return tagged

    def pieces(self, tags, columns):
        """Tags as text, a piece for each stretch of one tensor. Rows are folded first, each on its own: the last number
        of one row and the first of the next may be neighbours by chance."""
        of = np.searchsorted(self.starts, tags, side="right") - 1
        out = []
        for part in np.split(np.arange(len(tags)), np.flatnonzero(np.diff(of)) + 1):
            rows = (tags[part] - self.starts[of[part[0]]]).reshape(-1, columns if len(part) % columns == 0 else 1)
            for start, loops in folded([item for row in rows.tolist() for item in folded([(i, ()) for i in row])]):
                loops = joined(loops)
                out += [self.names[of[part[0]]], start, len(loops)] + [n for loop in loops for n in loop]
        return " ".join(map(str, out))


def folded(items):
    """Loops over loops: [(start, ((count, stride), ..)), ..], outermost loop first. Items that are alike and evenly
    apart become one, as few as a greedy look finds."""
    while True:
        out, i = [], 0
        while i < len(items):
            start, loops = items[i]
            j = i + 1
            while j < len(items) and items[j][1] == loops and items[j][0] - items[j - 1][0] == items[i + 1][0] - start:
                j += 1
            out.append(items[i] if j == i + 1 else (start, ((j - i, items[i + 1][0] - start), *loops)))
            i = j
        if len(out) == len(items):
            return out
        items = out


def joined(loops):
    """Loops of which one only goes on where the inner one ended are one."""
    out = [loops[-1]] if loops else []
    for count, stride in reversed(loops[:-1]):
        if stride == out[0][0] * out[0][1]:
            out[0] = (count * out[0][0], out[0][1])
        else:
            out.insert(0, (count, stride))
    return out


def numbers(pieces, source):
    """The inverse, for checking: the numbers that the pieces name, out of source(name)."""
    words, out = pieces.split(), []
    while words:
        name, at, loops = words[0], np.array([int(words[1])]), int(words[2])
        for k in range(loops):
            count, stride = int(words[3 + 2 * k]), int(words[4 + 2 * k])
            at = (at[:, None] + stride * np.arange(count)).reshape(-1)
        out.append(source(name).reshape(-1)[at])
        words = words[3 + 2 * loops:]
    return np.concatenate(out)


# ---- lines of the map, each held against the tensor -----------------------------------------------------------------

def mxfp4_line(name, blocks, tagged, columns, tags, source):
    """Blocks [n, 17]: a scale, then 32 codes, the second half of them in the upper halves of the bytes. A file of
    Hugging Face's has scales and codes apart, and codes side by side."""
    text = tags.pieces(sum(t[:, 0].astype(np.int64) << 8 * digit for digit, t in enumerate(tagged)), columns // 32)
    packed = numbers(text, lambda n: source(n.replace("_scales", "_blocks")).reshape(-1, 16).view("V16")).view(np.uint8)
    codes = (packed.reshape(-1, 16, 1) >> np.array([0, 4], np.uint8) & 15).reshape(-1, 2, 16)
    want = np.concatenate([numbers(text, source)[:, None], codes[:, 0] | codes[:, 1] << 4], 1)
    assert np.array_equal(want, blocks), name
    return f"{name} - {len(blocks) * 32} {columns} mxfp4 as {text}"


def line_of(name, data, kind, tagged, half, tags, source):
    """data, kind: the tensor; tagged: the same of the files with tags; half: its type in an F16 file."""
    count, columns = data.size, data.shape[-1] if data.ndim > 1 else 1
    if kind == "MXFP4":
        return mxfp4_line(name, data.reshape(-1, 17), [t.reshape(-1, 17) for t in tagged], columns // 17 * 32, tags,
                          source)
    if np.array_equal(data, tagged[0]):
        return f"{name} - {count} {columns} values " + " ".join(f"{x:.9g}" for x in data.reshape(-1))
    t = tagged[0].reshape(-1).astype(np.float64)
    how = "negexp" if t[0] < 0 else "plus1" if t[0] >= 1 else "as"
    t = {"as": t, "plus1": t - 1, "negexp": np.log(np.abs(t))}[how]
    text = tags.pieces(np.rint(t / TAG).astype(np.int64), columns)
    got = numbers(text, source)
    got = {"as": got, "plus1": got + np.float32(1), "negexp": -np.exp(got)}[how]
    assert np.allclose(got, data.reshape(-1), rtol=1e-6 if how == "negexp" else 0, atol=0), name
    return f"{name} - {count} {columns} {'cast' if half == 'F16' else 'keep'} {how} {text}"


def read_folder(folder):
    """{name: tensor} of its safetensors; those of sentence-transformers' modules have their folder before the name."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("model.safetensors")):
        prefix = "" if path.parent == pathlib.Path(folder) else path.parent.name + "."
        found |= {prefix + n: t for n, t in safetensors.numpy.load_file(path).items()}
    return found


def write_folder(folder, tensors):
    """Its inverse, where these files are."""
    for path in pathlib.Path(folder).rglob("model.safetensors"):
        prefix = "" if path.parent == pathlib.Path(folder) else path.parent.name + "."
        held = {n.removeprefix(prefix): tensors[n] for n in tensors if n.startswith(prefix)}
        names = safetensors.numpy.load_file(path)
        safetensors.numpy.save_file({n: held[n] for n in names}, path, {"format": "pt"})


def heads_and_maps(folder, tmp, tasks=("",)):
    """What the converter makes of a folder: {"": (the bytes before the data, the lines of the map)}; with tasks also
    {task: the same of its LoRA adapter}."""
    def made(path):
        at = {task: os.path.join(tmp, f"lora-{task}-{path}" if task else path) for task in tasks}
        return {task: (read(p), open(p, "rb").read()) for task, p in at.items()}

    def converted(path, *how):
        convert(folder, os.path.join(tmp, path), *how)
        return made(path)
    plain, halves = converted("plain.gguf"), converted("half.gguf", "MOSTLY_F16")
    source, tagged = read_folder(folder), []
    tags = Tags(source)
    for digit in range(3 if any(t.dtype == np.uint8 for t in source.values()) else 1):
        write_folder(folder, tags.of(source, digit))
        tagged.append(converted("other.gguf"))
    write_folder(folder, source)
    return {task: (blob[:offset], [
        line_of(n, data, kind, [t[task][0][0][n][0] for t in tagged], halves[task][0][0][n][1], tags,
                source.__getitem__) for n, (data, kind) in tensors.items()])
        for task, ((tensors, offset), blob) in plain.items()}


def head_and_map(folder, tmp):
    return heads_and_maps(folder, tmp)[""]
