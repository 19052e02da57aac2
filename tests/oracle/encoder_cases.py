"""The cases of encoders.py: tiny encoders with RoPE, and two decoders that embed, each as its repository on the Hub has
it. The Hub's config.json is `hub`; `keys` says the same in transformers' words, where transformers 5.24 does not read
the former. A case without `hub` is as transformers 5.24 itself writes it.

Windows are 4 to either side, so that 33 ids cross them on both. WRONG lists models that are wrong in one thing.
"""
import dataclasses, typing


@dataclasses.dataclass
class Case:
    model: str  # transformers' class; NeoBERT's are in encoders.py
    hub: typing.Optional[dict] = None
    keys: typing.Any = None  # a dict, or a function of hub
    prefix: tuple = ("", "")  # what transformers' saved names begin with, and the Hub's
    modules: bool = False  # tensors are called as the module calls them, not as save_pretrained would
    without: tuple = ()  # tensors of transformers' class that the file lacks: zero
    more: dict = dataclasses.field(default_factory=dict)  # tensors beside the model's, which nobody needs: name, shape
    spellings: dict = dataclasses.field(default_factory=dict)  # other configs of the same folder: suffix, function
    lora: int = 0  # rank
    tasks: tuple = ("",)
    types: bool = False  # texts have token types
    st: dict = dataclasses.field(default_factory=dict)  # sentence-transformers' files: path, JSON
    cuts: tuple = ()  # widths that an embedding is cut to
    levelled: bool = False  # before the cut a layer norm without weights
    answer: tuple = ()  # ids of yes and no
    no_gguf: str = ""


def rope(theta, kind="default", **keys):
    return dict(rope_type=kind, rope_theta=theta, **keys)


def only(d, *keys):
    return {k: d[k] for k in keys if k in d}


SIZES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size",
         "max_position_embeddings", "pad_token_id", "type_vocab_size", "layer_norm_eps", "hidden_act")
TINY = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, vocab_size=96,
            max_position_embeddings=64)
HALVES = dict(TINY, intermediate_size=32)  # gate and up of a fused matrix are 1024 numbers each
LABELS = dict(id2label={"0": "bad", "1": "fair", "2": "good"}, label2id={"bad": 0, "fair": 1, "good": 2})
ONE_LABEL = dict(id2label={"0": "LABEL_0"}, label2id={"LABEL_0": 0})


# ---- sentence-transformers' files ------------------------------------------------------------------------------------

MODES = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")


def sentence(mode, *dense, normalize=True, prompts=None, width=32, modes=MODES, newer=False):
    """modules.json and what it points to. dense: widths. newer: as version 6 writes it."""
    old = "sentence_transformers.models."
    places = dict(Transformer="sentence_transformers.base.modules.transformer.",
                  Pooling="sentence_transformers.sentence_transformer.modules.pooling.",
                  Dense="sentence_transformers.base.modules.dense.",
                  Normalize="sentence_transformers.base.modules.normalize.")
    kinds = ["Transformer", "Pooling"] + ["Dense"] * len(dense) + ["Normalize"] * normalize
    files = {"modules.json": [dict(
        idx=i, name=str(i), path=f"{i}_{k}" if i else "", type=(places[k] if newer else old) + k)
        for i, k in enumerate(kinds)]}
    files["1_Pooling/config.json"] = (
        dict(embedding_dimension=width, pooling_mode=mode.removesuffix("_tokens").removesuffix("_token"),
             include_prompt=True) if newer else
        dict(word_embedding_dimension=width, **{"pooling_mode_" + m: m == mode for m in modes}, **(
            dict(include_prompt=True) if len(modes) > 4 else {})))
    for i, wide in enumerate(dense):
        files[f"{i + 2}_Dense/config.json"] = dict(
            in_features=([width, *dense])[i], out_features=wide, bias=False,
            activation_function="torch.nn.modules.linear.Identity")
    if prompts is not None:
        files["config_sentence_transformers.json"] = dict(
            __version__=dict(sentence_transformers="5.1.0", transformers="4.57.0", pytorch="2.8.0"), prompts=prompts,
            default_prompt_name=None, similarity_fn_name="cosine")
    return files


# ---- nomic -----------------------------------------------------------------------------------------------------------

