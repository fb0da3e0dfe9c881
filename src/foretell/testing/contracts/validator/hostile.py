"""Rules that err, never end, take everything or want out: refused when saved, or contained."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hostile:
    """`says` is a part of the cause that people see, on every engine; `line` 0 is any line."""

    name: str
    rego: str
    says: str = ""
    line: int = 0

    @property
    def module(self) -> str:
        return f"package main\n{self.rego}\n"


def _deny(body: str) -> str:
    return f'deny contains "never" if {{\n{body}\n}}'


REFUSED = [
    Hostile("no Rego at all", "this is not Rego", line=2),
    Hostile("an open brace", 'deny contains "x" if {'),
    Hostile("the syntax of v0", "deny[msg] { msg := input.x }", line=2),
    Hostile("an unsafe variable", _deny("input.agent_type == y"), "unsafe", 3),
    Hostile("an unsafe variable in a negation", _deny("not input.agent_type == y"), "unsafe", 3),
    Hostile("an unsafe variable in a head", "deny contains msg if input.x", "unsafe", 2),
    Hostile("an unsafe variable in an answer", "f(x) := y if x\ndeny contains f(1)", "unsafe", 2),
    Hostile(
        "an unsafe variable in a comprehension", _deny("count([y | input.x]) > 0"), "unsafe", 3
    ),
    Hostile("a function that calls itself", "f(x) := f(x)\ndeny contains f(1)", "recursive", 2),
    Hostile(
        "rules that need each other",
        "deny contains x if some x in p\np contains x if some x in deny",
        "recursive",
        2,
    ),
    Hostile(
        "http.send",
        _deny('input.nothing\nhttp.send({"method": "get", "url": "http://x.test"})'),
        "http.send",
        4,
    ),
    Hostile(
        "http.send under another name",
        _deny("count([1]) == 1 with count as http.send"),
        "http.send",
        3,
    ),
    Hostile("opa.runtime", "deny contains x if {\nx := opa.runtime().env\n}", "opa.runtime", 3),
    Hostile("a look-up of a name", _deny('net.lookup_ip_addr("x.test")'), "net.lookup_ip_addr", 3),
    Hostile("a function that nobody has", _deny("input.nothing\nfoo.bar(1)"), "foo.bar", 4),
    Hostile("other data", _deny("data.company.secrets[_]"), "data.company", 3),
    Hostile("all data", _deny("some x in data"), "data", 3),
    Hostile("an import of other data", 'import data.company\ndeny contains "x"', "data.company", 2),
    Hostile("no deny and no warn", 'denied contains "x"', "deny", 1),
    Hostile("a violation", 'deny contains "x"\nviolation contains "y"', "violation", 3),
    Hostile(
        "a deny of another name", 'deny_latest contains "x"\ndeny contains "y"', "deny_latest", 2
    ),
]
"""Not one of these may be saved."""

ERRING = [
    Hostile("a number and a string", _deny("input.agent_type + 1 == 2"), line=3),
    Hostile("a division by zero", _deny("1 / count(input.values.changes) == 1"), "zero", 3),
    Hostile("a broken text", _deny("json.unmarshal(input.agent_type)"), line=3),
    Hostile("a broken expression", _deny('regex.match(concat("", ["[", ""]), "x")'), line=3),
    Hostile("a quantity that is none", _deny("units.parse(input.agent_type) > 1"), line=3),
    Hostile("two answers", 'deny := [input.agent_type]\ndeny := ["x"] if input.agent_type'),
    Hostile("a denial that is a number", "deny contains count(input.values.changes)", "a number"),
    Hostile("a denial without msg", 'deny contains {"message": input.agent_type}', "`msg`"),
    Hostile("a boolean deny", 'deny if input.agent_type == "helm"', "a boolean"),
    Hostile("deny as an object", 'deny[input.agent_type] := "x"', "an object"),
    Hostile("deny as a string", "deny := input.agent_type", "a string"),
    Hostile("deny as the word that an engine uses", 'deny := "<undefined>"', "a string"),
    Hostile(
        "100,000 denials",
        'deny contains msg if {\nsome i in numbers.range(1, 100000)\nmsg := sprintf("%d", [i])\n}',
        "100,000",
    ),
    Hostile(
        "a message of 10 MB",
        'deny contains concat("", [c |\nsome i in numbers.range(1, 100000)\n'
        'c := sprintf("%0100d", [i])])',
        "10,000,000",
    ),
]
"""Each is taken, and errs when it is asked."""

LIMITED = [
    Hostile(
        "a loop over everything",
        _deny(
            "some i in numbers.range(1, 200000)\nsome j in numbers.range(1, 200000)\ni * j == -1"
        ),
    ),
    Hostile(
        "400 by 400 by 400",
        _deny(
            "some i in numbers.range(1, 400)\nsome j in numbers.range(1, 400)\n"
            "some k in numbers.range(1, 400)\n(i * j) + k == -1"
        ),
    ),
    Hostile(
        "a string that doubles",
        'a0 := "0123456789abcdef"\n'
        + "\n".join(f'a{n + 1} := concat("", [a{n}, a{n}, a{n}, a{n}])' for n in range(16))
        + "\ndeny contains a16",
    ),
    Hostile(
        "a range without an end",
        "deny contains x if {\nsome x in [y | some y in numbers.range(1, 1000000000)]\n}",
    ),
]
"""Each is taken, and ended by a limit when it is asked."""
