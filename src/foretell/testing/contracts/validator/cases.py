"""Rules that every engine must take, and what each says about `DOCUMENT`.

The answers are those of OPA 1.x; `deny` holds messages in the order in which they are reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """`rego` without its package line, which is the first."""

    name: str
    rego: str
    deny: Sequence[str] = ()
    warn: Sequence[str] = ()
    package: str = "main"

    @property
    def module(self) -> str:
        return f"package {self.package}\n{self.rego}\n"


def _says(name: str, body: str, *deny: str, before: str = "") -> Case:
    """One `deny` rule whose body brings `msg`, after helpers."""
    return Case(name, f"{before}\ndeny contains msg if {{\n{body}\n}}", deny)


def _value(name: str, expression: str, text: str) -> Case:
    """What an expression is, as compact JSON."""
    return _says(name, f"msg := json.marshal({expression})", text)


SYNTAX = [
    Case("a rule that says nothing", 'deny contains "no" if input.manifest.has_changes == false'),
    Case("a constant", 'deny contains "no"', ["no"]),
    Case("an import of v1", 'import rego.v1\ndeny contains "no"', ["no"]),
    Case("an import of input", "import input.agent_type as t\ndeny contains t", ["helm"]),
    Case("a free package", 'deny contains "no"', ["no"], package='company["a-b"].shop'),
    Case("a warning only", 'warn contains "look"', [], ["look"]),
    Case("both", 'deny contains "no"\nwarn contains {"msg": "look"}', ["no"], ["look"]),
    Case("a list", 'deny := ["b", "a"]', ["a", "b"]),
    Case("a set of a rule that is undefined", 'deny := {"a"} if input.nothing'),
    Case("a default", 'default deny := ["no"]\ndeny := [] if input.nothing', ["no"]),
    _says("else", "msg := f(2)", "two", before='f(x) := "one" if x == 1 else := "two"'),
    _says("some in", 'some x in {"a", "b"}\nmsg := x', "a", "b"),
    _says("some with a key", 'some k, v in {"a": 1}\nmsg := sprintf("%s=%d", [k, v])', "a=1"),
    _says("some without in", 'some i\n[5, 6][i] == 6\nmsg := sprintf("%d", [i])', "1"),
    _says("every", 'every c in [1, 2] { c > 0 }\nmsg := "all"', "all"),
    _says("every with a key", 'every k, v in {"a": 1} { k == "a"; v == 1 }\nmsg := "all"', "all"),
    _says(
        "not every",
        'not ok\nmsg := concat("", ["n", "o"])',
        "no",
        before="""\
ok if every c in [1, -2] { c > 0 }""",
    ),
    _says("not", 'not input.nothing.at.all\nmsg := "absent"', "absent"),
    _says("null is there", 'input.current_version == null\nmsg := "unknown"', "unknown"),
    _says("unknown is not false", 'not input.values.has_changes == false\nmsg := "?"', "?"),
    _says(
        "with",
        'msg := name with input.environment.name as "test"',
        "test",
        before="""\
name := input.environment.name""",
    ),
    _says("raw strings", 'msg := `a\\n"b"`', 'a\\n"b"'),
    _says(
        "a nested comprehension",
        "msg := json.marshal([[y | some y in x] | some x in [[1], []]])",
        "[[1],[]]",
    ),
    _value("a set comprehension", "{y | some x in [1, 2, 3]; y := x % 2}", "[0,1]"),
    _value("an object comprehension", '{k: v | some k, v in ["a", "b"]}', '{"0":"a","1":"b"}'),
    _value("set operations", "({1, 2} | {3}) - ({1} & {1, 5})", "[2,3]"),
    _value("membership", '["a" in ["a"], 1 in {2}, ("k", 1 in {"k": 1})]', "[true,false,true]"),
    _says(
        "a partial object",
        "msg := sizes.web",
        "large",
        before="""\
sizes[name] := "large" if {
	some object in input.manifest.proposed
	object.kind == "Deployment"
	name := object.metadata.name
}""",
    ),
    _says(
        "a rule that calls rules",
        "some name in big\nmsg := name",
        "web",
        before="""\