NOMIC_CODE = "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert."
NOMIC = dict(
    activation_function="swiglu", architectures=["NomicBertModel"], attn_pdrop=0.0,
    auto_map=dict(AutoConfig="nomic-ai/nomic-bert-2048--configuration_hf_nomic_bert.NomicBertConfig",
                  AutoModel=NOMIC_CODE + "NomicBertModel", AutoModelForMaskedLM=NOMIC_CODE + "NomicBertForPreTraining"),
    bos_token_id=None, causal=False, dense_seq_output=True, embd_pdrop=0.0, eos_token_id=None, fused_bias_fc=True,
    fused_dropout_add_ln=True, initializer_range=0.02, layer_norm_epsilon=1e-12, max_trained_positions=2048,
    mlp_fc1_bias=False, mlp_fc2_bias=False, model_type="nomic_bert", n_embd=32, n_head=4, n_inner=48, n_layer=2,
    n_positions=8192, pad_vocab_size_multiple=32, parallel_block=False, parallel_block_tied_norm=False, prenorm=False,
    qkv_proj_bias=False, reorder_and_upcast_attn=False, resid_pdrop=0.0, rotary_emb_base=1000, rotary_emb_fraction=1.0,
    rotary_emb_interleaved=False, rotary_emb_scale_base=None, rotary_scaling_factor=None,
    scale_attn_by_inverse_layer_idx=False, scale_attn_weights=True, summary_activation=None, summary_first_dropout=0.0,
    summary_proj_to_labels=True, summary_type="cls_index", summary_use_proj=True, torch_dtype="float32",
    transformers_version="4.37.2", type_vocab_size=2, use_cache=True, use_flash_attn=True, use_rms_norm=False,
    use_xentropy=True, vocab_size=96)


def nomic_keys(h):
    assert h["activation_function"] == "swiglu" and not (h["prenorm"] or h["rotary_scaling_factor"])
    return dict(
        hidden_size=h["n_embd"], intermediate_size=h["n_inner"], num_hidden_layers=h["n_layer"],
        num_attention_heads=h["n_head"], vocab_size=h["vocab_size"], type_vocab_size=h["type_vocab_size"],
        layer_norm_eps=h["layer_norm_epsilon"], max_position_embeddings=h.get("max_trained_positions", 2048),
        rope_parameters=rope(float(h["rotary_emb_base"])))


def nomic_both(h, new):
    """nomic-embed-text-v1.5's file of 2026 has both spellings."""
    return h | only(new, *SIZES, "head_dim", "rope_parameters")


NOMIC_NEW = nomic_keys(NOMIC) | dict(max_position_embeddings=64, rope_parameters=rope(500.0))
NOMIC_ST = sentence("mean_tokens", normalize=False, modes=MODES[:4])


# ---- gte -------------------------------------------------------------------------------------------------------------

GTE = dict(
    architectures=["NewModel"], attention_probs_dropout_prob=0.0,
    auto_map={f"Auto{k}": f"Alibaba-NLP/new-impl--{v}" for k, v in dict(
        Config="configuration.NewConfig", Model="modeling.NewModel",
        ModelForMaskedLM="modeling.NewForMaskedLM").items()},
    classifier_dropout=0.0, **HALVES, **ONE_LABEL, hidden_act="gelu", hidden_dropout_prob=0.1, initializer_range=0.02,
    layer_norm_eps=1e-12, layer_norm_type="layer_norm", logn_attention_clip1=False, logn_attention_scale=False,
    model_type="new", pack_qkv=True, pad_token_id=1, position_embedding_type="rope",
    rope_scaling=dict(factor=8.0, type="ntk"), rope_theta=20000, torch_dtype="float16", transformers_version="4.39.1",
    type_vocab_size=1, unpad_inputs=False, use_memory_efficient_attention=False)


def gte_keys(h):
    """Su's NTK with a fixed factor, as transformers' documentation of GTE spells it."""
    scaling, width = h["rope_scaling"], h["hidden_size"] // h["num_attention_heads"]
    assert h["layer_norm_type"] == "layer_norm" and h["pack_qkv"] and not h.get("logn_attention_scale")
    parameters = rope(float(h["rope_theta"]))
    if scaling:
        assert scaling["type"] == "ntk" and "mixed_b" not in scaling
        s = scaling["factor"]
        parameters = rope(h["rope_theta"] * s, "linear", factor=s ** (2 / width))
    return only(h, *SIZES, "id2label", "label2id") | dict(rope_parameters=parameters)


