"""The parameters of a model: names, kinds, values; and its full double precision."""
import re

import torch
import torch.nn as nn
import torch.nn.functional as F

from generator import generate


def checkpoint_views(full, p):
    """The tensors a real checkpoint has for parameter p: more than one where the
    library fuses Mixtral's experts into one."""
    m = re.match(r"(.*)\.mlp\.experts\.(gate_up_proj|down_proj)$", full)
    if m:
        base = f"{m[1]}.block_sparse_moe.experts"
        for e in range(p.shape[0]):
            if m[2] == "down_proj":
                yield f"{base}.{e}.w2.weight", lambda t, e=e: t[e]
            else:
                h = p.shape[1] // 2
                yield f"{base}.{e}.w1.weight", lambda t, e=e, h=h: t[e, :h]
                yield f"{base}.{e}.w3.weight", lambda t, e=e, h=h: t[e, h:]
    else:
        yield re.sub(r"\.mlp\.gate\.weight$", ".block_sparse_moe.gate.weight", full), lambda t: t


def residual_norms(model):
    """The last BatchNorm of every residual branch."""
    for m in model.modules():
        kind = type(m).__name__
        if kind == "BasicBlock":
            yield m.bn2
        elif kind == "Bottleneck":
            yield m.bn3
        elif kind == "InvertedResidual" and m.use_res_connect:
            yield m.conv[-1]
        elif kind == "_InvertedResidual" and m.apply_residual:
            yield m.layers[-1]


def tensors(model, family):
    """[(name, kind, owner tensor, view)], tied tensors once, under their first name."""
    out, seen = [], set()
    tame = {id(m) for m in residual_norms(model)}
    for mname, m in model.named_modules():
        for pname, p in m.named_parameters(recurse=False):
            if id(p) in seen:
                continue
            seen.add(id(p))
            full = f"{mname}.{pname}" if mname else pname
            if isinstance(m, nn.Embedding):
                kind = "EMB"
            elif pname in ("cls_token", "pos_embed"):
                kind = "POS"
            elif p.ndim >= 2:
                kind = "W6" if family == "cnn" else "W3"
            elif "bias" in pname or pname == "b_2":
                kind = "BIAS"
            else:
                kind = "NORMR" if id(m) in tame else "NORM"
            for name, view in checkpoint_views(full, p):
                out.append((name, kind, p, view))
        if isinstance(m, nn.BatchNorm2d):
            out.append((f"{mname}.running_mean", "RMEAN", m.running_mean, lambda t: t))
            out.append((f"{mname}.running_var", "RVAR", m.running_var, lambda t: t))
    return out


def aliases(model):
    """Names of tied tensors: alias -> the name it is generated under."""
    first, out = {}, {}
    for name, p in model.named_parameters(remove_duplicate=False):
        if id(p) in first:
            out[name] = first[id(p)]
        else:
            first[id(p)] = name
    return out


def fill(model, family, seed):
    with torch.no_grad():
        for name, kind, owner, view in tensors(model, family):
            t = view(owner)
            t.copy_(torch.from_numpy(generate(kind, name, seed, tuple(t.shape))))


# --------------------------------------------------------------------------
# Full double precision: some library code casts to float32 inside
# --------------------------------------------------------------------------
def undo_float32_casts(model):
    for m in model.modules():
        kind = type(m).__name__
        if kind.endswith("RMSNorm"):
            m.forward = lambda x, m=m: m.weight * (
                x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + m.variance_epsilon))
        elif kind.endswith("RotaryEmbedding"):
            def rope(x, position_ids, m=m):
                c = m.config
                hd = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
                theta = getattr(c, "rope_theta", None) or c.rope_parameters["rope_theta"]
                inv = theta ** -(torch.arange(0, hd, 2, dtype=torch.float64) / hd)
                ang = position_ids[..., None].double() * inv
                ang = torch.cat([ang, ang], -1)
                return ang.cos(), ang.sin()
            m.forward = rope
        elif kind.endswith("TopKRouter"):
            def route(h, m=m):
                logits = F.linear(h.reshape(-1, m.hidden_dim), m.weight)
                top, index = logits.softmax(-1).topk(m.top_k, -1)
                return logits, top / top.sum(-1, keepdim=True), index
            m.forward = route
