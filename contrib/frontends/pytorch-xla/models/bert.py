"""BERT that predicts masked tokens: transformers' definition.

Attention is the library's "eager" one, and the mask that it adds to the scores is made here. From a
mask of tokens the library would first ask on the host whether any of them is padding, which ends a
lazy trace in the middle of each forward pass.
"""

import torch
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertForMaskedLM

PREFIX = "network."


class Logits(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, input_ids, token_type_ids, attention_mask):
        padding = 1.0 - attention_mask[:, None, None, :].to(torch.float32)  # (B, 1, 1, T)
        return self.network(input_ids=input_ids, token_type_ids=token_type_ids,
                            attention_mask=padding * torch.finfo(torch.float32).min).logits


def build(variant, dropout):
    sizes, rate = variant.sizes, 0.1 if dropout else 0.0
    config = BertConfig(
        vocab_size=sizes["vocabulary"], hidden_size=sizes["width"], num_hidden_layers=sizes["layers"],
        num_attention_heads=sizes["heads"], intermediate_size=sizes["hidden"],
        max_position_embeddings=sizes["positions"], hidden_dropout_prob=rate,
        attention_probs_dropout_prob=rate, attn_implementation="eager")
    return Logits(BertForMaskedLM(config))


def loss(logits, labels):
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
