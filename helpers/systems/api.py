"""Vectors from an embeddings API that is compatible with OpenAI's."""

import hashlib
import http.client
import json
import os
import time
import urllib.error
import urllib.request
import warnings
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from helpers._notes import Note
from helpers.embeddings.store import Store
from helpers.systems.pipeline import Retrieval

KEY = "EVAL_API_KEY"  # environment variable; never written to disk
TRIES, WAIT, LONGEST_WAIT = 5, 1.0, 60.0  # requests; seconds before the second one, doubled each time; their limit
TIMEOUT = 60.0  # seconds


@dataclass(frozen=True)
class Api(Retrieval):
    """An embeddings endpoint, ``POST {address}/embeddings``; vectors are scaled to length one.

    The key is read from the environment variable ``EVAL_API_KEY`` and never written to disk; redirects are not
    followed, so it reaches no other host. Vectors are cached by address, model, dimensions and the texts of a request;
    a provider that replaces the model under the same name goes unnoticed.

    Attributes:
        address: base URL such as ``https://api.example.org/v1``; plain http only for this machine.
        model: the model's name in the API.
        dim: dimensions to request; None for the model's default.
        query_instruction, passage_instruction: text put before each query or passage.
        price: price of a million tokens; the cost in the note of billed tokens is in the same currency.
        batch_size: texts per request.
        factory: a FAISS ``index_factory`` string.
        cache_dir: as for :func:`helpers.embeddings.encode`.
    """

    address: str
    model: str
    dim: int | None = None
    query_instruction: str = ""
    passage_instruction: str = ""
    price: float = 0.0
    batch_size: int = 64
    factory: str = "Flat"
    cache_dir: str | Path | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for an address to which the key would be sent unencrypted."""
        check_address(self.address)

    @property
    def index_kind(self) -> str:
        """The FAISS ``index_factory`` string."""
        return self.factory

    def represent(self, texts: list[str], kind: str) -> np.ndarray:
        """Return vectors of length one, (n, dim), from the cache or the endpoint.

        Raises:
            ValueError: the endpoint refuses the request, or its response is not one vector of numbers per text.
            ConnectionError: five requests failed: no response, or the server is overloaded.
        """
        instruction = self.query_instruction if kind == "query" else self.passage_instruction
        store = Store(self.cache_dir)
        vectors: list[np.ndarray] = []
        billed = 0
        for first in range(0, len(texts), self.batch_size):
            batch = [instruction + text for text in texts[first : first + self.batch_size]]
            content = json.dumps([self.address, self.model, self.dim, batch], ensure_ascii=False)
            name = hashlib.sha256(f"api {content}".encode()).hexdigest()
            array = store.read(name)
            if array is None:
                answer = self._call(batch)
                array = store.write(name, self._vectors(answer, len(batch)))
                usage = answer.get("usage")
                tokens = usage.get("total_tokens") if isinstance(usage, dict) else 0
                billed += tokens if isinstance(tokens, int) else 0
            if vectors and array.shape[1] != vectors[0].shape[1]:
                raise ValueError(f"{self.model}: vectors of {vectors[0].shape[1]} and of {array.shape[1]} dimensions.")
            vectors.append(array)
        if billed:
            cost = billed * self.price / 1e6
            text = f"{billed:,} tokens of each {kind} were billed for" + (f": {cost:.4f}" if self.price else "")
            note = Note(f"{self.model}: {text}.", "billed", model=self.model, tokens=billed, cost=cost)
            warnings.warn(note, stacklevel=2)
        return np.concatenate(vectors)

    def _call(self, texts: list[str]) -> dict[str, object]:
        body: dict[str, object] = {"model": self.model, "input": texts, "encoding_format": "float"}
        if self.dim:
            body["dimensions"] = self.dim
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(
            f"{self.address.rstrip('/')}/embeddings", json.dumps(body).encode(), headers, method="POST"
        )
        handlers = [_NoRedirect(), *([urllib.request.ProxyHandler({})] if self.address.startswith("http:") else [])]
        opener, wait = urllib.request.build_opener(*handlers), WAIT  # a proxy would see the key of plain http
        for attempt in range(1, TRIES + 1):
            pause = wait
            try:
                with opener.open(request, timeout=TIMEOUT) as response:
                    answer = json.loads(response.read())
            except urllib.error.HTTPError as error:
                text = error.read(4096).decode("utf-8", "replace")
                reason = f"{error.code} {' '.join((text.replace(key, '…') if key else text).split())[:200]}"
                if error.code not in (408, 429) and error.code < 500:
                    hint = f" The key is read from {KEY}." if error.code in (401, 403) else ""
                    raise ValueError(f"{self.address} refuses {self.model!r}: {reason}.{hint}") from None
                after = error.headers.get("Retry-After", "")
                pause = min(float(after), LONGEST_WAIT) if after.isdigit() else wait
            except (OSError, http.client.HTTPException) as error:
                reason = str(getattr(error, "reason", error))
            except ValueError:
                raise ValueError(f"{self.address}: the answer is no JSON; is it the address of an API?") from None
            else:
                if isinstance(answer, dict):
                    return answer
                raise ValueError(f"{self.address}: the answer has no 'data'; is it the address of an API?")
            if attempt < TRIES:
                time.sleep(pause)
                wait *= 2
        raise ConnectionError(f"{self.address} did not answer in {TRIES} calls, the last: {reason}. Try again later.")

    def _vectors(self, answer: dict[str, object], count: int) -> np.ndarray:
        try:
            rows = {int(row["index"]): row["embedding"] for row in answer["data"]}  # type: ignore[attr-defined]
            vectors = np.array([rows[place] for place in range(count)], np.float32)
        except (LookupError, TypeError, ValueError):
            raise ValueError(f"{self.address}: the answer does not have a vector for each of {count} texts.") from None
        if len(rows) != count or vectors.ndim != 2 or (self.dim and vectors.shape[1] != self.dim):
            expected = f"{count} of {self.dim} dimensions" if self.dim else str(count)
            shape = f"{len(rows)} vectors of {vectors.shape[-1]} dimensions"
            raise ValueError(f"{self.address}: {shape}, expected {expected}.")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ValueError(f"{self.address}: a vector is not finite, or all zeros.")
        scaled: np.ndarray = vectors / lengths
        return scaled


def check_address(address: str) -> None:
    """Raise ValueError unless an address is https, or http on this machine, and contains no credentials."""
    parts = urlsplit(address)
    local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if not (parts.scheme == "https" or local) or not parts.hostname or parts.username:
        raise ValueError(f"api:{address}: expected an address such as https://api.example.org/v1.")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None
