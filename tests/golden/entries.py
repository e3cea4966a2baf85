"""The table of models: how each is built, what goes in, what comes out, its loss."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from generator import Inp
from plain_models import CodertimoBert, FairseqTransformer, UnitQnli, shrink


@dataclass
class Entry:
    name: str
    variant: str
    family: str                  # "cnn": W6, SGD; "transformer": W3, AdamW
    config: dict
    dims: dict                   # batch and image or seq
    build: object                # () -> module
    inputs: object               # (dims) -> [Inp]
    forward: object              # (model, inputs) -> {output name: tensor}
    loss: object                 # (outputs, inputs) -> scalar
    stages: str                  # regex: modules whose output norm is recorded
    extra: object = None         # (model, outputs, inputs) -> dict of further scalars
    lr: float = 0.0              # 0: 0.01 for SGD, 1e-4 for AdamW
    context: int = 0             # positions that are decoded; 0: none

    def optimizer(self):
        if self.family == "cnn":
            return {"name": "SGD", "lr": self.lr or 0.01, "momentum": 0.9, "weight_decay": 0}
        return {"name": "AdamW", "lr": self.lr or 1e-4, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01}


TABLE = []


def cnn_entry(name, variant, build, classes, batch, image, stages, lr=0.001, **config):
    config.update(classes=classes)
    TABLE.append(Entry(
        name, variant, "cnn", config, dict(batch=batch, image=image), build,
        lambda d: [Inp("input", (d["batch"], 3, d["image"], d["image"]), "image"),
                   Inp("labels", (d["batch"],), hi=classes)],
        lambda m, x: {"logits": m(x["input"])},
        lambda o, x: F.cross_entropy(o["logits"], x["labels"]), stages, lr=lr))


def cnn_table():
    import torchvision.models as tv
    from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet
    from torchvision.models.vgg import VGG, make_layers
    res = r"conv1|bn1|maxpool|layer\d(\.\d)?|avgpool|fc"
    feat = r"features\.\d+|avgpool|classifier(\.\d)?"

    # lr 0.01 where float32 follows float64 closely for three steps, else 0.001;
    # 0.0001 where there is no BatchNorm and a larger one diverges
    for name, lr in ("resnet18", 0.01), ("resnet50", 0.001), ("resnext50_32x4d", 0.001):
        cnn_entry(name, "full", lambda name=name: getattr(tv, name)(weights=None), 1000, 2, 224, res, lr,
                  source=f"torchvision.models.{name}(weights=None)")
    small = dict(num_classes=10)
    cnn_entry("resnet18", "small",
              lambda: shrink(ResNet(BasicBlock, [1, 1, 1, 1], **small), 8), 10, 2, 64, res, 0.01,
              source="ResNet(BasicBlock, [1,1,1,1]), all channel counts / 8")
    cnn_entry("resnet50", "small",
              lambda: shrink(ResNet(Bottleneck, [1, 1, 1, 1], **small), 8), 10, 2, 64, res, 0.01,
              source="ResNet(Bottleneck, [1,1,1,1]), all channel counts / 8")
    cnn_entry("resnext50_32x4d", "small",
              lambda: shrink(ResNet(Bottleneck, [1, 1, 1, 1], groups=32, width_per_group=4, **small), 8),
              10, 2, 64, res, 0.01,
              source="ResNet(Bottleneck, [1,1,1,1], groups=32, width_per_group=4), channels and groups / 8", groups=4)

    cnn_entry("vgg16", "full", lambda: tv.vgg16(weights=None), 1000, 2, 224, feat, 0.0001,
              source="torchvision.models.vgg16(weights=None)")
    cfg = [64, "M", 128, "M", 256, "M", 512, "M", 512, "M"]
    cnn_entry("vgg16", "small", lambda: shrink(VGG(make_layers(cfg), **small), 8), 10, 2, 64, feat, 0.0001,
              source="VGG(make_layers([64,M,128,M,256,M,512,M,512,M])), all channel counts / 8")
    cnn_entry("alexnet", "full", lambda: tv.alexnet(weights=None), 1000, 2, 224, feat, 0.0001,
              source="torchvision.models.alexnet(weights=None)")
    cnn_entry("alexnet", "small", lambda: shrink(tv.alexnet(weights=None, **small), 8), 10, 2, 96, feat, 0.0001,
              source="alexnet, all channel counts / 8")
    cnn_entry("mobilenet_v2", "full", lambda: tv.mobilenet_v2(weights=None), 1000, 2, 224, feat,
              source="torchvision.models.mobilenet_v2(weights=None)")
    setting = [[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 2, 2], [6, 64, 1, 2]]
    cnn_entry("mobilenet_v2", "small",
              lambda: shrink(tv.MobileNetV2(inverted_residual_setting=setting, **small), 8), 10, 2, 64, feat, 0.01,
              source="MobileNetV2, all channel counts / 8", inverted_residual_setting=setting)
    mnas = r"layers\.\d+|classifier"
    cnn_entry("mnasnet1_0", "full", lambda: tv.mnasnet1_0(weights=None), 1000, 2, 224, mnas,
              source="torchvision.models.mnasnet1_0(weights=None)", bn_momentum=0.0003)
    cnn_entry("mnasnet1_0", "small", lambda: shrink(tv.mnasnet1_0(weights=None, **small), 4), 10, 2, 64, mnas,
              source="mnasnet1_0, all channel counts / 4", bn_momentum=0.0003)
    cnn_entry("squeezenet1_1", "full", lambda: tv.squeezenet1_1(weights=None), 1000, 2, 224, feat,
              source="torchvision.models.squeezenet1_1(weights=None)")
    cnn_entry("squeezenet1_1", "small", lambda: shrink(tv.squeezenet1_1(weights=None, **small), 8), 10, 2, 64,
              feat, source="squeezenet1_1, all channel counts / 8")


def vit_table():
    import timm
    from timm.models.vision_transformer import VisionTransformer

    def entry(name, variant, build, classes, batch, image, **config):
        TABLE.append(Entry(
            name, variant, "transformer", dict(config, classes=classes, img_size=image), dict(batch=batch), build,
            lambda d: [Inp("input", (d["batch"], 3, image, image), "image"),
                       Inp("labels", (d["batch"],), hi=classes)],
            lambda m, x: {"logits": m(x["input"])},
            lambda o, x: F.cross_entropy(o["logits"], x["labels"]),
            r"patch_embed|blocks\.\d+|norm|head"))

    for name in "vit_small_patch16_224", "vit_base_patch16_224":
        entry(name, "full", lambda name=name: timm.create_model(name, pretrained=False), 1000, 2, 224,
              source=f"timm.create_model('{name}', pretrained=False)")
    small = dict(img_size=32, patch_size=8, embed_dim=64, depth=2, num_heads=4, num_classes=10)
    entry("vit_small_patch16_224", "small", lambda: VisionTransformer(**small), 10, 2, 32,
          source="timm VisionTransformer", **small)


def token_ce(o, x):
    return F.cross_entropy(o["logits"].flatten(0, 1), x["labels"].flatten(), ignore_index=-100)


def bert_config(hf, **kw):
    return hf.BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                         attn_implementation="sdpa", **kw)


BERT_SMALL = dict(vocab_size=512, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                  intermediate_size=128, max_position_embeddings=64)


def bert_inputs(d, vocab, pad):
    shape = (d["batch"], d["seq"])
    return [Inp("input_ids", shape, lo=1, hi=vocab, pad=0 if pad else None),
            Inp("token_type_ids", shape, "half", lo=0, hi=1),
            Inp("attention_mask", shape, "lengths", pad=0 if pad else None)]


def bert_table():
    import transformers as hf

    def mlm(variant, kw, batch, seq, pad=False):
        cfg = bert_config(hf, **kw)
        V = cfg.vocab_size
        TABLE.append(Entry(
            "bert", variant, "transformer",
            dict(source="transformers.BertForMaskedLM(BertConfig(...))", vocab=V, hidden=cfg.hidden_size,
                 layers=cfg.num_hidden_layers, heads=cfg.num_attention_heads, ffn=cfg.intermediate_size,
                 max_positions=cfg.max_position_embeddings, layer_norm_eps=cfg.layer_norm_eps, act="gelu (erf)"),
            dict(batch=batch, seq=seq), lambda: hf.BertForMaskedLM(cfg),
            lambda d: bert_inputs(d, V, pad) + [
                Inp("labels", (d["batch"], d["seq"]), hi=V, pad=-100 if pad else None)],
            lambda m, x: {"logits": m(input_ids=x["input_ids"], token_type_ids=x["token_type_ids"],
                                      attention_mask=x["attention_mask"]).logits},
            token_ce, r"bert\.embeddings|bert\.encoder\.layer\.\d+|cls\.predictions\.transform"))

    mlm("full", {}, 2, 128)
    mlm("small", BERT_SMALL, 2, 16)
    mlm("small_pad", BERT_SMALL, 2, 16, True)

    def unit(variant, kw, ffn, heads, layers, batch, seq, pad=False, lr=0.0):
        cfg = bert_config(hf, **kw)
        V, D = cfg.vocab_size, cfg.hidden_size
        TABLE.append(Entry(
            "unit_qnli", variant, "transformer",
            dict(source="UnitQnli (plain torch) around transformers.BertModel(add_pooling_layer=False)", vocab=V,
                 hidden=D, layers=cfg.num_hidden_layers, heads=cfg.num_attention_heads, ffn=cfg.intermediate_size,
                 max_positions=cfg.max_position_embeddings, layer_norm_eps=cfg.layer_norm_eps,
                 decoder_layers=layers, decoder_heads=heads, decoder_ffn=ffn, decoder_layer_norm_eps=1e-5,
                 queries=25, classes=2),
            dict(batch=batch, seq=seq),
            lambda: UnitQnli(hf.BertModel(cfg, add_pooling_layer=False), D, ffn, heads, layers),
            lambda d: bert_inputs(d, V, pad) + [Inp("labels", (d["batch"],), hi=2)],
            lambda m, x: {"logits": m(x["input_ids"], x["token_type_ids"], x["attention_mask"])},
            lambda o, x: F.cross_entropy(o["logits"], x["labels"]),
            r"bert\.embeddings|bert\.encoder\.layer\.\d+|decoder\.layers\.\d+|decoder\.norm", lr=lr))

    unit("full", {}, 2048, 8, 6, 2, 128, lr=1e-6)    # two classes: 1e-4 jumps to a loss of 5.9 or of 1e-9
    unit("small", BERT_SMALL, 128, 4, 2, 2, 16)
    unit("small_pad", BERT_SMALL, 128, 4, 2, 2, 16, True)


def codertimo_table():
    def entry(variant, V, d, layers, heads, batch, seq):
        TABLE.append(Entry(
            "bert_pytorch", variant, "transformer",
            dict(source="CodertimoBert (plain torch), TorchBench BERT_pytorch's config", vocab=V, hidden=d,
                 layers=layers, heads=heads, ffn=4 * d, norm="(x-mean)/(unbiased std + 1e-6)", act="gelu (erf)"),
            dict(batch=batch, seq=seq), lambda: CodertimoBert(V, d, layers, heads),
            lambda D: [Inp("input_ids", (D["batch"], D["seq"]), lo=5, hi=V, pad=0),
                       Inp("segment_label", (D["batch"], D["seq"]), "half", lo=1, hi=2, pad=0),
                       Inp("bert_label", (D["batch"], D["seq"]), lo=5, hi=V, keep7=True, drop=0, pad=0),
                       Inp("is_next", (D["batch"],), "const", lo=1)],
            lambda m, x: dict(zip(("logits", "next_sentence"), m(x["input_ids"], x["segment_label"]))),
            lambda o, x: (F.nll_loss(o["next_sentence"], x["is_next"], ignore_index=0)
                          + F.nll_loss(o["logits"].transpose(1, 2), x["bert_label"], ignore_index=0)),
            r"bert\.transformer_blocks\.\d+"))

    entry("full", 20005, 768, 12, 12, 2, 128)
    entry("small", 505, 64, 2, 4, 2, 16)


def transformer_table():
    def fairseq_loss(o, x):
        """fairseq's own label smoothing: eps/(V-1) on the other classes; for comparison only."""
        lp = F.log_softmax(o["logits"], -1).flatten(0, 1)
        t = x["target"].flatten()
        keep = t.ne(1)
        lp, t = lp[keep], t[keep]
        nll, smooth = -lp.gather(1, t[:, None])[:, 0], -lp.sum(1)
        e = 0.1 / (lp.shape[1] - 1)
        return ((1 - 0.1 - e) * nll + e * smooth).mean()

    def entry(variant, V, d, ffn, heads, layers, batch, seq, pad=False):
        p = 1 if pad else None
        TABLE.append(Entry(
            "transformer_wmt_en_de", variant, "transformer",
            dict(source="FairseqTransformer (plain torch), fairseq transformer_wmt_en_de with shared embeddings",
                 vocab=V, d_model=d, ffn=ffn, heads=heads, encoder_layers=layers, decoder_layers=layers,
                 norm="post, eps 1e-5", act="relu", pad=1, label_smoothing=0.1),
            dict(batch=batch, seq=seq), lambda: FairseqTransformer(V, d, ffn, heads, layers),
            lambda D: [Inp(n, (D["batch"], D["seq"]), lo=4, hi=V, pad=p)
                       for n in ("src_tokens", "prev_output_tokens", "target")],
            lambda m, x: {"logits": m(x["src_tokens"], x["prev_output_tokens"])},
            lambda o, x: F.cross_entropy(o["logits"].flatten(0, 1), x["target"].flatten(),
                                         ignore_index=1, label_smoothing=0.1),
            r"(encoder|decoder)\.layers\.\d+",
            lambda m, o, x: {"fairseq_label_smoothed_loss": float(fairseq_loss(o, x))}))

    entry("full", 32768, 512, 2048, 8, 6, 2, 32)
    entry("small", 512, 64, 128, 4, 1, 2, 16)
    entry("small_pad", 512, 64, 128, 4, 1, 2, 16, True)


