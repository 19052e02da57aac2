"""roformer.py - libroformer from Python: one file, ctypes and NumPy, nothing to build.

    import roformer

    model = roformer.Model("model.gguf")              # a path, or nothing: the small model in the library
    print(model.write("Once upon a time", temperature=0.8, seed=42))

    ids = model.tokenize("Once upon a time")          # int32 [n]
    session = model.session(n_ctx=512)
    logits = session.eval(ids)                        # float32 [vocab_size], behind the last id
    rows = session.eval(ids, all=True)                # float32 [n, vocab_size]
    weights = model.attention(ids, layer=0)           # float64 [n_heads, n, n]
    vector = model.embed("a red ball")                # float32 [width]

Options are those of roformer.h, by their names. What fails raises roformer.Error, whose text says why. A model may be
used by several threads at a time, a session by one; Python's lock is not held while the library computes. close(), or
`with`, ends a handle's use; what was made of a closed model can be used on.
"""
import ctypes as c
import ctypes.util
import errno
import os
from pathlib import Path

import numpy as np

MAJOR = 0  # of the library's version: what this file knows


class Error(OSError):
    """errno is the library's (errno.EINVAL ..), strerror its line."""


def _load():
    here, name = Path(__file__).resolve().parent, f"libroformer.so.{MAJOR}"
    places = [os.environ.get("ROFORMER_LIBRARY"), here / name, here.parent / "build/release" / name]
    for place in places:
        if place and Path(place).exists():
            return c.CDLL(str(place))
    try:
        return c.CDLL(ctypes.util.find_library("roformer") or name)
    except OSError:
        pass
    raise ImportError(f"{name} is not in {here}, not in {here.parent}/build/release and not installed: run `make lib` "
                      "or `make install-lib` in the project's folder, or name the file in ROFORMER_LIBRARY")


# ---- roformer.h, in ctypes' words ----

_text = c.c_char_p
_texts, _ids, _floats, _doubles = c.POINTER(_text), c.POINTER(c.c_int), c.POINTER(c.c_float), c.POINTER(c.c_double)
_Progress = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_size_t, c.c_size_t)
_Piece = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(c.c_char), c.c_size_t)
_Each = c.CFUNCTYPE(None, c.c_void_p, c.c_size_t, _floats)


class _Bias(c.Structure):
    _fields_ = [("id", c.c_int), ("bias", c.c_float)]


def _struct(name, **fields):
    return type(name, (c.Structure,), {"_fields_": [("size", c.c_size_t), *fields.items()]})


_progress = {"progress": _Progress, "progress_arg": c.c_void_p}
_Options = _struct(
    "Options", tokenizer=_text, no_tokenizer=c.c_int, rope=_text, rope_theta=c.c_double, rope_factor=c.c_double,
    rope_original=c.c_int64, n_ctx=c.c_int64, position_extend=_text, attention=_text, phi=_text, phi_key=_text,
    form=_text, epsilon=_doubles, favor_features=c.c_int, favor_seed=c.POINTER(c.c_uint64), arch=_text, mask=_text,
    pooler=_text, task=_text, loras=_texts, n_loras=c.c_size_t, kernels=_text, threads=c.c_int, copy=c.c_int, pre=_text,
    jieba=_text, **_progress, panels=_text)
_SessionOptions = _struct("SessionOptions", n_ctx=c.c_size_t, threads=c.c_int, cache=_text, n_batch=c.c_size_t,
                          **_progress)
_SamplerOptions = _struct(
    "SamplerOptions", biases=c.POINTER(_Bias), n_biases=c.c_size_t, repetition_penalty=c.c_float,
    presence_penalty=c.c_float, frequency_penalty=c.c_float, window=c.c_size_t, dry_multiplier=c.c_float,
    dry_base=c.c_float, dry_allowed=c.c_size_t, dry_window=c.c_size_t, breakers=_texts, n_breakers=c.c_size_t,
    temperature=c.c_float, top_k=c.c_size_t, top_p=c.c_float, min_p=c.c_float, xtc_probability=c.c_float,
    xtc_threshold=c.c_float, seed=c.c_uint64)
_WriteOptions = _struct("WriteOptions", max_tokens=c.c_size_t, stops=_texts, n_stops=c.c_size_t, ignore_eos=c.c_int,
                        special=c.c_int, piece=_Piece, arg=c.c_void_p, lookup=c.c_int)
