"""The cases of architectures.py: tiny models of forty architectures, each with the settings that only it has.

A case names transformers' class and what its config says beside decoders.BASE. Windows are 8, so that 33 ids cross
them; scales, caps and thetas are such that each matters. WRONG lists models that are wrong in one thing.
"""
import dataclasses, typing
import decoders

DROP = object()  # an older config.json has no such key
WINDOW = [(33, p) for p in (0, 7, 8, 9, 16, 32)]  # rows: length of the call, position; a window first cuts 8
GROWING = [(n, n - 1) for n in (1, 7, 16, 17, 33, 40)]  # longrope changes its mind behind 16
CHUNKS = [(72, p) for p in (0, 3, 31, 63, 64, 71)]  # 4 ids a convolution, 64 a chunk


@dataclasses.dataclass
class Case:
    model: str  # transformers' class
    keys: dict
    old: typing.Callable = lambda t: {}  # what an older config.json says otherwise; None: there never was an older one
    no_gguf: str = ""  # why llama.cpp's converter cannot say it
    rows: list = dataclasses.field(default_factory=lambda: WINDOW)
    seed: int = 2104  # of the ids; another was searched for where float32 is rough
    as_module: bool = False  # tensors are called as the module calls them, not as save_pretrained would
    rename: tuple = ()  # a part of a tensor's name, and what the file has instead
    more: dict = dataclasses.field(default_factory=dict)  # tensors that the file has beside the model's: name, shape
    published: typing.Any = None  # how a model's own code, which transformers has not, spells what a class of it computes
    repeat: tuple = ()  # tensors whose name holds this repeat after so many values
    flat: bool = False  # the older config.json has the text's keys beside vision_config


def rope(theta=10000.0, kind="default", **keys):
    return dict(rope_type=kind, rope_theta=theta, **keys)


def by_layer(local, full):
    return dict(sliding_attention=local, full_attention=full)


def wrapped(text, vision, **keys):
    """A vision model's config around a text model's."""
    return dict(text_config=text, vision_config=vision, **keys)


def keep(*keys, **more):
    """An older config.json that has these of the newer one's keys, and more."""
    return lambda t: {**{k: t[k] for k in keys}, **more}


# ---- what cases share -----------------------------------------------------------------------------------------------

GQA, WIDE, TIED = dict(num_key_value_heads=2), dict(decoders.WIDE), dict(tie_word_embeddings=True)
SLIDING, FULL, LINEAR = "sliding_attention", "full_attention", "linear_attention"
YARN = dict(kind="yarn", factor=4.0, original_max_position_embeddings=16)
LLAMA3 = dict(kind="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)
LISTS = dict(short_factor=decoders.SHORT[:6], long_factor=decoders.LONG[:6])

GEMMA = dict(**TIED, sliding_window=8)
GEMMA2 = dict(**GEMMA, **GQA, head_dim=12, query_pre_attn_scalar=12, attn_logit_softcapping=2.0,
              final_logit_softcapping=8.0)
GEMMA3 = dict(**GEMMA, **WIDE, head_dim=16, intermediate_size=32, query_pre_attn_scalar=16,
              rope_parameters=by_layer(rope(100.0), rope(1000.0, "linear", factor=8.0)))
GEMMA4 = dict(**GEMMA, **WIDE, head_dim=8, global_head_dim=16, intermediate_size=32, num_hidden_layers=4,
              final_logit_softcapping=8.0, hidden_size_per_layer_input=0, vocab_size_per_layer_input=96,
              layer_types=[SLIDING, FULL, SLIDING, FULL],
              rope_parameters=by_layer(rope(100.0), rope(1000.0, "proportional", partial_rotary_factor=0.25)))
ONE_OF_EACH = dict(num_hidden_layers=2, layer_types=[SLIDING, FULL])
BARE_GEMMA3 = dict(hidden_size=32, intermediate_size=32, num_hidden_layers=1, sliding_window=8, vocab_size=96,
                   rope_parameters=by_layer(rope(), rope(1e6, "linear", factor=8.0)))
MINISTRAL3 = dict(**WIDE, head_dim=16, model_type="ministral3", rope_parameters=rope(
    100.0, **YARN, llama_4_scaling_beta=0.3, mscale=1.0, mscale_all_dim=1.0))
MIXTRAL = dict(**GQA, num_local_experts=4, num_experts_per_tok=2)
EXPERTS = dict(num_experts=6, num_experts_per_tok=2, moe_intermediate_size=16)
SHARED = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, shared_expert_intermediate_size=16)
DELTA = dict(**WIDE, head_dim=16, num_hidden_layers=3, full_attention_interval=3, layer_types=[LINEAR, LINEAR, FULL],
             linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8,
             linear_conv_kernel_dim=4, rope_parameters=rope(100.0, partial_rotary_factor=0.25))
QWEN_VL = dict(DELTA, mtp_num_hidden_layers=1, attn_output_gate=True, mamba_ssm_dtype="float32", rope_parameters=dict(
    DELTA["rope_parameters"], mrope_interleaved=True, mrope_section=[1, 1, 0]))
STABLE = dict(**WIDE, rope_parameters=rope(partial_rotary_factor=0.25))
OSS = dict(**GQA, head_dim=16, intermediate_size=32, num_local_experts=4, num_experts_per_tok=2, sliding_window=8,
           rope_parameters=rope(100.0, **YARN, truncate=False, beta_fast=2.0, beta_slow=0.5))
ONE = dict(num_hidden_layers=1)
SCALES = dict(embedding_multiplier=3.0, residual_multiplier=0.5, attention_multiplier=0.25, logits_scaling=2.0)
ROUTED = dict(n_routed_experts=3, num_experts_per_tok=2, moe_intermediate_size=16, n_shared_experts=2,
              routed_scaling_factor=1.5, first_k_dense_replace=1)