def causal_table():
    import transformers as hf

    def entry(name, variant, make, cfg, batch, seq, context, stages, extra=None):
        keys = ("vocab_size hidden_size num_hidden_layers num_attention_heads num_key_value_heads intermediate_size "
                "rms_norm_eps rope_theta num_local_experts num_experts_per_tok layer_norm_epsilon n_positions "
                "activation_function hidden_act tie_word_embeddings").split()
        conf = {k: getattr(cfg, k) for k in keys if getattr(cfg, k, None) is not None}
        if getattr(cfg, "rope_parameters", None):
            conf["rope_theta"] = cfg.rope_parameters["rope_theta"]
        conf["source"] = f"transformers.{make.__name__}"
        V = cfg.vocab_size
        TABLE.append(Entry(
            name, variant, "transformer", conf, dict(batch=batch, seq=seq), lambda: make(cfg),
            lambda d: [Inp("input_ids", (d["batch"], d["seq"]), hi=V), Inp("labels", (d["batch"], d["seq"]), hi=V)],
            lambda m, x: {"logits": m(input_ids=x["input_ids"], use_cache=False).logits},
            token_ce, stages, extra, context=context))

    common = dict(attn_implementation="sdpa", tie_word_embeddings=False)
    stages = r"model\.embed_tokens|model\.layers\.\d+|model\.norm"
    entry("llama", "full", hf.LlamaForCausalLM, hf.LlamaConfig(
        vocab_size=4096, hidden_size=256, num_hidden_layers=4, num_attention_heads=8, num_key_value_heads=4,
        intermediate_size=688, max_position_embeddings=256, **common), 2, 64, 128, stages)
    entry("llama", "small", hf.LlamaForCausalLM, hf.LlamaConfig(
        vocab_size=512, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=176, max_position_embeddings=64, **common), 2, 16, 64, stages)

    def routing(m, o, x):
        """How far the nearest token is from being sent to other experts."""
        with torch.no_grad():
            r = m(input_ids=x["input_ids"], use_cache=False, output_router_logits=True).router_logits
        out = {"routing_margin": float(min(t.sort(-1, True).values.diff(dim=-1)[:, 1].abs().min() for t in r))}
        for i, t in enumerate(r):
            top = t.topk(2, -1).indices.sort(-1).values
            out[f"layer{i}_top2_first8_tokens"] = top[:8].tolist()
            out[f"layer{i}_tokens_per_expert"] = torch.bincount(top.flatten(), minlength=t.shape[-1]).tolist()
        return out

    entry("mixtral", "full", hf.MixtralForCausalLM, hf.MixtralConfig(
        vocab_size=1024, hidden_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        intermediate_size=256, num_local_experts=4, num_experts_per_tok=2, max_position_embeddings=128,
        experts_implementation="eager", **common), 2, 32, 64, stages, routing)

    def gpt2(variant, batch, seq, context, **kw):
        entry("gpt2", variant, hf.GPT2LMHeadModel, hf.GPT2Config(
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, attn_implementation="sdpa", **kw), batch, seq, context,
            r"transformer\.wte|transformer\.h\.\d+|transformer\.ln_f")
    gpt2("full", 1, 64, 128)
    gpt2("small", 2, 16, 64, vocab_size=512, n_positions=64, n_embd=64, n_layer=2, n_head=4)


def fill_table():
    """Puts all models into TABLE. It imports the libraries that define them, which takes seconds."""
    for table in cnn_table, vit_table, bert_table, codertimo_table, transformer_table, causal_table:
        table()
