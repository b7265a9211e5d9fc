"""Values on the wire."""

from __future__ import annotations

import collections
import contextlib
import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrial.testbench.decoding import Decoder
from retrial.testbench.encoding import Encoder
from retrial.testbench.wire import Malformed, decode_frame, encode_frame

atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**30),
    st.floats(allow_nan=False),
    st.text(st.characters(codec=None)),
    st.binary(),
    st.complex_numbers(allow_nan=False),
    st.decimals(allow_nan=False),
    st.fractions(),
    st.datetimes(timezones=st.none() | st.just(dt.timezone(dt.timedelta(hours=2)))),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.just(...),
    st.just(range(3, 9, 2)),
    st.sampled_from([int, ValueError]),
)
keys = st.one_of(st.integers(), st.text(), st.tuples(st.integers(), st.text()), st.frozensets(st.integers()))
values = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.sets(keys),
        st.dictionaries(keys, inner),
        st.dictionaries(keys, inner).map(collections.OrderedDict),
        st.lists(inner).map(lambda parts: collections.deque(parts, maxlen=len(parts) + 1)),
        st.lists(keys).map(collections.Counter),
        st.dictionaries(keys, inner).map(lambda parts: collections.defaultdict(list, parts)),
    ),
    max_leaves=12,
)


def refuse(_encoder, value):
    raise TypeError(value)


def refuse_tag(tag, _parts):
    raise Malformed(tag)


def through(value):
    encoder = Encoder(refuse)
    item = encoder.item(value)
    head, nodes = decode_frame(encoder.frame("value", item))
    return Decoder(nodes, refuse_tag).value(head[1])


def same(a, b):
    """Equal, and of the same types all the way down."""
    if type(a) is not type(b) or a != b:
        return False
    if isinstance(a, dict):
        return all(same(x, y) for x, y in zip(a.items(), b.items(), strict=True))
    if isinstance(a, (list, tuple, collections.deque)):
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    return True


@settings(max_examples=200, deadline=None)
@given(values)
def test_plain_values_arrive_as_they_left(value):
    """Every plain value comes out equal and of the same type."""
    assert same(through(value), value)


@settings(max_examples=300, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_any_json_is_a_value_or_malformed(text):
    """Whatever JSON a stranger sends, the decoder gives a value or says Malformed."""
    try:
        head, nodes = decode_frame(encode_frame("value", text if isinstance(text, list) else [text]))
        decoder = Decoder(nodes, refuse_tag)
        for node in range(len(nodes)):
            decoder.value([node])
        decoder.value(head)
    except Malformed:
        pass


tagged = st.recursive(
    st.integers(-2, 4) | st.text(max_size=3) | st.lists(st.integers(0, 4), min_size=1, max_size=1),
    lambda inner: st.lists(inner, max_size=4),
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ltdSFkrxcisbyenTCOqfDQ"), st.lists(tagged, max_size=4)).map(lambda p: [p[0], *p[1]]),
        max_size=5,
    )
)
def test_forged_nodes_are_values_or_malformed(nodes):
    """Nodes with known tags and any contents never raise anything but Malformed."""
    with contextlib.suppress(Malformed):
        Decoder(nodes, refuse_tag)


def test_floats_keep_their_bits():
    """Infinities, not-a-number and the sign of zero survive."""
    assert through(math.inf) == math.inf
    assert math.isnan(through(math.nan))
    assert math.copysign(1, through(-0.0)) == -1


def test_lone_surrogates_survive():
    """A string that is no text is still the same string."""
    pair = "\ud83d\ude00"
    assert through(pair) == pair


def test_cycles_and_shared_parts_survive():
    """A list that holds itself comes back as one, and what was one object stays one."""
    value = [1]
    value.append(value)
    back = through(value)
    assert back[1] is back
    part = [2]
    pair = through([part, part])
    assert pair[0] is pair[1]


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: (x,), lambda x: {"k": x}])
def test_depth_is_no_recursion(wrap):
    """A value nested far deeper than the recursion limit travels."""
    value = wrap(None)
    for _ in range(50_000):
        value = wrap(value)
    through(value)


def test_subclasses_travel_as_their_base_and_a_handle():
    """An instance of a builtin's subclass arrives as its base value, whatever the subclass says about itself."""

    class Liar(int):
        def __eq__(self, other):
            return True

        __hash__ = int.__hash__

    encoder = Encoder(lambda _encoder, _value: ["h", 0, "instance", "Liar"])
    item = encoder.item(Liar(5))
    head, nodes = decode_frame(encoder.frame("value", item))
    seen = {}
    decoder = Decoder(nodes, lambda tag, parts: seen.setdefault(tag, parts)[0])
    assert type(decoder.value(head[1])) is int
    assert seen == {"B": [5, "h", 0, "instance", "Liar"]}


def test_decimal_and_fraction_keep_their_value():
    """Exact numbers stay exact."""
    assert str(through(Decimal("1.10"))) == "1.10"
    assert through(Fraction(1, 3)) == Fraction(1, 3)


@pytest.mark.parametrize("frame", [b"", b"{}", b"[", b"[" * 100_000, b"\xff", b"[1] [2]", b"1" * 5000])
def test_what_is_no_frame_is_malformed(frame):
    """Bytes that are no frame are refused by one exception."""
    with pytest.raises(Malformed):
        decode_frame(frame)