big contains d.metadata.name if { some d in deployments; d.spec.replicas > limit }
deployments contains d if { some d in input.manifest.proposed; d.kind == "Deployment" }
limit := 10""",
    ),
    _says("its own package by its full name", "msg := data.main.word", "hi", before='word := "hi"'),
]

DATA = [
    _says(
        "an image",
        "some o in input.manifest.proposed\nsome c in o.spec.template.spec.containers\n"
        'endswith(c.image, ":latest")\nmsg := sprintf("%s: %s", [o.metadata.name, c.image])',
        "web: registry.example/web:latest",
    ),
    _says(
        "a delete",
        'some c in input.manifest.changes\nc.action == "delete"\n'
        'msg := sprintf("%s %s", [c.kind, c.name])',
        "Service old",
    ),
    _says(
        "before and after",
        "some c in input.manifest.changes\n"
        "c.after[0].spec.replicas > c.before[0].spec.replicas\nmsg := c.name",
        "web",
    ),
    Case(
        "an object with details", 'deny contains {"msg": "no", "severity": 3, "at": ["a"]}', ["no"]
    ),
    _says(
        "every environment but one",
        'input.environment.name != "test"\nmsg := input.agent_type',
        "helm",
    ),
    _says(
        "walk",
        'some path, value\nwalk(input.resource, [path, value])\nvalue == "Ireland"\n'
        'msg := concat("/", path)',
        "name",
    ),
    _value(
        "graph.reachable",
        'graph.reachable({"a": ["b"], "b": ["c"], "c": [], "d": []}, ["a"])',
        '["a","b","c"]',
    ),
    _says(
        "json.unmarshal",
        "some o in input.manifest.proposed\n"
        'json.unmarshal(o.data["app.json"]).debug\nmsg := o.metadata.name',
        "settings",
    ),
    _says(
        "yaml.unmarshal",
        'some o in input.manifest.proposed\nmsg := yaml.unmarshal(o.data["app.yaml"]).level',
        "info",
    ),
    _value("json.marshal", '{"b": [true, null], "a": "x"}', '{"a":"x","b":[true,null]}'),
    _value("object.get", '[object.get(input, ["resource", "config", "x"], "none")]', '["none"]'),
    _value("object.union", 'object.union({"a": {"b": 1}}, {"a": {"c": 2}})', '{"a":{"b":1,"c":2}}'),
    _value("object.remove", 'object.remove({"a": 1, "b": 2}, ["a"])', '{"b":2}'),
    _value("object.keys", 'object.keys({"a": 1, "b": 2})', '["a","b"]'),
    _value("array.concat and slice", "array.slice(array.concat([1], [2, 3]), 1, 3)", "[2,3]"),
    _value("types", '[type_name({1}), is_string("x"), is_null(null)]', '["set",true,true]'),
]

FUNCTIONS = [
    _value(
        "semver",
        '[semver.compare("1.5.0-rc.1", "1.5.0"), semver.compare("2.0.0", "1.9.9")]',
        "[-1,1]",
    ),
    _says(
        "semver of a tag",
        'semver.compare(trim_prefix(input.proposed_version.tag, "v"), "2.0.0") < 0\nmsg := "old"',
        "old",
    ),
    _value(
        "units.parse",
        '[units.parse("500m") * 2 == 1, units.parse("2Gi"), units.parse("1.5") > 1]',
        "[true,2147483648,true]",
    ),
    _value(
        "units.parse_bytes",
        '[units.parse_bytes("2Gi"), units.parse_bytes("1KB")]',
        "[2147483648,1000]",
    ),
    _value("time", 'time.parse_rfc3339_ns("2026-05-04T12:30:00Z")', "1777897800000000000"),
    _value(
        "time in a zone",
        '[time.weekday([1777897800000000000, "Asia/Tokyo"]), '
        'time.clock([1777897800000000000, "Europe/Berlin"])]',
        '["Monday",[14,30,0]]',
    ),
    _value("durations", 'time.parse_duration_ns("1h30m")', "5400000000000"),
    _says(
        "now",
        'time.now_ns() > time.parse_rfc3339_ns("2020-01-01T00:00:00Z")\nmsg := "later"',
        "later",
    ),
    _value(
        "regex",
        '[regex.match(`^[a-z]+:\\d`, "web:1"), regex.replace("a1b2", `\\d`, "-")]',
        '[true,"a-b-"]',
    ),
    _value(
        "regex groups",
        'regex.find_all_string_submatch_n(`(\\w)=(\\w)`, "a=1,b=2", -1)',
        '[["a=1","a","1"],["b=2","b","2"]]',
    ),
    _value(
        "glob",
        '[glob.match("*.example", ["."], "a.example"), '
        'glob.match("*.example", ["."], "a.b.example")]',
        "[true,false]",
    ),
    _value(
        "net.cidr_contains", 'net.cidr_contains("10.0.0.0/8", input.resource.config.cidr)', "true"
    ),
    _value("base64", 'base64.decode(base64.encode("héllo"))', '"héllo"'),
    _value(
        "strings",
        '[upper("ab"), split("a,b", ","), replace("aXa", "X", "-"), '
        'trim_space("  a "), substring("häuser", 1, 2), indexof("häx", "x"), '
        'strings.reverse("äb"), format_int(255, 16)]',
        '["AB",["a","b"],"a-a","a","äu",2,"bä","ff"]',
    ),
    _says(
        "sprintf",
        'msg := sprintf("%s %d %v %.2f %05d %q %x", ["a", 7, {"k": [1]}, 1.5, 42, "q", 255])',
        'a 7 {"k": [1]} 1.50 00042 "q" ff',
    ),
    _value(
        "numbers",
        "[sum([1, 2]), max([1, 3]), min([2, 1]), count({1, 2}), product([2, 3]), "
        "round(2.4), ceil(1.2), floor(1.8), abs(-2), 7 % 3, numbers.range(1, 3)]",
        "[3,3,1,2,6,2,2,1,2,1,[1,2,3]]",
    ),
    _value("sort", 'sort([3, "a", null, 1])', '[null,1,3,"a"]'),
    _value(
        "big numbers",
        "[input.values.current.id + 1, 9223372036854775807, "
        "input.values.current.id == input.values.proposed.id]",
        "[9007199254740994,9223372036854775807,false]",
    ),
    _value(
        "fractions", "[input.values.proposed.ratio * 2 == 1, 1 / 4, 0.5 + 0.25]", "[true,0.25,0.75]"
    ),
    _says(
        "unicode",
        'input.values.proposed["größe"] == "groß"\nmsg := "größer 😀 \\u00e9"',
        "größer 😀 é",
    ),
    _value("to_number", '[to_number("12"), to_number("-0.5")]', "[12,-0.5]"),
    _value("bits", "[bits.and(6, 3), bits.or(4, 1), bits.lsh(1, 4)]", "[2,5,16]"),
]

CASES = [*SYNTAX, *DATA, *FUNCTIONS]