_Written = _struct("Written", n_prompt=c.c_size_t, n_new=c.c_size_t, end=c.c_int)
_EmbedOptions = _struct("EmbedOptions", task=_text, pooling=_text, dimensions=c.c_size_t, normalize=c.c_int,
                        n_ctx=c.c_size_t, threads=c.c_int)

_lib = _load()
_open, _out, _size = c.c_void_p, c.POINTER(c.c_void_p), c.POINTER(c.c_size_t)
for _name, _result, *_args in (  # a c_int result is 0 or an error, and its call ends with err, errlen: see _call
    ("version", c.c_int), ("free", None, c.c_void_p), ("close", None, _open),
    ("open", "rc", _out, _text, c.c_void_p),
    ("number", c.c_int64, _open, c.c_int), ("word", _text, _open, c.c_int),
    ("tokenize", "rc", _open, _text, c.c_size_t, c.c_int, c.POINTER(_ids), _size),
    ("detokenize", "rc", _open, _ids, c.c_size_t, c.c_int, _out, _size),
    ("piece", c.c_void_p, _open, c.c_int, _size),
    ("session_new", "rc", _out, _open, c.c_void_p), ("session_free", None, _open),
    ("eval", "rc", _open, _ids, c.c_size_t, c.POINTER(_floats)),
    ("eval_each", "rc", _open, _ids, c.c_size_t, _Each, c.c_void_p),
    ("position", c.c_size_t, _open), ("rewind", "rc", _open, c.c_size_t),
    ("session_save", "rc", _open, _text), ("session_load", "rc", _open, _text, c.POINTER(_floats)),
    ("sampler_new", "rc", _out, _open, c.c_void_p), ("sampler_free", None, _open),
    ("sample", c.c_int, _open, _floats, _ids, c.c_size_t),
    ("write", "rc", _open, _open, _text, c.c_size_t, c.c_void_p, c.c_void_p),
    ("embedder_new", "rc", _out, _open, c.c_void_p), ("embedder_free", None, _open), ("width", c.c_size_t, _open),
    ("embed", "rc", _open, _text, c.c_size_t, _floats),
    ("attention", "rc", _open, _ids, c.c_size_t, c.c_int, c.c_int, c.c_int, _doubles),
):
    _f = getattr(_lib, f"roformer_{_name}")
    _f.restype = c.c_int if _result == "rc" else _result
    _f.argtypes = [*_args, _text, c.c_size_t] if _result == "rc" else _args
if _lib.roformer_version() // 10000 != MAJOR:
    raise ImportError(f"this file is for libroformer {MAJOR}, and {_lib._name} is {_lib.roformer_version() // 10000}")


def _call(name, *args):
    err = c.create_string_buffer(500)
    rc = getattr(_lib, f"roformer_{name}")(*args, err, len(err))
    if rc:
        raise Error(-rc, err.value.decode(errors="replace"))


def _bytes(text):
    return text.encode() if isinstance(text, str) else os.fsencode(text)


def _name(text):
    """What goes to C without its length, and would end at a 0 there."""
    name = _bytes(text)
    if b"\0" in name:
        raise ValueError(f"{text!r} has a 0 in it")
    return name


def _list_of_texts(texts):
    return (_text * len(texts))(*map(_name, texts))


def _options(struct, given):
    """A struct from keywords; None is what is not given. Lists bring their n_ along; the arrays live in the struct."""
    o, fields = struct(size=c.sizeof(struct)), dict(struct._fields_)
    for key, value in given.items():
        kind = fields.get(key)
        if key == "size" or kind is None:
            raise TypeError(f"there is no option {key}; there are {', '.join(k for k in fields if k != 'size')}")
        if value is None:
            continue
        if kind is _text:
            value = _name(value)
        elif kind is _texts:
            setattr(o, f"n_{key}", len(value))
            value = _list_of_texts(value)
        elif kind is c.POINTER(_Bias):
            o.n_biases = len(value)
            value = (_Bias * len(value))(*value.items())
        elif kind in (_doubles, c.POINTER(c.c_uint64)):
            value = c.pointer(kind._type_(value))
        elif kind is _Progress:
            f = value
            value = _Progress(lambda _, done, total: int(bool(f(done, total))))
        setattr(o, key, value)
    return o


def _array(ids):
    a = np.ascontiguousarray(ids, dtype=np.intc).reshape(-1)
    return a, a.ctypes.data_as(_ids), a.size