MLA = dict(q_lora_rank=12, kv_lora_rank=16, qk_rope_head_dim=4, qk_nope_head_dim=6, v_head_dim=10, rms_norm_eps=1e-6)
LATENT = dict(MLA, n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=16, n_shared_experts=1,
              routed_scaling_factor=1.5, first_k_dense_replace=1)
MXFP4 = dict(quant_method="mxfp4", modules_to_not_convert=["model.layers.*.self_attn"])

# Towers that nobody looks into.
SIGLIP = dict(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2, image_size=8,
              patch_size=4)
PIXTRAL = dict(SIGLIP, model_type="pixtral", head_dim=4)
QWEN_VISION = dict(depth=1, hidden_size=8, intermediate_size=8, num_heads=2, patch_size=4, out_hidden_size=32,
                   num_position_embeddings=4)
QWEN2_VISION = dict(depth=1, embed_dim=8, hidden_size=32, mlp_ratio=1, num_heads=2, patch_size=4)
QWEN25_VISION = dict(depth=1, hidden_size=8, intermediate_size=8, num_heads=2, patch_size=4, out_hidden_size=32)
# Qwen 3.5 guesses the token after the next, too: transformers skips that, llama.cpp's converter makes a block of it.
MTP = {"mtp.fc.weight": (32, 64), "mtp.norm.weight": (32,)}
MTP |= {f"mtp.pre_fc_norm_{x}.weight": (32,) for x in ("embedding", "hidden")}
MTP |= {f"mtp.layers.0.{x}.weight": shape for x, shape in {
    "input_layernorm": (32,), "self_attn.q_proj": (64, 32), "self_attn.k_proj": (16, 32), "self_attn.v_proj": (16, 32),
    "self_attn.o_proj": (32, 32), "self_attn.q_norm": (16,), "self_attn.k_norm": (16,),
    "post_attention_layernorm": (32,), "mlp.gate_proj": (48, 32), "mlp.up_proj": (48, 32),
    "mlp.down_proj": (32, 48)}.items()}

# So does GLM 4.5, in a layer behind the last.
GLM_DRAFT = {f"model.layers.2.{x}.weight": shape for x, shape in {
    "eh_proj": (32, 64), "enorm": (32,), "hnorm": (32,), "shared_head.norm": (32,)}.items()}

# Keys and values of the layers that take an earlier one's, which Gemma 4's files have and nobody computes with.
LENT = {f"model.layers.{l}.self_attn.{x}.weight": shape for l, d in ((2, 8), (3, 16)) for x, shape in {
    "k_proj": (d, 32), "v_proj": (d, 32), "k_norm": (d,)}.items()}


def gemma(**more):
    return keep(cache_implementation="hybrid", tie_word_embeddings=DROP, **more)


def neox(share, theta):
    return keep(rotary_pct=share, rotary_emb_base=theta, rope_theta=DROP, partial_rotary_factor=DROP, rope_scaling=DROP)


def bare_gemma3(t):
    """What google/gemma-3-4b-it says of its text model, and no more: all else is Gemma3TextConfig's default."""
    said = ("hidden_size", "intermediate_size", "model_type", "num_hidden_layers", "sliding_window", "vocab_size")
    gone = [k for k in t if k not in said] + ["rope_theta", "rope_local_base_freq"]
    return {k: DROP for k in gone} | dict(rope_scaling=dict(factor=8.0, rope_type="linear"))


SU = keep("original_max_position_embeddings", rope_scaling=dict(LISTS, type="su"))
# Nothing of RoPE, so that the class's own object counts, or half of it.
BARE = keep(rope_scaling=None, rope_theta=DROP)
BARE_SU = keep(original_max_position_embeddings=DROP, rope_scaling=dict(LISTS, type="yarn",
                                                                        original_max_position_embeddings=16))
SAYS_ALL = "a file says what the class has meant"
ALPHA = keep(use_qk_norm=True, rope_scaling=dict(alpha=50.0, beta_fast=32, beta_slow=1, factor=1.0, mscale=1.0,
                                                 mscale_all_dim=1.0, type="dynamic"))
MROPE = keep(rope_scaling=dict(mrope_section=[2, 1, 1], type="mrope"))
HUB_EXPERTS = keep(num_local_experts=DROP, num_experts=6)  # the name on the Hub, which transformers 5.24 changed
HUB_OSS = keep("layer_types", experts_per_token=2, initial_context_length=16, swiglu_alpha=DROP)


def renamed(name, names):
    for a, b in names.items():
        name = name.replace(a, b)
    return name