def newer(h, new):
    return new


GTE_TOKENS = {"classifier.weight": (1, 32), "classifier.bias": (1,)}  # weights of tokens, for sparse search
RERANKER = dict(GTE, architectures=["NewForSequenceClassification"])
ARCTIC = dict(GTE, architectures=["GteModel"], model_type="gte", rope_scaling=None, rope_theta=160000,
              unpad_inputs="true", use_memory_efficient_attention="true")
ENGLISH = dict(GTE, type_vocab_size=0, rope_theta=500000, rope_scaling=dict(factor=2.0, type="ntk"), pad_token_id=0)
for gone in ("id2label", "label2id", "logn_attention_clip1", "logn_attention_scale"):
    del ENGLISH[gone]
NO_CONVERTER = "no converter"


# ---- jina ------------------------------------------------------------------------------------------------------------

JINA_CODE = "jinaai/xlm-roberta-flash-implementation--"
JINA_TASKS = {"retrieval.query": "Represent the query for retrieving evidence documents: ", "text-matching": ""}
JINA = dict(
    _name_or_path="jinaai/jina-embeddings-v3", architectures=["XLMRobertaModel"], attention_probs_dropout_prob=0.1,
    auto_map=dict(AutoConfig=JINA_CODE + "configuration_xlm_roberta.XLMRobertaFlashConfig",
                  AutoModel=JINA_CODE + "modeling_lora.XLMRobertaLoRA"),
    bos_token_id=0, classifier_dropout=None, emb_pooler=None, eos_token_id=2, **TINY | dict(max_position_embeddings=66),
    hidden_act="gelu", hidden_dropout_prob=0.1, initializer_range=0.02, layer_norm_eps=1e-05,
    load_trained_adapters=True, lora_adaptations=list(JINA_TASKS), lora_alpha=1, lora_dropout_p=0.0,
    lora_main_params_trainable=False, lora_rank=2, matryoshka_dimensions=[8, 16, 32], model_type="xlm-roberta",
    output_past=True, pad_token_id=1, position_embedding_type="rotary", rotary_emb_base=20000.0,
    task_instructions=JINA_TASKS, torch_dtype="bfloat16", transformers_version="4.30.2", truncate_dim=None,
    type_vocab_size=1, use_cache=True, use_flash_attn=True)


def jina_keys(h):
    return only(h, *SIZES) | dict(rope_parameters=rope(h["rotary_emb_base"]))


JINA_ST = sentence("mean_tokens", prompts=JINA_TASKS)
JINA_ST["modules.json"] = [  # the Hub's own names
    dict(idx=0, name="transformer", path="", type="custom_st.Transformer"),
    dict(idx=1, name="pooler", path="1_Pooling", type="sentence_transformers.models.Pooling"),
    dict(idx=2, name="normalizer", path="2_Normalize", type="sentence_transformers.models.Normalize")]


# ---- ModernBERT, EuroBERT, NeoBERT -----------------------------------------------------------------------------------

