"""Models in plain PyTorch, where no library has them, and smaller variants of CNNs."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class FairseqAttention(nn.Module):
    """Multi-head attention with fairseq's parameter names."""

    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.hd = heads, d // heads
        self.k_proj = nn.Linear(d, d)
        self.v_proj = nn.Linear(d, d)
        self.q_proj = nn.Linear(d, d)
        self.out_proj = nn.Linear(d, d)

    def forward(self, x, kv, key_pad=None, causal=False):
        (B, T, D), S = x.shape, kv.shape[1]
        q = (self.q_proj(x) * self.hd ** -0.5).view(B, T, self.heads, self.hd).transpose(1, 2)
        k = self.k_proj(kv).view(B, S, self.heads, self.hd).transpose(1, 2)
        v = self.v_proj(kv).view(B, S, self.heads, self.hd).transpose(1, 2)
        s = q @ k.transpose(-1, -2)
        if causal:
            s = s.masked_fill(torch.ones(T, S, dtype=torch.bool).triu(1), float("-inf"))
        if key_pad is not None:
            s = s.masked_fill(key_pad[:, None, None, :], float("-inf"))
        y = torch.softmax(s, -1) @ v
        return self.out_proj(y.transpose(1, 2).reshape(B, T, D))


class FairseqEncoderLayer(nn.Module):
    def __init__(self, d, ffn, heads):
        super().__init__()
        self.self_attn = FairseqAttention(d, heads)
        self.self_attn_layer_norm = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, ffn)
        self.fc2 = nn.Linear(ffn, d)
        self.final_layer_norm = nn.LayerNorm(d)

    def forward(self, x, pad):
        x = self.self_attn_layer_norm(x + self.self_attn(x, x, pad))
        return self.final_layer_norm(x + self.fc2(F.relu(self.fc1(x))))


class FairseqDecoderLayer(nn.Module):
    def __init__(self, d, ffn, heads):
        super().__init__()
        self.self_attn = FairseqAttention(d, heads)
        self.self_attn_layer_norm = nn.LayerNorm(d)
        self.encoder_attn = FairseqAttention(d, heads)
        self.encoder_attn_layer_norm = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, ffn)
        self.fc2 = nn.Linear(ffn, d)
        self.final_layer_norm = nn.LayerNorm(d)

    def forward(self, x, memory, memory_pad):
        x = self.self_attn_layer_norm(x + self.self_attn(x, x, causal=True))
        x = self.encoder_attn_layer_norm(x + self.encoder_attn(x, memory, memory_pad))
        return self.final_layer_norm(x + self.fc2(F.relu(self.fc1(x))))


class FairseqStack(nn.Module):
    PAD = 1

    def __init__(self, embed, layers):
        super().__init__()
        self.embed_tokens = embed
        self.layers = nn.ModuleList(layers)

    def embed(self, ids):
        """sqrt(d) * embedding + sinusoid; positions count from 2, pads get zeros."""
        d = self.embed_tokens.weight.shape[1]
        half = d // 2
        keep = ids.ne(self.PAD)
        pos = (torch.cumsum(keep, 1) * keep + self.PAD).double()
        freq = torch.exp(torch.arange(half, dtype=torch.float64) * -(math.log(10000.0) / (half - 1)))
        ang = pos[..., None] * freq
        table = torch.cat([ang.sin(), ang.cos()], -1) * keep[..., None]
        x = self.embed_tokens(ids) * math.sqrt(d)
        return x + table.to(x.dtype)


class FairseqTransformer(nn.Module):
    """fairseq transformer_wmt_en_de, one embedding shared by encoder, decoder and output."""

    def __init__(self, vocab, d, ffn, heads, layers):
        super().__init__()
        embed = nn.Embedding(vocab, d, padding_idx=FairseqStack.PAD)
        self.encoder = FairseqStack(embed, [FairseqEncoderLayer(d, ffn, heads) for _ in range(layers)])
        self.decoder = FairseqStack(embed, [FairseqDecoderLayer(d, ffn, heads) for _ in range(layers)])
        self.decoder.output_projection = nn.Linear(d, vocab, bias=False)
        self.decoder.output_projection.weight = embed.weight

    def forward(self, src_tokens, prev_output_tokens):
        pad = src_tokens.eq(FairseqStack.PAD)
        x = self.encoder.embed(src_tokens)
        x = x * (~pad)[..., None]
        for layer in self.encoder.layers:
            x = layer(x, pad)
        y = self.decoder.embed(prev_output_tokens)
        for layer in self.decoder.layers:
            y = layer(y, x, pad)
        return self.decoder.output_projection(y)


class StdLayerNorm(nn.Module):
    """codertimo's norm: unbiased standard deviation, eps added to it."""

    def __init__(self, d):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(d))
        self.b_2 = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return self.a_2 * (x - mean) / (x.std(-1, keepdim=True) + 1e-6) + self.b_2


class Holder(nn.Module):
    def __init__(self, **children):
        super().__init__()
        for k, m in children.items():
            setattr(self, k, m)