class InternLM2:
    """A Llama: a key head's queries, its key and its value stand together."""
    names = {"model.tok_embeddings.": "model.embed_tokens.", "output.": "lm_head.", ".attention.wo.": ".self_attn.o_proj.",
             ".attention_norm.": ".input_layernorm.", ".ffn_norm.": ".post_attention_layernorm.",
             ".feed_forward.w1.": ".mlp.gate_proj.", ".feed_forward.w3.": ".mlp.up_proj.",
             ".feed_forward.w2.": ".mlp.down_proj."}

    def config(c):
        p = c.pop("rope_parameters")
        return c | dict(architectures=["InternLM2ForCausalLM"], model_type="internlm2", bias=False, rope_scaling=None,
                        rope_theta=p["rope_theta"])

    def shapes(shapes):
        out = {}
        for name, shape in shapes.items():
            name = renamed(name, {old: new for new, old in InternLM2.names.items()})
            if ".self_attn.q_proj." in name:
                k = shapes[name.replace("q_proj", "k_proj")]
                name, shape = name.replace("self_attn.q_proj", "attention.wqkv"), (shape[0] + 2 * k[0], shape[1])
            if ".self_attn." not in name:
                out[name] = shape
        return out

    def tensors(config, tensors):
        heads, kv = config["num_attention_heads"], config["num_key_value_heads"]
        out = {}
        for name, t in tensors.items():
            if "wqkv" in name:
                t = t.reshape(kv, heads // kv + 2, -1, t.shape[-1])
                for key, part in zip("qkv", (t[:, :-2], t[:, -2], t[:, -1])):
                    out[name.replace("attention.wqkv", f"self_attn.{key}_proj")] = part.reshape(-1, t.shape[-1])
                continue
            out[renamed(name, InternLM2.names)] = t
        return out


class Exaone:
    """A Llama, in transformers as well (conversion_mapping.py)."""
    names = {"transformer.wte.": "model.embed_tokens.", "transformer.ln_f.": "model.norm.",
             "transformer.h.": "model.layers.", ".attn.attention.out_proj.": ".self_attn.o_proj.",
             ".attn.attention.": ".self_attn.", ".ln_1.": ".input_layernorm.", ".ln_2.": ".post_attention_layernorm.",
             ".mlp.c_fc_0.": ".mlp.gate_proj.", ".mlp.c_fc_1.": ".mlp.up_proj.", ".mlp.c_proj.": ".mlp.down_proj."}

    def config(c):
        p = c.pop("rope_parameters")
        return c | dict(architectures=["ExaoneForCausalLM"], model_type="exaone", num_layers=c.pop("num_hidden_layers"),
                        layer_norm_epsilon=c.pop("rms_norm_eps"), activation_function=c.pop("hidden_act"),
                        rope_theta=p.pop("rope_theta"), rope_scaling=p)

    def shapes(shapes):
        return {renamed(name, {b: a for a, b in Exaone.names.items()}): shape for name, shape in shapes.items()}

    def tensors(config, tensors):
        return {renamed(name, Exaone.names): t for name, t in tensors.items()}


class MiniCPM:
    """A Granite, in numbers of its own."""
    def config(c):
        p = c.pop("rope_parameters")
        c |= dict(architectures=["MiniCPMForCausalLM"], model_type="minicpm", rope_scaling=None, rope_theta=p["rope_theta"],
                  scale_emb=c.pop("embedding_multiplier"), scale_depth=c.pop("residual_multiplier") * c["num_hidden_layers"] ** 0.5,
                  dim_model_base=c["hidden_size"] / c.pop("logits_scaling"))
        c.pop("attention_multiplier")
        return c

    def shapes(shapes):
        return shapes

    def tensors(config, tensors):
        return tensors


# ---- the cases ------------------------------------------------------------------------------------------------------

CASES = {
    "gemma": Case("GemmaForCausalLM", dict(**TIED, **GQA, head_dim=12), keep(
        hidden_act="gelu", hidden_activation=DROP, tie_word_embeddings=DROP)),
    "gemma2": Case("Gemma2ForCausalLM", GEMMA2, gemma()),
    "gemma2_scalar": Case(
        "Gemma2ForCausalLM", dict(GEMMA2, query_pre_attn_scalar=20), gemma(),
        "no key for query_pre_attn_scalar: head_dim is meant, but in files of 46 layers"),
    "gemma2_nocap": Case(
        "Gemma2ForCausalLM", dict(GEMMA2, attn_logit_softcapping=None, final_logit_softcapping=None), gemma(),
        "the converter wants numbers"),
    "gemma3": Case(
        "Gemma3ForCausalLM", dict(GEMMA3, num_hidden_layers=4, query_pre_attn_scalar=24, sliding_window_pattern=3),
        gemma(sliding_window_pattern=3), "the converter writes no pattern, for which 6 is taken, and no scalar"),
    "gemma3_six": Case("Gemma3ForCausalLM", dict(GEMMA3, num_hidden_layers=6), gemma(sliding_window_pattern=6)),
    "gemma3_vision": Case(
        "Gemma3ForConditionalGeneration",
        wrapped(dict(GEMMA3, num_hidden_layers=2), SIGLIP, mm_tokens_per_image=1, **TIED), gemma(), as_module=True),
    "gemma3_vision_old": Case(
        "Gemma3ForConditionalGeneration", wrapped(BARE_GEMMA3, SIGLIP, mm_tokens_per_image=1), bare_gemma3),
    "phi3": Case("Phi3ForCausalLM", dict(**GQA, intermediate_size=32, sliding_window=8)),
    "phi3_long": Case(
        "Phi3ForCausalLM", dict(**WIDE, original_max_position_embeddings=16, rope_parameters=rope(
            kind="longrope", partial_rotary_factor=0.75, **LISTS)), SU, rows=GROWING),
    "phi3_bare": Case(
        "Phi3ForCausalLM", dict(**WIDE, max_position_embeddings=8192, rope_parameters=rope(
            kind="longrope", partial_rotary_factor=0.75, **LISTS)), BARE_SU, "a longer context than is meant"),
    "smollm3": Case(
        "SmolLM3ForCausalLM", dict(**GQA, **TIED, num_hidden_layers=4, rope_parameters=rope(5000.0)),
        keep("no_rope_layers", tie_word_embeddings=DROP)),
    "smollm3_list": Case(
        "SmolLM3ForCausalLM",
        dict(**GQA, **TIED, num_hidden_layers=3, no_rope_layers=[1, 0, 1], use_sliding_window=True, sliding_window=8),
        keep("no_rope_layers", tie_word_embeddings=DROP),
        "no key for the layers without RoPE, each fourth is meant; none for a window"),
    "olmo2": Case("Olmo2ForCausalLM", dict(**GQA, rope_parameters=rope(500.0))),
    "olmo3": Case(
        "Olmo3ForCausalLM", dict(**WIDE, num_hidden_layers=4, sliding_window=8, rope_parameters=by_layer(
            rope(500000.0), rope(500000.0, **YARN, attention_factor=1.2))),
        keep("layer_types", rope_local_base_freq=DROP)),
    "granite": Case("GraniteForCausalLM", dict(
        **GQA, embedding_multiplier=3.0, residual_multiplier=0.5, attention_multiplier=0.25, logits_scaling=2.0)),
    "ministral": Case(
        "MinistralForCausalLM", dict(**GQA, head_dim=8, sliding_window=8, layer_types=[SLIDING, FULL]),
        keep("layer_types"), "no converter"),
    "ministral3": Case("Ministral3ForCausalLM", MINISTRAL3, None),
    "ministral3_bare": Case("Ministral3ForCausalLM", dict(**WIDE, head_dim=16, rope_parameters=None), BARE, SAYS_ALL),
    "mistral3": Case(
        "Mistral3ForConditionalGeneration", wrapped(MINISTRAL3, PIXTRAL, tie_word_embeddings=False), None),
    "mistral3_small": Case("Mistral3ForConditionalGeneration", wrapped(
        dict(**GQA, head_dim=16, model_type="mistral", sliding_window=None), PIXTRAL, tie_word_embeddings=False)),
    "qwen3moe": Case("Qwen3MoeForCausalLM", dict(**GQA, **EXPERTS, head_dim=16, norm_topk_prob=True), HUB_EXPERTS),
    "qwen3moe_raw": Case(
        "Qwen3MoeForCausalLM",
        dict(**GQA, **EXPERTS, head_dim=16, num_hidden_layers=3, norm_topk_prob=False, mlp_only_layers=[1]),
        HUB_EXPERTS, "no key for norm_topk_prob, no layers without experts"),
    "mixtral": Case("MixtralForCausalLM", MIXTRAL),
    "mixtral_module": Case("MixtralForCausalLM", MIXTRAL, None, "mixtral has it", as_module=True),
    "mixtral_ties": Case("MixtralForCausalLM", MIXTRAL, repeat=("gate.weight", 96)),
    "qwen35": Case("Qwen3_5ForCausalLM", dict(**DELTA, **TIED), None, rows=CHUNKS),
    "qwen35_gelu": Case("Qwen3_5ForCausalLM", dict(**DELTA, **TIED, hidden_act="gelu"), None,
                        "no key for an activation", rows=CHUNKS),
    "qwen35_vision": Case(
        "Qwen3_5ForConditionalGeneration", wrapped(QWEN_VL, QWEN_VISION), None, rows=CHUNKS, more=MTP),
    "qwen35_inner": Case(
        "Qwen3_5ForConditionalGeneration", wrapped(QWEN_VL, QWEN_VISION), None, "names as in qwen35_vision's",
        rows=CHUNKS, rename=("model.language_model.", "language_model.")),
    "qwen35moe": Case(
        "Qwen3_5MoeForCausalLM", dict(**DELTA, **SHARED), None, rows=CHUNKS, seed=2140, as_module=True),
    "qwen35moe_each": Case("Qwen3_5MoeForCausalLM", dict(**DELTA, **SHARED), None, rows=CHUNKS, seed=2105),
    "qwen3next": Case(
        "Qwen3NextForCausalLM", dict(**DELTA, **SHARED), keep("full_attention_interval"), rows=CHUNKS, seed=2120),
    "qwen2_vl": Case("Qwen2VLForConditionalGeneration", wrapped(
        dict(**GQA, rope_parameters=rope(mrope_section=[2, 1, 1])), QWEN2_VISION), MROPE, flat=True),
    "qwen2_5_vl": Case("Qwen2_5_VLForConditionalGeneration", wrapped(
        dict(**GQA, rope_parameters=rope(mrope_section=[2, 1, 1])), QWEN25_VISION, **TIED), MROPE, flat=True),
    "qwen3_vl": Case("Qwen3VLForConditionalGeneration", wrapped(
        dict(**GQA, head_dim=16, rope_parameters=rope(mrope_section=[3, 3, 2], mrope_interleaved=True)),
        dict(QWEN_VISION, deepstack_visual_indexes=[0]))),
    "internlm2": Case("LlamaForCausalLM", dict(**GQA, rope_parameters=rope(500.0)), None, published=InternLM2),
    "exaone": Case("LlamaForCausalLM", dict(**GQA, **TIED, rope_parameters=rope(500.0, **LLAMA3)), None,
                   published=Exaone),
    "minicpm": Case("GraniteForCausalLM", dict(
        **GQA, **TIED, embedding_multiplier=12.0, residual_multiplier=0.5, attention_multiplier=8 ** -0.5,
        logits_scaling=8.0), None, published=MiniCPM),
    "ernie4_5": Case("Ernie4_5ForCausalLM", dict(**GQA, **TIED, head_dim=16)),
    "exaone4": Case(
        "Exaone4ForCausalLM", dict(**GQA, num_hidden_layers=4, sliding_window=8, sliding_window_pattern="LLLG",
                                   layer_types=[SLIDING] * 3 + [FULL]), keep("layer_types")),
    "exaone4_full": Case(
        "Exaone4ForCausalLM", dict(**WIDE, **TIED, sliding_window=None, sliding_window_pattern=None,
                                   layer_types=[FULL] * 2, rope_parameters=rope(500.0, **LLAMA3)), keep("layer_types")),
    "seed_oss": Case("SeedOssForCausalLM", dict(**GQA, head_dim=16)),
    "hunyuan": Case(
        "HunYuanDenseV1ForCausalLM", dict(**WIDE, **TIED, head_dim=16, max_position_embeddings=32768,
                                          rope_parameters=rope(kind="dynamic", alpha=50.0, factor=1.0)), ALPHA),
    "hunyuan_linear": Case(
        "HunYuanDenseV1ForCausalLM", dict(**WIDE, **TIED, head_dim=16, rope_parameters=rope(
            kind="linear", alpha=50.0, factor=4.0)), no_gguf="the converter asks alpha whatever the kind"),
    "stablelm": Case("StableLmForCausalLM", dict(**STABLE, use_qkv_bias=True)),
    "stablelm_par": Case("StableLmForCausalLM", dict(**STABLE, use_parallel_residual=True, qk_layernorm=True)),
    "glm4": Case("Glm4ForCausalLM", dict(**WIDE, head_dim=16, intermediate_size=32,
                                         rope_parameters=rope(partial_rotary_factor=0.5))),
    "arcee": Case("ArceeForCausalLM", dict(**GQA, head_dim=16, rope_parameters=rope(100.0, **YARN))),
    "gpt_oss": Case("GptOssForCausalLM", OSS, HUB_OSS),
    "gpt_oss_bare": Case("GptOssForCausalLM", dict(OSS, rope_parameters=None), BARE, SAYS_ALL),
    "gpt_oss_mxfp4": Case("GptOssForCausalLM", dict(
        OSS, hidden_size=64, intermediate_size=64, quantization_config=MXFP4), HUB_OSS),
    "gpt_neox": Case(
        "GPTNeoXForCausalLM", dict(**WIDE, rope_parameters=rope(partial_rotary_factor=0.25)), neox(0.25, 10000.0),
        more={"gpt_neox.layers.0.attention.masked_bias": (1,)}),
    "gpt_neox_serial": Case(
        "GPTNeoXForCausalLM", dict(use_parallel_residual=False, attention_bias=False, hidden_act="gelu_new", **TIED,
                                   rope_parameters=rope(100.0, partial_rotary_factor=1.0)), neox(1.0, 100.0),
        "no key for an activation; the converter asks for biases"),
    "phi": Case("PhiForCausalLM", dict(num_attention_heads=2, num_key_value_heads=2, intermediate_size=128,
                                       rope_parameters=rope(partial_rotary_factor=0.5))),
    "lfm2": Case("Lfm2ForCausalLM", dict(
        **WIDE, **TIED, num_hidden_layers=3, layer_types=["conv", "conv", FULL], block_auto_adjust_ff_dim=False,
        norm_eps=1e-5, rope_parameters=rope(500.0)), keep(full_attn_idxs=[2], rope_scaling=DROP)),
    "lfm2_width": Case("Lfm2ForCausalLM", dict(
        **WIDE, **TIED, layer_types=[FULL, "conv"], intermediate_size=48, block_ffn_dim_multiplier=1.5,
        block_multiple_of=32, conv_L_cache=4, rope_parameters=rope(500.0)),
        keep(block_ff_dim=48, intermediate_size=DROP, full_attn_idxs=[0], rope_scaling=DROP)),
    "starcoder2": Case("Starcoder2ForCausalLM", dict(**GQA, tie_word_embeddings=True)),
    "starcoder2_window": Case(
        "Starcoder2ForCausalLM", dict(**GQA, sliding_window=8, use_bias=False, tie_word_embeddings=False),
        no_gguf="no key for a window"),
    "cohere": Case("CohereForCausalLM", dict(**GQA, **TIED, logit_scale=0.5, rope_parameters=rope(500.0))),
    "cohere_norms": Case("CohereForCausalLM", dict(**GQA, **TIED, use_qk_norm=True, logit_scale=0.25,
                                                   attention_bias=True, rope_parameters=rope(500.0))),
    "cohere2": Case("Cohere2ForCausalLM", dict(
        **GQA, **TIED, num_hidden_layers=4, sliding_window=8, logit_scale=0.5, rotary_pct=1.0,
        rope_parameters=rope(500.0)), keep("rotary_pct", sliding_window_pattern=4)),
    "olmo": Case("OlmoForCausalLM", dict(**GQA, clip_qkv=0.75)),
    "nemotron": Case("NemotronForCausalLM", dict(**WIDE, head_dim=16, rope_parameters=rope(
        partial_rotary_factor=0.5))),
    "nemotron_biases": Case("NemotronForCausalLM", dict(**GQA, attention_bias=True, mlp_bias=True, rope_parameters=rope(
        partial_rotary_factor=0.5)), no_gguf="llama.cpp has no biases of q, k and v here"),
    "olmoe": Case("OlmoeForCausalLM", dict(
        **ONE, num_experts=3, num_experts_per_tok=2, intermediate_size=16), None),
    "qwen2moe": Case("Qwen2MoeForCausalLM", dict(SHARED, **GQA, **ONE, num_experts=3), None),
    "granitemoe": Case("GraniteMoeSharedForCausalLM", dict(
        **GQA, **ONE, **SCALES, num_local_experts=4, num_experts_per_tok=2, intermediate_size=16,
        shared_intermediate_size=8), None),
    "ernie4_5_moe": Case("Ernie4_5_MoeForCausalLM", dict(
        **GQA, **TIED, intermediate_size=64, moe_num_experts=4, moe_k=2, moe_intermediate_size=16,
        moe_num_shared_experts=2), None),
    "lfm2_moe": Case("Lfm2MoeForCausalLM", dict(
        **WIDE, **TIED, num_hidden_layers=3, layer_types=["conv", FULL, "conv"], num_dense_layers=1, num_experts=4,
        num_experts_per_tok=2, moe_intermediate_size=16, norm_eps=1e-5, rope_parameters=rope(500.0)), None),
    "dots1": Case("Dots1ForCausalLM", dict(**ROUTED, norm_topk_prob=False, scoring_func="sigmoid"), None),
    "glm4_moe": Case("Glm4MoeForCausalLM", dict(
        **WIDE, **ROUTED, attention_bias=True, use_qk_norm=True, rope_parameters=rope(partial_rotary_factor=0.5)),
        None, more=GLM_DRAFT),
    "deepseek_v2": Case("DeepseekV2ForCausalLM", dict(LATENT, q_lora_rank=None, rope_parameters=rope(
        100.0, **YARN, mscale=0.707, mscale_all_dim=0.707)), None),
    "deepseek_v2_groups": Case("DeepseekV2ForCausalLM", dict(
        LATENT, n_group=3, topk_group=2, topk_method="group_limited_greedy", num_experts_per_tok=3,
        first_k_dense_replace=0), None, no_gguf="llama.cpp rates a group by two of its experts, the model by its best"),
    "deepseek_v3": Case("DeepseekV3ForCausalLM", dict(
        LATENT, n_group=3, topk_group=1, scoring_func="sigmoid", rope_parameters=rope(
            100.0, **YARN, mscale=1.0, mscale_all_dim=1.0)), None),
    "glm4_moe_lite": Case("Glm4MoeLiteForCausalLM", dict(
        {k: v for k, v in LATENT.items() if k != "first_k_dense_replace"}, n_group=1, topk_group=1, rms_norm_eps=1e-5,
        mlp_layer_types=["dense", "sparse"]), None, no_gguf="llama.cpp takes one epsilon for all norms"),
    "youtu": Case("YoutuForCausalLM", dict(**MLA, **TIED, **ONE, pad_token_id=None), None),  # whose row is made 0
    "mistral4": Case("Mistral4ForCausalLM", dict(LATENT, n_group=2, topk_group=1, rope_parameters=rope(
        100.0, **YARN, llama_4_scaling_beta=0.3, mscale=1.0, mscale_all_dim=1.0)), None,
        no_gguf="the converter knows it in a model that sees pictures alone"),
    "minicpm3": Case("MiniCPM3ForCausalLM", dict(MLA, **TIED, **ONE, v_head_dim=8), None),
    "granite_hybrid": Case("GraniteMoeHybridForCausalLM", dict(
        **GQA, **TIED, **SCALES, **ONE, layer_types=[FULL], num_local_experts=0, num_experts_per_tok=0, mamba_n_heads=4,
        mamba_d_head=16, shared_intermediate_size=32, position_embedding_type="rope"), None, rows=[(33, 32)]),
    "gemma4": Case("Gemma4ForCausalLM", dict(
        GEMMA4, hidden_size_per_layer_input=8, num_kv_shared_layers=2, use_double_wide_mlp=True), None, more=LENT),
    "gemma4_moe": Case("Gemma4ForCausalLM", dict(
        {**GEMMA4, **ONE_OF_EACH}, num_attention_heads=4, num_key_value_heads=2, num_global_key_value_heads=1,
        attention_k_eq_v=True, enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=16), None),
    "llama_bare": Case("LlamaModel", dict(**GQA, **TIED)),
    "llama_lm_head_only": Case(
        "LlamaForCausalLM", dict(**GQA, **TIED), no_gguf="the converter looks for embeddings",
        rename=("model.embed_tokens", "lm_head")),
}


# ---- wrong in one thing: what; how, to what, by what ----------------------------------------------------------------

def window(by):
    return f"a window of {by}", "config", '"sliding_window": 8', f'"sliding_window": {by}'


def key(what, name, has, gets):
    return what, "config", f'"{name}": {has}', f'"{name}": {gets}'


def bare(what, *tensors, value="0"):
    return [(f"no {what} in {t}" if len(tensors) > 1 else f"no {what}", "set", t, value) for t in tensors]


NO_Q_NORM, NO_K_NORM = bare("q norm", "q_norm.weight", value="1") + bare("k norm", "k_norm.weight", value="1")
NO_Q_LAYERNORM = bare("q norm", "q_layernorm.weight", value="1")[0]
NO_ONE, NO_YARN = ("1 is not added to norms", "add", "norm.weight", "-1"), ("no yarn", "config", '"yarn"', '"default"')
LAYER_SLIDES = "a full layer slides", "config", '    "full_attention"', '    "sliding_attention"'
LAYER_IS_FULL = "a sliding layer is full", "config", '    "sliding_attention"', '    "full_attention"'
GATE_UP = "gate and up the other way", "swap", "gate_up_proj", "1024"
ONE_MORE = key("one more expert", "num_experts_per_tok", "2", "3")
ONE_LESS = key("one expert less", "num_experts_per_tok", "2", "1")
ROUTER = "the router's rows the other way", "swap", "mlp.gate.weight", "32"
COLUMNS = "the router's columns the other way", "swap", "mlp.gate.weight", "31"
RAW = key("not renormalised", "norm_topk_prob", "true", "false")
HALF = key("half a head turns", "partial_rotary_factor", "0.25", "0.5")
THETA = key("another theta", "rope_theta", "10000.0", "100.0")
NO_SCALE = key("no scale", "routed_scaling_factor", "1.5", "1.0")
COLD = key("no temperature", "llama_4_scaling_beta", "0.3", "0.0")
STEPS = [("taps the other way", "swap", "conv1d.weight", "3"), ("nothing decays", "set", "A_log", "-30"),
         ("no dt_bias", "set", "dt_bias", "0"), ("q and its gate the other way", "swap", "self_attn.q_proj", "512"),
         ("1 is added to the linear norm", "add", "linear_attn.norm.weight", "1"),
         ("1 is not added to other norms", "add", "layernorm.weight", "-1")]
WRONG = {
    "gemma": [NO_ONE, key("silu", "hidden_act", '"gelu_pytorch_tanh"', '"silu"')],
    "gemma2": [window(9), window(7), NO_ONE, LAYER_IS_FULL, LAYER_SLIDES,
               key("no cap on scores", "attn_logit_softcapping", "2.0", "null"),
               key("no cap on logits", "final_logit_softcapping", "8.0", "null"),
               key("silu", "hidden_activation", '"gelu_pytorch_tanh"', '"silu"')],
    "gemma2_scalar": [key("heads' own scale", "query_pre_attn_scalar", "20", "12")],
    "gemma3": [window(9), NO_ONE, LAYER_SLIDES, ("no linear", "config", '"linear"', '"default"'),
               key("global theta everywhere", "rope_theta", "100.0", "1000.0"),
               key("local theta everywhere", "rope_theta", "1000.0", "100.0"),
               key("heads' own scale", "query_pre_attn_scalar", "24", "16")],
    "gemma3_six": [window(7), NO_ONE],
    "gemma3_vision": [window(9), key("another theta", "rope_theta", "100.0", "1000.0")],
    "phi3": [window(9), GATE_UP],
    "phi3_long": [("no longrope", "config", '"longrope"', '"default"')],
    "phi3_bare": [key("another factor", "max_position_embeddings", "8192", "16384")],
    "smollm3": [("RoPE in layer 3", "config", "    0", "    1")],
    "smollm3_list": [("RoPE in layer 1", "config", "    0", "    1"), window(9)],
    "olmo2": [NO_Q_NORM, NO_K_NORM],
    "olmo3": [window(9), NO_YARN, LAYER_SLIDES, key("no factor", "attention_factor", "1.2", "1.0")],
    "granite": [key("embeddings as they are", "embedding_multiplier", "3.0", "1.0"),
                key("branches as they are", "residual_multiplier", "0.5", "1.0"),
                key("heads' own scale", "attention_multiplier", "0.25", "0.3535533905932738"),
                key("logits as they are", "logits_scaling", "2.0", "1.0")],
    "ministral": [window(9), LAYER_SLIDES],
    "ministral3": [COLD, NO_YARN, key("another factor", "mscale", "1.0", "2.0")],
    "ministral3_bare": [NO_YARN, key("another theta", "rope_theta", "1000000.0", "10000.0")],
    "mistral3": [COLD],
    "mistral3_small": [THETA],
    "qwen3moe": [RAW, ONE_MORE, ROUTER, NO_Q_NORM],
    "qwen3moe_raw": [key("renormalised", "norm_topk_prob", "false", "true")],
    "mixtral": [ONE_MORE, ("the router's rows the other way", "swap", "moe.gate.weight", "32")],
    "qwen35": [*STEPS, HALF, ("q and k the other way", "swap", "in_proj_qkv", "512"),
               ("z's heads the other way", "swap", "in_proj_z", "256")],
    "qwen35_vision": [HALF],
    "qwen35moe": [("gate and up the other way", "swap", "experts.gate_up_proj", "512"), ONE_MORE, ROUTER,
                  ("a shared expert half open", "set", "shared_expert_gate", "0")],
    "qwen3next": [*STEPS, RAW, ("a and b the other way", "swap", "in_proj_ba", "64")],
    "qwen2_vl": [THETA, *bare("biases", "k_proj.bias")],
    "qwen2_5_vl": [THETA],
    "qwen3_vl": [THETA, NO_Q_NORM],
    "exaone": [("q's halves the other way", "swap", "attention.q_proj", "512")],
    "internlm2": [("q and k the other way", "swap", "wqkv", "256")],
    "ernie4_5": [THETA],
    "exaone4": [window(9), LAYER_SLIDES, NO_Q_NORM, NO_K_NORM],
    "exaone4_full": [("no llama3", "config", '"llama3"', '"default"')],
    "seed_oss": bare("biases", "q_proj.bias", "k_proj.bias", "v_proj.bias"),
    "hunyuan": [key("no alpha", "alpha", "50.0", "1.0"), *bare("q norm", "query_layernorm.weight", value="1")],
    "hunyuan_linear": [key("no factor", "factor", "4.0", "1.0")],
    "stablelm": [HALF, *bare("biases", "q_proj.bias", "layernorm.bias")],
    "stablelm_par": [HALF, *bare("q norm", "q_layernorm", value="1")],
    "glm4": [GATE_UP, *bare("biases", "k_proj.bias"), key("whole heads turn", "partial_rotary_factor", "0.5", "1.0"),
             *bare("norm behind attention", "post_self_attn_layernorm.weight", value="1")],
    "arcee": [NO_YARN],
    "gpt_oss": [window(9), LAYER_SLIDES, LAYER_IS_FULL, *bare("sinks", "sinks", value="-50"), ONE_MORE,
                ("gate and up the other way", "swap", "gate_up_proj", "1"),
                key("truncated", "truncate", "false", "true"), key("another alpha", "swiglu_alpha", "1.702", "1.0"),
                *bare("biases", "router.bias", "down_proj_bias", "o_proj.bias")],
    "gpt_oss_bare": [NO_YARN, key("truncated", "truncate", "false", "true")],
    "gpt_neox": [key("one after the other", "use_parallel_residual", "true", "false"),
                 key("relu", "hidden_act", '"gelu"', '"relu"'),
                 key("whole heads turn", "partial_rotary_factor", "0.25", "1.0"),
                 *bare("biases", "query_key_value.bias", "dense_h_to_4h.bias", "post_attention_layernorm.bias")],
    "gpt_neox_serial": [key("side by side", "use_parallel_residual", "false", "true")],
    "phi": [key("whole heads turn", "partial_rotary_factor", "0.5", "1.0"), *bare("biases", "lm_head.bias", "fc1.bias"),
            key("relu", "hidden_act", '"gelu_new"', '"relu"')],
    "lfm2": [("the convolution the other way round", "swap", "conv.conv.weight", "1"), NO_Q_LAYERNORM,
             ("halves of b, c and x the other way", "swap", "conv.in_proj", "512")],
    "starcoder2": bare("biases", "c_fc.bias", "k_proj.bias", "model.norm.bias"),
    "starcoder2_window": [window(9)],
    "cohere": [key("logits as they are", "logit_scale", "0.5", "1.0"),
               key("another theta", "rope_theta", "500.0", "10000.0")],
    "cohere_norms": bare("q norm", "q_norm.weight", value="1") + bare("biases", "v_proj.bias"),
    "cohere2": [window(9), LAYER_SLIDES, key("logits as they are", "logit_scale", "0.5", "1.0")],
    "olmo": [key("no clip", "clip_qkv", "0.75", "null")],
    "nemotron": [NO_ONE, key("whole heads turn", "partial_rotary_factor", "0.5", "1.0"),
                 key("silu", "hidden_act", '"relu2"', '"silu"')],
    "nemotron_biases": bare("biases", "v_proj.bias", "down_proj.bias"),
    "olmoe": [key("renormalised", "norm_topk_prob", "false", "true"), ONE_LESS, COLUMNS, NO_Q_NORM, NO_K_NORM],
    "qwen2moe": [key("renormalised", "norm_topk_prob", "false", "true"), ONE_LESS, COLUMNS,
                 *bare("biases", "q_proj.bias", "v_proj.bias"),
                 ("a shared expert half open", "set", "shared_expert_gate", "0")],
    "granitemoe": [key("embeddings as they are", "embedding_multiplier", "3.0", "1.0"),
                   key("branches as they are", "residual_multiplier", "0.5", "1.0"),
                   key("heads' own scale", "attention_multiplier", "0.25", "0.3535533905932738"),
                   key("logits as they are", "logits_scaling", "2.0", "1.0"), ONE_MORE,
                   ("gate and up the other way", "swap", "block_sparse_moe.input_linear", "512"),
                   ("the shared gate and up the other way", "swap", "shared_mlp.input_linear", "256"),
                   ("the router's rows the other way", "swap", "router.layer.weight", "32")],
    "ernie4_5_moe": [*bare("correction", "e_score_correction_bias"), key("one more expert", "moe_k", "2", "3"), THETA],
    "lfm2_moe": [*bare("correction", "expert_bias"), ONE_LESS],
    "dots1": [*bare("correction", "e_score_correction_bias"), ONE_LESS, COLUMNS,
              NO_SCALE, key("renormalised", "norm_topk_prob", "false", "true")],
    "glm4_moe": [*bare("correction", "e_score_correction_bias"), ONE_LESS, RAW, NO_Q_NORM, *bare("biases", "k_proj.bias"),
                 NO_SCALE, key("whole heads turn", "partial_rotary_factor", "0.5", "1.0")],
    "deepseek_v2": [key("no mscale", "mscale_all_dim", "0.707", "0.0"), ONE_LESS, COLUMNS, NO_SCALE, NO_YARN,
                    ("k and v the other way", "swap", "kv_b_proj", "96"),
                    *bare("norm of the short vector", "kv_a_layernorm", value="1")],
    "deepseek_v2_groups": [key("all groups", "topk_group", "2", "3"), key("no groups", "topk_method", '"group_limited_greedy"', '"greedy"'),
                           *bare("norm of q's short vector", "q_a_layernorm", value="1")],
    "deepseek_v3": [key("all groups", "topk_group", "1", "3"), *bare("correction", "e_score_correction_bias"), RAW, NO_SCALE,
                    key("no mscale", "mscale_all_dim", "1.0", "0.0")],
    "glm4_moe_lite": [*bare("correction", "e_score_correction_bias"), RAW, ONE_LESS],
    "youtu": [THETA, *bare("norm of q's short vector", "q_a_layernorm", value="1")],
    "mistral4": [COLD, key("all groups", "topk_group", "1", "2"), RAW],
    "minicpm3": [THETA, key("embeddings as they are", "scale_emb", "12", "1"),
                 key("branches as they are", "scale_depth", "1.4", "1.0"), key("logits as they are", "dim_model_base", "256", "32")],
    "granite_hybrid": [THETA, ("gate and up the other way", "swap", "shared_mlp.input_linear", "1024"), key("branches as they are", "residual_multiplier", "0.5", "1.0")],
    "gemma4": [window(9), NO_K_NORM, key("no cap on logits", "final_logit_softcapping", "8.0", "null"),
               key("whole heads turn", "partial_rotary_factor", "0.25", "1.0"),
               *bare("scale of layers", "layer_scalar", value="1"),
               ("two layers' vectors the other way", "swap", "embed_tokens_per_layer", "8"),
               ("the projection's rows of two layers the other way", "swap", "per_layer_model_projection", "256"),
               *bare("norm of the projection", "per_layer_projection_norm", value="1"),
               *bare("norm behind a layer's vector", "post_per_layer_input_norm", value="1")],
    "gemma4_moe": [key("one expert less", "top_k_experts", "2", "1"), *bare("scale", "router.scale", "per_expert_scale", value="1"),
                   *bare("norm", "pre_feedforward_layernorm_2", "post_feedforward_layernorm_1", "post_feedforward_layernorm_2",
                         value="1"), GATE_UP],
    "gpt_oss_mxfp4": [key("no limit", "swiglu_limit", "7.0", "700.0"), ("codes the other way", "swap", "_blocks", "1"),
                      ("scales the other way", "swap", "_scales", "1")],
}
