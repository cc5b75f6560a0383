"""XLM-RoBERTa's unigram tokenizer, rebuilt from the tables of the weight file."""

import re

from tokenizers import Tokenizer as Unigram
from tokenizers import models, pre_tokenizers

from graph.adapters.e5.weights import BEGIN, END, PAD, UNKNOWN, Vocabulary

_SPACES = re.compile(" {2,}")
_SURROGATES = range(0xD800, 0xE000)


class Tokenizer:
    """Texts to token ids, without the special ones. Its methods may run in several threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        # Lone surrogates cannot be encoded; a broken character is what they are.
        self._normal = vocabulary.normal | dict.fromkeys(_SURROGATES, "\ufffd")
        pieces = list(zip(vocabulary.pieces, vocabulary.scores, strict=True))
        lowest = min(vocabulary.scores)
        for special in (BEGIN, PAD, END, UNKNOWN, len(pieces) - 1):  # the last one is <mask>
            # `<s>` in a text is text. The name never matches; the score must not be lower than all others, since
            # the library derives that of an unknown character from the lowest.
            pieces[special] = (f"\ue0ff\ue0fe{special}", lowest)
        self._unigram = Unigram(models.Unigram(pieces, unk_id=UNKNOWN, byte_fallback=False))
        self._unigram.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always", split=True)

    def ids(self, text: str) -> list[int]:
        """Token ids of a text."""
        normal = _SPACES.sub(" ", text.translate(self._normal)).strip(" ")
        return self._unigram.encode(normal, add_special_tokens=False).ids