class CodertimoBlock(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.hd = heads, d // heads
        self.attention = Holder(linear_layers=nn.ModuleList(nn.Linear(d, d) for _ in range(3)),
                                output_linear=nn.Linear(d, d))
        self.feed_forward = Holder(w_1=nn.Linear(d, 4 * d), w_2=nn.Linear(4 * d, d))
        self.input_sublayer = Holder(norm=StdLayerNorm(d))
        self.output_sublayer = Holder(norm=StdLayerNorm(d))

    def attend(self, x, mask):
        B, T, D = x.shape
        q, k, v = (f(x).view(B, T, self.heads, self.hd).transpose(1, 2)
                   for f in self.attention.linear_layers)
        s = q @ k.transpose(-1, -2) / math.sqrt(self.hd)
        y = torch.softmax(s.masked_fill(~mask, -1e9), -1) @ v
        return self.attention.output_linear(y.transpose(1, 2).reshape(B, T, D))

    def forward(self, x, mask):
        x = x + self.attend(self.input_sublayer.norm(x), mask)
        h = F.gelu(self.feed_forward.w_1(self.output_sublayer.norm(x)))
        return x + self.feed_forward.w_2(h)


class CodertimoBert(nn.Module):
    """TorchBench BERT_pytorch: pre-norm BERT with two log-softmax heads."""

    def __init__(self, vocab, d, layers, heads):
        super().__init__()
        self.bert = Holder(
            embedding=Holder(token=nn.Embedding(vocab, d, padding_idx=0),
                             segment=nn.Embedding(3, d, padding_idx=0)),
            transformer_blocks=nn.ModuleList(CodertimoBlock(d, heads) for _ in range(layers)))
        self.next_sentence = Holder(linear=nn.Linear(d, 2))
        self.mask_lm = Holder(linear=nn.Linear(d, vocab))

    def forward(self, ids, segment):
        e = self.bert.embedding
        x = e.token(ids) + e.segment(segment)
        T, d = x.shape[1:]
        ang = torch.arange(T, dtype=torch.float64)[:, None] * torch.exp(
            torch.arange(0, d, 2, dtype=torch.float64) * -(math.log(10000.0) / d))
        pe = torch.stack([ang.sin(), ang.cos()], -1).view(T, d)      # sin in even, cos in odd columns
        x = x + pe.to(x.dtype)
        mask = (ids > 0)[:, None, None, :]
        for block in self.bert.transformer_blocks:
            x = block(x, mask)
        return (F.log_softmax(self.mask_lm.linear(x), -1),
                F.log_softmax(self.next_sentence.linear(x[:, 0]), -1))


class PackedAttention(nn.Module):
    """nn.MultiheadAttention's parameters and arithmetic, written out."""

    def __init__(self, d, heads):
        super().__init__()
        self.heads, self.hd = heads, d // heads
        self.in_proj_weight = nn.Parameter(torch.zeros(3 * d, d))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d))
        self.out_proj = nn.Linear(d, d)

    def forward(self, q, k, v, key_pad=None):
        B, T, D = q.shape
        w, b = self.in_proj_weight.chunk(3), self.in_proj_bias.chunk(3)
        q, k, v = (F.linear(x, w[i], b[i]).view(B, -1, self.heads, self.hd).transpose(1, 2)
                   for i, x in enumerate((q, k, v)))
        s = q @ k.transpose(-1, -2) / math.sqrt(self.hd)
        if key_pad is not None:
            s = s.masked_fill(key_pad[:, None, None, :], float("-inf"))
        y = torch.softmax(s, -1) @ v
        return self.out_proj(y.transpose(1, 2).reshape(B, T, D))


class DetrDecoderLayer(nn.Module):
    def __init__(self, d, ffn, heads):
        super().__init__()
        self.self_attn = PackedAttention(d, heads)
        self.multihead_attn = PackedAttention(d, heads)
        self.linear1 = nn.Linear(d, ffn)
        self.linear2 = nn.Linear(ffn, d)
        self.norm1 = nn.LayerNorm(d)
        self.norm2 = nn.LayerNorm(d)
        self.norm3 = nn.LayerNorm(d)

    def forward(self, x, memory, query_pos, pad):
        q = x + query_pos
        x = self.norm1(x + self.self_attn(q, q, x))
        x = self.norm2(x + self.multihead_attn(x + query_pos, memory, memory, pad))
        return self.norm3(x + self.linear2(F.relu(self.linear1(x))))


class UnitQnli(nn.Module):
    """UniT's text path: BERT encoder, DETR decoder over learned queries, mean, linear."""

    def __init__(self, bert, d, ffn, heads, layers, queries=25, classes=2):
        super().__init__()
        self.bert = bert
        self.query_embed = nn.Embedding(queries, d)
        self.decoder = Holder(layers=nn.ModuleList(DetrDecoderLayer(d, ffn, heads) for _ in range(layers)),
                              norm=nn.LayerNorm(d))
        self.classifier = nn.Linear(d, classes)

    def forward(self, input_ids, token_type_ids, attention_mask):
        memory = self.bert(input_ids=input_ids, token_type_ids=token_type_ids,
                           attention_mask=attention_mask).last_hidden_state
        pad = attention_mask.eq(0)
        query_pos = self.query_embed.weight[None].expand(memory.shape[0], -1, -1)
        x = torch.zeros_like(query_pos)
        for layer in self.decoder.layers:
            x = layer(x, memory, query_pos, pad)
        return self.classifier(self.decoder.norm(x).mean(1))


# --------------------------------------------------------------------------
# Shrinking a CNN: every channel count divided by k, except those in keep
# --------------------------------------------------------------------------
def shrink(model, k, classes=10):
    def d(c):
        if c in (3, classes):
            return c
        assert c % k == 0, c
        return c // k
    for parent in list(model.modules()):
        for name, c in list(parent.named_children()):
            if isinstance(c, nn.Conv2d):
                new = nn.Conv2d(d(c.in_channels), d(c.out_channels), c.kernel_size, c.stride, c.padding,
                                c.dilation, 1 if c.groups == 1 else c.groups // k, c.bias is not None)
            elif isinstance(c, nn.BatchNorm2d):
                new = nn.BatchNorm2d(d(c.num_features), c.eps, c.momentum)
            elif isinstance(c, nn.Linear):
                new = nn.Linear(d(c.in_features), d(c.out_features))
            else:
                continue
            parent._modules[name] = new
    if hasattr(model, "num_classes"):
        model.num_classes = classes
    return model
