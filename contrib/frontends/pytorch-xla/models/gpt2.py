"""GPT-2: transformers' definition. The mask is made here for the reason that bert.py gives: the library
would ask on the host whether a row holds more than one text."""

import torch
from torch import nn
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel

PREFIX = "network."


class Logits(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, input_ids):
        tokens = input_ids.shape[1]
        later = torch.full((tokens, tokens), torch.finfo(torch.float32).min, device=input_ids.device).triu(1)
        return self.network(input_ids=input_ids, attention_mask=later[None, None], use_cache=False).logits


def build(variant, dropout):
    sizes, rate = variant.sizes, 0.1 if dropout else 0.0
    config = GPT2Config(
        vocab_size=sizes["vocabulary"], n_positions=sizes["positions"], n_embd=sizes["width"],
        n_layer=sizes["layers"], n_head=sizes["heads"], resid_pdrop=rate, embd_pdrop=rate,
        attn_pdrop=rate, attn_implementation="eager")
    return Logits(GPT2LMHeadModel(config))


def loss(logits, labels):
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