MODERN = dict(
    architectures=["ModernBertForMaskedLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=50281,
    classifier_activation="gelu", classifier_bias=False, classifier_dropout=0.0, classifier_pooling="mean",
    cls_token_id=50281, decoder_bias=True, deterministic_flash_attn=False, embedding_dropout=0.0, eos_token_id=50282,
    global_attn_every_n_layers=3, global_rope_theta=160000.0, gradient_checkpointing=False, hidden_activation="gelu",
    **HALVES | dict(num_hidden_layers=4), initializer_cutoff_factor=2.0, initializer_range=0.02, layer_norm_eps=1e-05,
    local_attention=8, local_rope_theta=10000.0, mlp_bias=False, mlp_dropout=0.0, model_type="modernbert",
    norm_bias=False, norm_eps=1e-05, pad_token_id=0, position_embedding_type="absolute", sep_token_id=50282,
    tie_word_embeddings=True, torch_dtype="float32", transformers_version="4.47.0.dev0")
MODERN_CLS = dict(MODERN, **LABELS, architectures=["ModernBertForSequenceClassification"])
MODERN_NEW = dict(
    {k: v for k, v in MODERN.items() if not k.startswith(("global_", "local_rope", "layer_norm", "position_", "arch"))},
    num_hidden_layers=3, local_attention=10, layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    rope_parameters=dict(full_attention=rope(80000.0), sliding_attention=rope(1000.0)))

EURO_CODE = {f"Auto{k}": f"{v[0]}_eurobert.EuroBert{v[1]}" for k, v in dict(
    Config=("configuration", "Config"), Model=("modeling", "Model"),
    ModelForMaskedLM=("modeling", "ForMaskedLM")).items()}
EURO = dict(
    architectures=["EuroBertForMaskedLM"], attention_bias=False, attention_dropout=0.0, auto_map=EURO_CODE,
    bos_token="<|begin_of_text|>", bos_token_id=3, clf_pooling="late", eos_token="<|end_of_text|>", eos_token_id=4,
    head_dim=8, hidden_act="silu", hidden_dropout=0.0, **TINY, initializer_range=0.02, mask_token="<|mask|>",
    mask_token_id=5, mlp_bias=False, model_type="eurobert", num_key_value_heads=2, pad_token="<|end_of_text|>",
    pad_token_id=4, pretraining_tp=1, rms_norm_eps=1e-05, rope_scaling=None, rope_theta=250000,
    tie_word_embeddings=False, torch_dtype="bfloat16", transformers_version="4.40.0.dev0", use_cache=False)


def euro_keys(h):
    """clf_pooling, a name that transformers 5.24 does not know any more."""
    theta, pooling = h["rope_theta"], h.get("clf_pooling", h.get("classifier_pooling"))
    gone = ("clf_pooling", "rope_theta", "rope_scaling", "architectures", "auto_map", "torch_dtype", "model_type")
    return {k: v for k, v in h.items() if k not in gone} | dict(
        classifier_pooling=pooling, rope_parameters=rope(float(theta)))


def euro_cls(**pooling):
    h = dict(EURO, **LABELS, architectures=["EuroBertForSequenceClassification"])
    del h["clf_pooling"]
    return h | pooling


NEO = dict(
    architectures=["NeoBERTLMHead"],
    auto_map={f"Auto{k}": f"model.NeoBERT{v}" for k, v in dict(
        Config="Config", Model="", ModelForMaskedLM="LMHead",
        ModelForSequenceClassification="ForSequenceClassification").items()},
    classifier_init_range=0.02, decoder_init_range=0.02, dim_head=8, embedding_init_range=0.02,
    **{k: v for k, v in TINY.items() if k != "max_position_embeddings"},
    kwargs=dict(classifier_init_range=0.02, pretrained_model_name_or_path="google-bert/bert-base-uncased",
                trust_remote_code=True),
    max_length=64, model_type="neobert", norm_eps=1e-05, pad_token_id=0,
    pretrained_model_name_or_path="google-bert/bert-base-uncased", torch_dtype="float32",
    transformers_version="4.48.2", trust_remote_code=True)


# ---- Gemma and Qwen --------------------------------------------------------------------------------------------------

SLIDES, FULL = "sliding_attention", "full_attention"
GEMMA_TASKS = {name: f"task: {task} | query: " for name, task in dict(
    query="search result", BitextMining="search result", Clustering="clustering", Classification="classification",
    InstructionRetrieval="code retrieval", MultilabelClassification="classification",
    PairClassification="sentence similarity", Reranking="search result", Retrieval="search result",
    STS="sentence similarity", Summarization="summarization").items()}
GEMMA_TASKS |= {"Retrieval-query": "task: search result | query: ", "Retrieval-document": "title: none | text: ",
                "document": "title: none | text: "}
GEMMA = dict(
    _sliding_window_pattern=6, architectures=["Gemma3TextModel"], attention_bias=False, attention_dropout=0.0,
    attn_logit_softcapping=None, bos_token_id=2, dtype="float32", eos_token_id=1, final_logit_softcapping=None,
    hidden_activation="gelu_pytorch_tanh", **TINY | dict(num_attention_heads=2, num_hidden_layers=6, head_dim=16),
    initializer_range=0.02, layer_types=[SLIDES] * 5 + [FULL], model_type="gemma3_text", num_key_value_heads=1,
    pad_token_id=0, query_pre_attn_scalar=16, rms_norm_eps=1e-06, rope_local_base_freq=10000.0, rope_scaling=None,
    rope_theta=1000000.0, sliding_window=8, transformers_version="4.57.0.dev0", use_bidirectional_attention=True,
    use_cache=True)

QWEN = dict(
    architectures=["Qwen3ForCausalLM"], attention_bias=False, attention_dropout=0.0, bos_token_id=3, eos_token_id=3,
    head_dim=16, hidden_act="silu", **TINY, initializer_range=0.02, max_window_layers=2, model_type="qwen3",
    num_key_value_heads=2, rms_norm_eps=1e-06, rope_scaling=None, rope_theta=1000000, sliding_window=None,
    tie_word_embeddings=True, torch_dtype="bfloat16", transformers_version="4.51.3", use_cache=True,
    use_sliding_window=False)
QWEN_QUERY = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


# ---- the cases -------------------------------------------------------------------------------------------------------

FIVE = {"5": newer}
ONLY_BODIES = "the converter knows the bare model's name only"
CASES = {
    "nomic": Case("NomicBertModel", NOMIC, nomic_keys, types=True, st=NOMIC_ST, cuts=(32, 16, 8), levelled=True,
                  spellings={"both": nomic_both, **FIVE}),
    "nomic2": Case("NomicBertModel", keys=NOMIC_NEW, modules=True, types=True,
                   st=sentence("mean_tokens", normalize=False, newer=True), cuts=(16,), levelled=True,
                   no_gguf="the converter wants the older keys"),
    "nomic_mlm": Case(
        "NomicBertForMaskedLM", {k: v for k, v in NOMIC.items() if k != "max_trained_positions"} | dict(
            architectures=["NomicBertForPreTraining"], n_positions=2048), nomic_keys, ("nomic_bert.", "bert."),
        without=("cls.predictions.bias", "cls.predictions.transform.dense.bias"), types=True, no_gguf=ONLY_BODIES),
    "nomic_cls": Case("NomicBertForSequenceClassification", keys=NOMIC_NEW | LABELS, types=True, no_gguf=ONLY_BODIES),
    "nomic_mlm2": Case("NomicBertForMaskedLM", keys=NOMIC_NEW, types=True, no_gguf=ONLY_BODIES),
    "nomic_untied": Case("NomicBertForMaskedLM", keys=NOMIC_NEW | dict(tie_word_embeddings=False), types=True,
                         no_gguf=ONLY_BODIES),
    "nomic_gelu": Case("NomicBertForMaskedLM", keys=NOMIC_NEW | dict(hidden_act="gelu"), types=True,
                       no_gguf=ONLY_BODIES),
    "modernbert_bias": Case("ModernBertForMaskedLM", dict(MODERN, mlp_bias=True), spellings=FIVE,
                            no_gguf="no tensor for the gate's bias"),
    "modernbert": Case("ModernBertForMaskedLM", MODERN, spellings=FIVE,
                       no_gguf="the converter stumbles over the decoder's bias"),
    "modernbert2": Case("ModernBertModel", keys=MODERN_NEW, st=sentence("cls_token", prompts={}), cuts=(16,),
                        no_gguf="the converter wants global_rope_theta, and has no key for these layers"),
    "modernbert_body": Case(
        "ModernBertModel", dict(MODERN, architectures=["ModernBertModel"]), spellings=FIVE, cuts=(16,),
        st=sentence("mean_tokens", normalize=False,
                    prompts=dict(query="search_query: ", document="search_document: "))),
    "modernbert_cls": Case("ModernBertForSequenceClassification", dict(MODERN_CLS, classifier_pooling="cls"),
                           spellings=FIVE, no_gguf="no key for classifier_pooling, mean is meant"),
    "modernbert_mean": Case("ModernBertForSequenceClassification", MODERN_CLS, spellings=FIVE),
    "modernbert_tokens": Case(
        "ModernBertForTokenClassification", dict(MODERN_CLS, architectures=["ModernBertForTokenClassification"]),
        spellings=FIVE, no_gguf=ONLY_BODIES),
    "eurobert": Case("EuroBertForMaskedLM", EURO, euro_keys, spellings=FIVE, no_gguf=ONLY_BODIES),
    "eurobert_tied": Case("EuroBertForMaskedLM", dict(EURO, tie_word_embeddings=True), euro_keys, spellings=FIVE,
                          no_gguf=ONLY_BODIES),
    "eurobert_body": Case("EuroBertModel", dict(EURO, architectures=["EuroBertModel"]), euro_keys, spellings=FIVE,
                          st=sentence("mean_tokens", normalize=False)),
    "eurobert_bos": Case("EuroBertForSequenceClassification", euro_cls(clf_pooling="bos"), euro_keys, spellings=FIVE,
                         no_gguf=ONLY_BODIES),
    "eurobert_mean": Case("EuroBertForSequenceClassification", euro_cls(classifier_pooling="mean"), euro_keys,
                          no_gguf=ONLY_BODIES),
    "eurobert_late": Case("EuroBertForSequenceClassification", euro_cls(clf_pooling="late"), euro_keys,
                          no_gguf=ONLY_BODIES),
    "eurobert_tokens": Case(
        "EuroBertForTokenClassification",
        dict(euro_cls(clf_pooling="late"), architectures=["EuroBertForTokenClassification"]), euro_keys,
        no_gguf=ONLY_BODIES),
    "neobert": Case("NeoBERTLMHead", NEO, st=sentence("cls_token", normalize=False)),
    "neobert_cls": Case(
        "NeoBERTForSequenceClassification", dict(NEO, **LABELS, architectures=["NeoBERTForSequenceClassification"],
                                                 intermediate_size=50),
        no_gguf="the converter does not round the feed-forward width up to a multiple of 8"),
    "gte": Case("GteModel", GTE, gte_keys, ("", "new."), more=GTE_TOKENS, st=sentence("cls_token"), cuts=(16,),
                spellings=FIVE, no_gguf=NO_CONVERTER),
    "gte2": Case("GteModel", keys=gte_keys(GTE), modules=True, st=sentence("cls_token", newer=True), cuts=(16,),
                 no_gguf=NO_CONVERTER),
    "gte_arctic": Case("GteModel", ARCTIC, gte_keys, st=sentence("cls_token", prompts=dict(query="query: ")),
                       cuts=(16,), spellings=FIVE, no_gguf=NO_CONVERTER),
    "gte_english": Case("GteModel", ENGLISH, gte_keys, ("", "new."), st=sentence("cls_token", normalize=False),
                        spellings=FIVE, no_gguf=NO_CONVERTER),
    "gte_reranker": Case("GteForSequenceClassification", RERANKER, gte_keys, ("gte.", "new."), spellings=FIVE,
                         no_gguf=NO_CONVERTER),
    "gte_reranker2": Case("GteForSequenceClassification", keys=gte_keys(RERANKER), no_gguf=NO_CONVERTER),
    "gte_tokens": Case(
        "GteForTokenClassification", dict(GTE, **LABELS, architectures=["NewForTokenClassification"]), gte_keys,
        ("gte.", "new."), spellings=FIVE, no_gguf=NO_CONVERTER),
    "gte_mlm": Case("GteForMaskedLM", keys=gte_keys(GTE), no_gguf=NO_CONVERTER),
    "jina_v3": Case("JinaEmbeddingsV3Model", JINA, jina_keys, ("", "roberta."), lora=2, tasks=("", *JINA_TASKS),
                    st=JINA_ST, cuts=(16, 8)),
    "jina_v3_2": Case("JinaEmbeddingsV3Model", keys=jina_keys(JINA), modules=True, st=sentence("mean_tokens"),
                      cuts=(16,), no_gguf=NO_CONVERTER),
    "jina_v3_mlm": Case("JinaEmbeddingsV3ForMaskedLM", keys=jina_keys(JINA), no_gguf=NO_CONVERTER),
    "jina_v3_untied": Case("JinaEmbeddingsV3ForMaskedLM", keys=jina_keys(JINA) | dict(tie_word_embeddings=False),
                           no_gguf=NO_CONVERTER),
    "jina_v3_cls": Case("JinaEmbeddingsV3ForSequenceClassification", keys=jina_keys(JINA) | LABELS,
                        no_gguf=NO_CONVERTER),
    "embeddinggemma": Case("Gemma3TextModel", GEMMA, spellings=FIVE, cuts=(16, 8),
                           st=sentence("mean_tokens", 64, 32, prompts=GEMMA_TASKS)),
    "qwen3_embedding": Case("Qwen3Model", QWEN, cuts=(16,),
                            st=sentence("lasttoken", prompts=dict(query=QWEN_QUERY, document=""))),
    "qwen3_reranker": Case("Qwen3ForCausalLM", QWEN, answer=(7, 11)),
}


# ---- wrong in one thing: what; how, to what, by what -----------------------------------------------------------------

def key(what, name, has, gets):
    return what, "config", f'"{name}": {has}', f'"{name}": {gets}'


def flat(what, tensor, value="1"):
    return what, "set", tensor, value


def swapped(what, tensor, by):
    return what, "swap", tensor, str(by)


def pooling(has, gets):
    """Two words of 1_Pooling/config.json, the one true, the other false, trade places."""
    return f"{gets} for {has}", "1_Pooling/config.json", f'"pooling_mode_{has}": true', f'"pooling_mode_{gets}": true'


EPS = key("an epsilon of 0.01", "norm_eps", "1e-05", "0.01")
SILU = key("silu", "hidden_act", '"gelu"', '"silu"')
WRONG = {
    "nomic": [
        key("theta 10000", "rotary_emb_base", "1000", "10000"), ("gate for up", "trade", "fc11", "fc12"),
        flat("no types", "token_type", "0"), flat("no norm of the embeddings", "emb_ln.weight"),
        flat("no bias of it", "emb_ln.bias", "0"), flat("no norm behind attention", "norm1.weight"),
        flat("no bias behind the mlp", "norm2.bias", "0"),
        key("an epsilon of 0.1", "layer_norm_epsilon", "1e-12", "0.1"), swapped("heads traded", "Wqkv", 256),
        pooling("mean_tokens", "cls_token")],
    "nomic2": [key("theta 1000", "rope_theta", "500.0", "1000.0"), ("gate for up", "trade", "gate_proj", "up_proj")],
    "nomic_mlm": [
        flat("no layer in the head", "transform.layer_norm.weight"),
        flat("no bias of the head's norm", "transform.layer_norm.bias", "0")],
    "nomic_cls": [flat("no bias of the pooler", "pooler.dense.bias", "0")],
    "nomic_mlm2": [
        flat("no bias of the words", "predictions.bias", "0"),
        flat("no bias in the head's layer", "transform.dense.bias", "0")],
    "modernbert": [
        key("5 to either side", "local_attention", "8", "10"), key("3 to either side", "local_attention", "8", "6"),
        key("local theta everywhere", "global_rope_theta", "160000.0", "10000.0"),
        key("global theta everywhere", "local_rope_theta", "10000.0", "160000.0"),
        key("every second layer is global", "global_attn_every_n_layers", "3", "2"),
        key("silu", "hidden_activation", '"gelu"', '"silu"'), EPS, swapped("gate for up", "mlp.Wi", 1024),
        flat("no norm of the embeddings", "embeddings.norm"), flat("no norm before attention", "attn_norm"),
        flat("no final norm", "final_norm"), flat("no norm in the head", "head.norm"),
        flat("no bias of the words", "decoder.bias", "0"),
        key("relu in the head", "classifier_activation", '"gelu"', '"relu"')],
    "modernbert2": [
        key("4 to either side", "local_attention", "10", "8"),
        ("layer 0 is global", "config", '    "sliding_attention"', '    "full_attention"')],
    "modernbert_body": [pooling("mean_tokens", "cls_token")],
    "modernbert_cls": [
        key("pooling by mean", "classifier_pooling", '"cls"', '"mean"'),
        flat("no bias of the classifier", "classifier.bias", "0")],
    "modernbert_tokens": [flat("no norm in the head", "head.norm")],
    "modernbert_mean": [key("pooling by cls", "classifier_pooling", '"mean"', '"cls"')],
    "eurobert": [
        key("theta 10000", "rope_theta", "250000", "10000"), key("an epsilon of 0.1", "rms_norm_eps", "1e-05", "0.1"),
        ("gate for up", "trade", "gate_proj", "up_proj"), flat("no final norm", "model.norm.weight")],
    "eurobert_bos": [
        key("late pooling", "clf_pooling", '"bos"', '"late"'),
        key("pooling by mean", "clf_pooling", '"bos"', '"mean"')],
    "eurobert_mean": [key("late pooling", "classifier_pooling", '"mean"', '"late"')],
    "eurobert_late": [
        key("pooling by mean", "clf_pooling", '"late"', '"mean"'), flat("no bias of its layer", "dense.bias", "0")],
    "neobert": [
        key("an epsilon of 0.1", "norm_eps", "1e-05", "0.1"), swapped("gate for up", "ffn.w12", 1024),
        swapped("q and k of a head traded", "qkv", 256), flat("no final norm", "layer_norm"),
        flat("no bias of the words", "decoder.bias", "0"), pooling("cls_token", "mean_tokens")],
    "neobert_cls": [flat("no bias of its layer", "dense.bias", "0")],
    "gte": [
        key("theta 10000", "rope_theta", "20000", "10000"), key("no factor", "factor", "8.0", "1.0"),
        key("another factor", "factor", "8.0", "7.0"), SILU, swapped("gate for up", "up_gate_proj", 1024),
        flat("no type", "token_type", "0"), flat("no bias in q, k, v", "qkv_proj.bias", "0"),
        flat("no bias of down", "down_proj.bias", "0"), flat("no norm behind attention", "attn_ln.weight"),
        pooling("cls_token", "mean_tokens")],
    "gte2": [
        key("no linear factor", "factor", "1.681792830507429", "1.0"),
        ("gate for up", "trade", "gate_proj", "up_proj")],
    "gte_arctic": [key("theta 10000", "rope_theta", "160000", "10000")],
    "gte_english": [key("no factor", "factor", "2.0", "1.0")],
    "gte_tokens": [flat("no bias of the classifier", "classifier.bias", "0")],
    "gte_mlm": [flat("no norm in the head", "lm_head.norm.weight")],
    "gte_reranker": [
        flat("no bias of the pooler", "pooler.dense.bias", "0"),
        flat("no bias of the classifier", "classifier.bias", "0")],
    "jina_v3": [
        key("theta 10000", "rotary_emb_base", "20000.0", "10000.0"), SILU,
        flat("no type", "token_type_embeddings.", "0"), flat("no bias in q, k, v", "Wqkv.bias", "0"),
        flat("no bias of the mlp", "fc2.bias", "0"), flat("no norm behind the mlp", "norm2.weight"),
        pooling("mean_tokens", "lasttoken")],
    "jina_v3.retrieval.query": [
        key("LoRA as it is", "lora_alpha", "1", "2"),
        flat("no LoRA of the words", "word_embeddings.parametrizations.weight.0.lora_A", "0"),
        flat("no LoRA of the type", "token_type_embeddings.parametrizations.weight.0.lora_A", "0"),
        flat("no LoRA of q, k, v", "Wqkv.parametrizations.weight.0.lora_B", "0"),
        flat("no LoRA of fc2", "fc2.parametrizations.weight.0.lora_B", "0")],
    "jina_v3.text-matching": [flat("no LoRA of the output", "out_proj.parametrizations.weight.0.lora_B", "0")],
    "jina_v3_mlm": [flat("no bias of the words", "lm_head.bias", "0")],
    "jina_v3_cls": [flat("no bias of its layer", "classifier.dense.bias", "0")],
    "embeddinggemma": [
        key("5 to either side", "sliding_window", "8", "10"), key("3 to either side", "sliding_window", "8", "6"),
        key("a causal mask", "use_bidirectional_attention", "true", "false"),
        key("local theta everywhere", "rope_theta", "1000000.0", "10000.0"),
        key("global theta everywhere", "rope_local_base_freq", "10000.0", "1000000.0"),
        ("1 is not added to norms", "add", "norm.weight", "-1"),
        ("a full layer slides", "config", '"full_attention"', '"sliding_attention"'),
        pooling("mean_tokens", "cls_token"), flat("no second dense layer", "3_Dense.linear.weight", "0.125")],
    "qwen3_embedding": [pooling("lasttoken", "mean_tokens")],
    "qwen3_reranker": [key("theta 10000", "rope_theta", "1000000", "10000")],
}
