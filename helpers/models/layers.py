"""The layers that sentence-transformers puts behind the pooling: Dense and Normalize, read from their own files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from helpers.models.card import further_layers
from helpers.models.files import PICKLE, WEIGHTS, one_line_errors, read_json, read_pickle

ACTIVATIONS: dict[str, Callable[[], torch.nn.Module]] = {
    "Tanh": torch.nn.Tanh,
    "Identity": torch.nn.Identity,
    "ReLU": torch.nn.ReLU,
    "GELU": torch.nn.GELU,
    "SiLU": torch.nn.SiLU,
    "Sigmoid": torch.nn.Sigmoid,
}


class Dense(torch.nn.Module):
    """A linear layer and what follows it: activation(x W' + b), plus x itself where ``residual`` says so."""

    def __init__(self, linear: torch.nn.Linear, activation: torch.nn.Module, residual: torch.nn.Module | None) -> None:
        """Take the parts."""
        super().__init__()
        self.linear, self.activation, self.residual = linear, activation, residual
        self.out_features = linear.out_features

    def forward(self, vectors: Tensor) -> Tensor:
        """Map (b, dim in) to (b, dim out)."""
        out: Tensor = self.activation(self.linear(vectors))
        return out if self.residual is None else out + self.residual(vectors)


class Normalize(torch.nn.Module):
    """Scale vectors to length one."""

    def forward(self, vectors: Tensor) -> Tensor:
        """Keep the shape."""
        return torch.nn.functional.normalize(vectors, dim=-1)


def load_layers(folder: Path, device: str) -> tuple[torch.nn.Module, ...]:
    """Load the layers that a model's ``modules.json`` lists behind its pooling, in their order.

    Raises:
        ValueError: a layer, an activation or weights that are not understood.
    """
    layers = []
    for kind, path in further_layers(folder):
        layer = Normalize() if kind == "Normalize" else _load_dense(folder, path)
        layers.append(layer.float().eval().to(device))
    return tuple(layers)


def _load_dense(folder: Path, path: str) -> Dense:
    """Load one dense layer."""
    where = f"{folder.name}/{path}"
    config = read_json(folder / path / "config.json")
    weights = _read_weights(folder, path)
    _require_understood(where, config)
    with one_line_errors(f"{where}: its weights do not fit its config.json"):
        sizes = config["in_features"], config["out_features"]
        linear = torch.nn.Linear(*sizes, bias=bool(config.get("bias", True)))
        residual: torch.nn.Module | None = None
        if config.get("use_residual"):
            same = sizes[0] == sizes[1]
            residual = torch.nn.Identity() if same else torch.nn.Linear(*sizes, bias=False)
        layer = Dense(linear, ACTIVATIONS[_activation(config)](), residual)
        layer.load_state_dict(weights)
    return layer


def _read_weights(folder: Path, path: str) -> dict[str, Any]:
    """Read the weights of a layer: safetensors first, then PyTorch's older format by its restricted loader."""
    if Path(path).name != path:
        raise ValueError(f"{folder.name}/modules.json: {path!r} is no folder of the model itself.")
    for name in (WEIGHTS, PICKLE):
        file = folder / path / name
        if file.exists():
            with one_line_errors(f"{folder.name}/{path}/{name} cannot be read"):
                return safetensors.torch.load_file(file) if name == WEIGHTS else read_pickle(file)
    raise ValueError(f"{folder.name}/{path} holds no weights ({WEIGHTS}); download the model again.")


def _activation(config: dict[str, Any]) -> str:
    """Return the activation's name without its module; Tanh where a configuration is silent."""
    return str(config.get("activation_function", "torch.nn.modules.activation.Tanh")).rpartition(".")[2]


def _require_understood(where: str, config: dict[str, Any]) -> None:
    """Raise where a dense layer works otherwise than from the text's vector to the text's vector."""
    if _activation(config) not in ACTIVATIONS or not str(config.get("activation_function", "torch.")).startswith(
        "torch."
    ):
        raise ValueError(
            f"{where}: no activation {config['activation_function']!r} here; it has {', '.join(ACTIVATIONS)}."
        )
    for key in ("module_input_name", "module_output_name"):
        if config.get(key) not in (None, "sentence_embedding"):
            raise ValueError(f"{where}: {key} is {config[key]!r}; here a layer works on the text's one vector alone.")