class _Made:
    """What the library has made, freed with the last reference to it: a handle's, that of a call under way."""
    _models = {}  # what was made of a model holds it here, where the garbage collector does not free the model first

    def __init__(self, name, free, model, *args):
        self._free, self._as_parameter_ = getattr(_lib, f"roformer_{free}"), c.c_void_p()
        if model:
            self._models[id(self)] = model
        _call(name, c.byref(self._as_parameter_), *([model] if model else []), *args)

    @property
    def model(self):
        return self._models.get(id(self), self)

    def __del__(self):
        self._free(self._as_parameter_)
        self._models.pop(id(self), None)


class _Handle:
    """Its user's hold on what the library has made. Behind close() its calls raise Error. A model that is closed stays
    in memory until all that was made of it is closed, too: a session goes on as if nothing had happened."""
    _made = None

    def __init__(self, name, free, maker, *args):
        self._made = _Made(name, free, maker and maker._at.model, *args)

    @property
    def _at(self):
        made = self._made
        if made is None:
            raise Error(errno.EINVAL, f"this {type(self).__name__.lower()} is closed")
        return made

    def _number(self, name):
        return _lib.roformer_number(self._at.model, _NUMBERS.index(name))

    def close(self):
        self._made = None

    def __enter__(self):
        self._at  # a closed one is told here
        return self

    def __exit__(self, *_):
        self.close()


_NUMBERS = ("n_ctx_train", "vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "head_dim", "n_parameters",
            "bos", "eos", "has_logits", "has_tokenizer", "reads_whole", "is_linear")
_WORDS = ("arch", "kernels", "tokenizer", "rope")
_ENDS = ("length", "eos", "bos", "stop", "context", "interrupt")


class Model(_Handle):
    """A model, and facts about it as attributes: n_ctx_train, vocab_size .. (_NUMBERS, _WORDS); -1, None: none."""

    def __init__(self, path=None, **options):
        o = self._options = _options(_Options, options)
        super().__init__("open", "close", None, None if path is None else _name(path), c.byref(o))

    def __getattr__(self, name):
        if name in _NUMBERS:
            return self._number(name)
        if name in _WORDS:
            word = _lib.roformer_word(self._at, _WORDS.index(name))
            return None if word is None else word.decode()
        raise AttributeError(name)

    def tokenize(self, text, bos=True, eos=False, special=False, continues=False):
        """int32 [n]. bos, eos: where the tokenizer's file says that they are added."""
        text, ids, n = _bytes(text), _ids(), c.c_size_t()
        _call("tokenize", self._at, text, len(text), bos + 2 * special + 4 * eos + 8 * continues, c.byref(ids),
              c.byref(n))
        try:
            return np.array(ids[:n.value], dtype=np.intc)
        finally:
            _lib.roformer_free(ids)

    def detokenize(self, ids, continues=False):
        (a, at, n), text, size = _array(ids), c.c_void_p(), c.c_size_t()
        _call("detokenize", self._at, at, n, 8 * continues, c.byref(text), c.byref(size))
        try:
            return c.string_at(text, size.value).decode()
        finally:
            _lib.roformer_free(text)

    def piece(self, id):
        """An id's piece as the tokenizer's file spells it, bytes; None: there is none."""
        made, n = self._at, c.c_size_t()  # made: the bytes are the model's, and it is to outlive their copy
        at = _lib.roformer_piece(made, id, c.byref(n))
        return None if at is None else c.string_at(at, n.value)

    def session(self, **options):
        return Session(self, **options)

    def sampler(self, **options):
        return Sampler(self, **options)

    def embedder(self, **options):
        return Embedder(self, **options)

    def write(self, prompt="", n_ctx=None, threads=None, cache=None, **options):
        """A text behind the prompt, in a session of its own; options: Session.write's."""
        with self.session(n_ctx=n_ctx, threads=threads, cache=cache) as s:
            return s.write(prompt, **options)

    def embed(self, texts, **options):
        """float32 [width] of a text, [n, width] of a list."""
        with self.embedder(**options) as e:
            return e.embed(texts)

    def attention(self, ids, layer, head=None, threads=0):
        """float64 [n, n] of a head, [n_heads, n, n] of all; row m: the query at position m; NaN: not seen."""
        a, at, n = _array(ids)
        out = np.empty((self.n_heads, n, n) if head is None else (n, n))
        _call("attention", self._at, at, n, layer, -1 if head is None else head, threads, out.ctypes.data_as(_doubles))
        return out


class Session(_Handle):
    """One text on its way through a model. Options: n_ctx, threads, cache, n_batch, progress(done, total)."""

    def __init__(self, model, **options):
        o = self._options = _options(_SessionOptions, options)  # the library keeps progress
        super().__init__("session_new", "session_free", model, c.byref(o))

    @property
    def position(self):
        return _lib.roformer_position(self._at)

    def eval(self, ids, all=False):
        """Read ids behind the others: float32 [vocab_size] behind the last, or with all [n, vocab_size]."""
        made, (a, at, n), vocab = self._at, _array(ids), self._number("vocab_size")
        if all:
            rows = np.empty((n, vocab), dtype=np.float32)
            start, size = rows.ctypes.data, 4 * vocab
            each = _Each(lambda _, i, logits: c.memmove(start + i * size, logits, size) and None)
            _call("eval_each", made, at, n, each, None)
            return rows
        logits = _floats()
        _call("eval", made, at, n, c.byref(logits))
        return np.ctypeslib.as_array(logits, (vocab,)).copy()

    def rewind(self, n=0):
        """Forget all but the first n ids."""
        _call("rewind", self._at, n)

    def save(self, path):
        _call("session_save", self._at, _name(path))

    def load(self, path):
        """The logits behind the last id of the text that was saved."""
        made, vocab, logits = self._at, self._number("vocab_size"), _floats()
        _call("session_load", made, _name(path), c.byref(logits))
        return np.ctypeslib.as_array(logits, (vocab,)).copy()

    def write(self, prompt="", max_tokens=0, stops=None, on_text=None, sampler=None, ignore_eos=False, special=False,
              lookup=False, **sampling):
        """The text behind the prompt. on_text(piece) is called for each new piece, and ends the text where it returns
        something true. self.end says why it ended ("length", "eos" ..). sampling: the sampler's options."""
        pieces, raised, prompt = [], [], _bytes(prompt)

        def piece(_, at, n):
            pieces.append(c.string_at(at, n) if n else b"")
            try:
                return int(bool(on_text and n and on_text(pieces[-1].decode())))
            except BaseException as e:  # through C it cannot go
                raised.append(e)
                return 1

        o = _options(_WriteOptions, {"max_tokens": max_tokens, "stops": stops, "ignore_eos": ignore_eos,
                                     "special": special, "lookup": lookup})
        o.piece, written = _Piece(piece), _Written(size=c.sizeof(_Written))
        if sampler and sampling:
            raise TypeError(f"a sampler and options for one: {', '.join(sampling)}")
        s = sampler or Sampler(self, **sampling)  # of the session's model
        _call("write", self._at, s._at, prompt, len(prompt), c.byref(o), c.byref(written))
        if raised:
            raise raised[0]
        self.n_prompt, self.n_new, self.end = written.n_prompt, written.n_new, _ENDS[written.end]
        return b"".join(pieces).decode()


class Sampler(_Handle):
    """From logits to an id. Options: temperature (0: greedy), top_k, top_p, min_p, seed, biases={id: x} .."""

    def __init__(self, model, **options):
        super().__init__("sampler_new", "sampler_free", model, c.byref(_options(_SamplerOptions, options)))

    def sample(self, logits, ids=()):
        """The next id; ids: the text so far, for penalties."""
        x, vocab = np.ascontiguousarray(logits, dtype=np.float32), self._number("vocab_size")
        if x.shape != (vocab,):
            raise ValueError(f"logits have the shape {x.shape}, not ({vocab},)")
        a, at, n = _array(ids)
        return _lib.roformer_sample(self._at, x.ctypes.data_as(_floats), at, n)


class Embedder(_Handle):
    """From texts to vectors. Options: task, pooling, dimensions, normalize, n_ctx, threads."""

    def __init__(self, model, **options):
        super().__init__("embedder_new", "embedder_free", model, c.byref(_options(_EmbedOptions, options)))

    @property
    def width(self):
        return _lib.roformer_width(self._at)

    def embed(self, texts):
        """float32 [width] of a text, [n, width] of a list."""
        one = isinstance(texts, (str, bytes))
        out = np.empty((1 if one else len(texts), self.width), dtype=np.float32)
        for row, text in zip(out, [texts] if one else texts):
            text = _bytes(text)
            _call("embed", self._at, text, len(text), row.ctypes.data_as(_floats))
        return out[0] if one else out
