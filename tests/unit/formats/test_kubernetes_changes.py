"""Which objects change, and how that is told."""

from itertools import permutations
from random import Random
from typing import Any

import pytest
from manifests import compared, config_map, deployment, secret, seen, stream

from foretell.domain.errors import InvalidRequest
from foretell.domain.result import Action
from foretell.formats.kubernetes import CompareOptions, IgnoreRule, Tracking, compare

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def route(namespace: str | None, to: str) -> dict[str, Any]:
    metadata = {"name": "r"} if namespace is None else {"name": "r", "namespace": namespace}
    return {"apiVersion": "acme.test/v1", "kind": "Route", "metadata": metadata, "spec": {"to": to}}


def test_objects_of_an_unknown_kind_are_told_apart_by_namespace() -> None:
    result = compared([route("a", "x"), route("b", "x")], [route("a", "x"), route("b", "y")])
    assert seen(result) == [("modify", "b/r")]
    assert result.changes[0].api_version == "acme.test/v1"


def test_an_absent_namespace_is_that_of_the_destination() -> None:
    result = compared([route("b", "x")], [route(None, "x")], default_namespace="b")
    assert not result.changes


def test_a_cluster_scoped_kind_gets_no_default_namespace() -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    result = compared([], [role | {"metadata": {"name": "c"}}], default_namespace="b")
    assert seen(result) == [("add", "/c")]


def cluster_role(namespace: str | None, verb: str = "get") -> dict[str, Any]:
    metadata = {"name": "r"} if namespace is None else {"name": "r", "namespace": namespace}
    version = "rbac.authorization.k8s.io/v1"
    rules = [{"verbs": [verb]}]
    return {"apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def test_a_namespace_that_is_written_down_is_kept_whatever_the_kind() -> None:
    before = [cluster_role("a"), cluster_role("b")]
    assert seen(compared(before, [cluster_role("a"), cluster_role("b", "list")])) == [
        ("modify", "b/r")
    ]
    assert seen(compared(before, before[:1])) == [("delete", "b/r")]


def test_a_cluster_scoped_object_with_a_namespace_on_one_side_is_one_object() -> None:
    result = compared([cluster_role("a")], [cluster_role(None, "list")], default_namespace="z")
    assert seen(result) == [("modify", "a/r")]
    assert not compared([cluster_role("a")], [cluster_role(None)]).changes


def test_a_crd_in_the_render_says_that_its_kind_is_cluster_scoped() -> None:
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "routes.acme.test"},
        "spec": {"group": "acme.test", "scope": "Cluster", "names": {"kind": "Route"}},
    }
    result = compared([crd], [crd, route(None, "x")], default_namespace="b")
    assert seen(result) == [("add", "/r")]


def test_the_order_of_documents_is_no_change() -> None:
    four = [config_map(name, where, k="1") for where in "xy" for name in ("cfg", "other")]
    for order in permutations(four):
        assert not compared(four, list(order)).changes


def test_another_version_of_the_group_is_one_changed_line() -> None:
    old = deployment() | {"apiVersion": "apps/v1beta1"}
    result = compared([old], [deployment()])
    assert seen(result) == [("modify", "n/d")]
    assert (result.changes[0].additions, result.changes[0].deletions) == (1, 1)


def test_another_group_is_another_object() -> None:
    old = {"apiVersion": "traefik.containo.us/v1alpha1", "kind": "IngressRoute"}
    new = {"apiVersion": "traefik.io/v1alpha1", "kind": "IngressRoute"}
    metadata = {"metadata": {"name": "r", "namespace": "n"}}
    result = compared([old | metadata], [new | metadata])
    assert seen(result) == [("delete", "n/r"), ("add", "n/r")]


def test_a_core_kind_is_removed_while_its_namesake_stays() -> None:
    metadata = {"metadata": {"name": "s", "namespace": "n"}}
    core = {"apiVersion": "v1", "kind": "Service"} | metadata
    knative = {"apiVersion": "serving.knative.dev/v1", "kind": "Service"} | metadata
    result = compared([core, knative], [knative])
    assert [(one.action, one.api_version) for one in result.changes] == [(Action.DELETE, "v1")]


def test_items_of_lists_are_objects() -> None:
    def listed(*items: Any, kind: str = "List") -> dict[str, Any]:
        return {"apiVersion": "v1", "kind": kind, "items": list(items)}

    a, b = config_map("a", k="1"), config_map("b", k="1")
    result = compared([listed(a), listed(b)], [listed(a), listed(config_map("b", k="2"))])
    assert seen(result) == [("modify", "n/b")]
    bare = {key: item for key, item in a.items() if key not in ("kind", "apiVersion")}
    assert not compared([a], [listed(bare, kind="ConfigMapList")]).changes


def test_a_kind_that_merely_ends_in_list_is_an_object() -> None:
    allow = {
        "apiVersion": "acme.test/v1",
        "kind": "AllowList",
        "metadata": {"name": "a", "namespace": "n"},
        "items": ["10.0.0.0/8"],
    }
    assert seen(compared([], [allow])) == [("add", "n/a")]


def test_quoting_key_order_and_folding_are_no_change() -> None:
    one = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: '1', b: \"yes\"}}"
    other = (
        "kind: ConfigMap\napiVersion: v1\nmetadata:\n    name: c\n"
        'data:\n    b: >-\n        yes\n    a: "1"\n'
    )
    result = compare(one, other)
    assert not result.changes
    assert result.current == result.proposed == compare(one, other).current


def test_a_number_for_a_text_is_a_change() -> None:
    assert seen(compared([config_map("c", a=1)], [config_map("c", a="1")])) == [("modify", "n/c")]
    assert seen(compared([config_map("c", a=1)], [config_map("c", a=True)])) == [("modify", "n/c")]


def test_equal_quantities_are_shown_and_not_counted() -> None:
    def limited(cpu: Any, memory: str) -> dict[str, Any]:
        container = {"name": "c", "resources": {"limits": {"cpu": cpu, "memory": memory}}}
        return deployment(template={"spec": {"containers": [container]}})

    result = compared([limited(0.5, "1Gi")], [limited("500m", "1024Mi")])
    assert [(one.action, one.tags) for one in result.changes] == [
        (Action.NO_OP, ("equal quantity",))
    ]
    assert not result.has_changes
    assert compared([limited(0.5, "1Gi")], [limited("501m", "1024Mi")]).has_changes


def test_text_that_looks_like_a_quantity_is_text() -> None:
    assert seen(compared([config_map("c", q="0.5")], [config_map("c", q="500m")]))


def test_quantities_of_custom_resources_are_equal_only_where_configured() -> None:
    def sized(cpu: Any) -> dict[str, Any]:
        return route("a", "x") | {"spec": {"cpu": cpu}}

    assert compared([sized(0.5)], [sized("500m")]).has_changes
    paths = {("acme.test", "Route"): ("/spec/cpu",)}
    assert not compared([sized(0.5)], [sized("500m")], quantity_paths=paths).has_changes


def test_argo_cds_own_tracking_is_no_change() -> None:
    mark = "argocd.argoproj.io/tracking-id"

    def marked(value: str) -> dict[str, Any]:
        return deployment() | {"metadata": {"name": "d", "annotations": {mark: value}}}

    assert not compared(
        [marked("web:apps/Deployment:n/d")], [marked("t:apps/Deployment:n/d")]
    ).changes
    assert compared([marked("mine")], [marked("yours")]).has_changes


@pytest.mark.parametrize(
    ("tracking", "names", "changed"),
    [
        (Tracking.ANNOTATION, (), True),
        (Tracking.LABEL, (), False),
        (Tracking.LABEL, ("blue", "green"), False),
        (Tracking.LABEL, ("blue",), True),
    ],
)
def test_the_instance_label_is_the_users_unless_argo_cd_tracks_by_it(
    tracking: Tracking, names: tuple[str, ...], changed: bool
) -> None:
    def labelled(value: str) -> dict[str, Any]:
        labels = {"app.kubernetes.io/instance": value}
        return deployment() | {"metadata": {"name": "d", "labels": labels}}

    result = compared(
        [labelled("blue")], [labelled("green")], tracking=tracking, tracking_names=frozenset(names)
    )
    assert result.has_changes is changed


def test_a_hook_is_diffed_and_tagged_with_its_phase() -> None:
    def job(image: str) -> dict[str, Any]:
        metadata = {"name": "m", "annotations": {"helm.sh/hook": "pre-upgrade"}}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"i": image}}

    result = compared([job("m:1"), deployment()], [deployment(), job("m:2")])
    assert [one.tags for one in result.changes] == [("hook: pre-upgrade",)]
    assert "+  i: m:2" in result.changes[0].diff
    assert (result.additions, result.deletions, result.diff) == (1, 1, result.changes[0].diff)


def test_a_hook_is_made_anew_on_each_run_and_not_recreated() -> None:
    def pod(image: str) -> dict[str, Any]:
        metadata = {"name": "t", "annotations": {"helm.sh/hook": "test"}}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"a": image}}

    assert [one.tags for one in compared([pod("1")], [pod("2")]).changes] == [("hook: test",)]


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        ("helm.sh/resource-policy", "keep"),
        ("helm.sh/resource-policy", " Keep"),
        ("argocd.argoproj.io/sync-options", "Replace=true, Prune=false"),
        ("kustomize.toolkit.fluxcd.io/prune", "disabled"),
    ],
)
def test_what_stays_in_the_cluster_is_no_delete(annotation: str, value: str) -> None:
    kept = deployment() | {"metadata": {"name": "d", "annotations": {annotation: value}}}
    result = compared([kept, config_map("c")], [])
    assert [one.tags for one in result.changes] == [(), ("kept",)]
    assert (result.kept, result.count(Action.DELETE)) == (1, 1)
    assert result.deletes_everything
    assert not compared([kept], []).deletes_everything


def test_what_is_asked_to_be_kept_only_now_is_nothing_to_keep() -> None:
    result = compared([deployment()], [])
    assert (result.kept, result.deletes_everything) == (0, True)


def test_two_empty_sides_are_empty() -> None:
    result = compare("", "# nothing\n---\n")
    assert (result.empty, result.deletes_everything, result.changes) == (True, False, ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"ports": [{"port": 53, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]},
         {"ports": [{"port": 53, "protocol": "TCP"}]}),
        ({"labels": {"a": "1", "b": "2"}}, {"labels": {"a": "1"}}),
        ({"selector": {"a": "b"}}, {"selector": []}),
        ({"selector": {}}, {"selector": []}),
        ({"selector": None}, {}),
    ],
)  # fmt: skip
def test_a_removal_is_always_shown(before: dict[str, Any], after: dict[str, Any]) -> None:
    result = compared([deployment(**before)], [deployment(**after)])
    assert result.changes[0].deletions > 0


def test_a_list_in_another_order_is_a_change_and_says_so() -> None:
    result = compared([deployment(args=["a", "b"])], [deployment(args=["b", "a"])])
    assert [(one.action, one.tags) for one in result.changes] == [(Action.MODIFY, ("reordered",))]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("app-config-8mbdf7882g", "app-config-gk642m9t7b"),
        ("app-config-3f2a9c1", "app-config-77b0e12"),
        ("app-config-v1.2.3", "app-config-v1.2.4"),
    ],
)
def test_names_that_differ_in_their_hash_are_paired(before: str, after: str) -> None:
    result = compared([config_map(before, k="1")], [config_map(after, other="2")])
    delete, add = sorted(result.changes, key=lambda one: one.action != Action.DELETE)
    assert (delete.action, delete.tags) == (Action.DELETE, (f"renamed to {after}",))
    assert (add.action, add.tags) == (Action.ADD, (f"renamed from {before}",))
    assert f"-  name: {before}" in add.diff
    assert delete.diff == ""


def test_a_renamed_object_is_found_by_its_content() -> None:
    body = {f"key{at}": str(at) for at in range(10)}
    result = compared(
        [config_map("a", **body), config_map("gone", x="y")],
        [config_map("b", **body, more="x"), config_map("new", z="q")],
    )
    assert {one.name: one.tags for one in result.changes} == {
        "a": ("renamed to b",),
        "b": ("renamed from a",),
        "gone": (),
        "new": (),
    }


def test_objects_with_little_in_common_are_no_rename() -> None:
    def filled(prefix: str) -> dict[str, str]:
        return {f"{prefix}{at}": str(at) for at in range(9)} | {"shared": "of both"}

    result = compared([config_map("a", **filled("x"))], [config_map("b", **filled("y"))])
    assert [one.tags for one in result.changes] == [(), ()]


@pytest.mark.parametrize(
    ("kind", "field", "old", "new", "tags"),
    [
        ("apps/v1 Deployment", "selector", {"a": "b"}, {"a": "c"}, ("recreate: spec.selector",)),
        ("apps/v1 Deployment", "replicas", 1, 2, ()),
        ("apps/v1 StatefulSet", "volumeClaimTemplates", [{"a": 1}], [{"a": 2}],
         ("recreate: spec.volumeClaimTemplates",)),
        ("apps/v1 StatefulSet", "podManagementPolicy", None, "OrderedReady", ()),
        ("v1 Service", "clusterIP", "10.0.0.1", "None", ("recreate: spec.clusterIP",)),
        ("v1 Service", "clusterIP", "10.0.0.1", "", ()),
        ("batch/v1 Job", "template", {"a": 1}, {"a": 2}, ("recreate: spec.template",)),
        ("v1 PersistentVolumeClaim", "storageClassName", "a", "b",
         ("recreate: spec.storageClassName",)),
        ("v1 PersistentVolumeClaim", "resources", {"requests": {"storage": "1Gi"}},
         {"requests": {"storage": "2Gi"}}, ()),
        ("acme.test/v1 Deployment", "selector", {"a": "b"}, {"a": "c"}, ()),
    ],
)  # fmt: skip
def test_a_change_of_an_immutable_field_means_to_recreate(
    kind: str, field: str, old: Any, new: Any, tags: tuple[str, ...]
) -> None:
    api_version, name = kind.split()
    top = {"apiVersion": api_version, "kind": name, "metadata": {"name": "x"}}
    sides = [top | {"spec": {} if value is None else {field: value}} for value in (old, new)]
    assert [one.tags for one in compared([sides[0]], [sides[1]]).changes] == [tags]


def webhook(bundle: str, **extra: str) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "w"},
        "webhooks": [{"clientConfig": {"caBundle": bundle}, **extra}],
    }


def test_nothing_is_hidden_unless_a_rule_says_so() -> None:
    assert seen(compared([webhook("QQ==")], [webhook("QkI=")])) == [("modify", "/w")]


@pytest.mark.parametrize(
    "rule",
    [
        IgnoreRule(names=("caBundle",)),
        IgnoreRule(pointers=("/webhooks/0/clientConfig/caBundle",)),
        IgnoreRule(pointers=("/webhooks/*/clientConfig",), kind="Validating*"),
        IgnoreRule(edit=lambda value: {key: value[key] for key in value if key != "webhooks"}),
    ],
)
def test_what_a_rule_hides_is_counted(rule: IgnoreRule) -> None:
    result = compared([webhook("QQ==")], [webhook("QkI=")], ignore=(rule,))
    assert [(one.action, one.tags) for one in result.changes] == [(Action.NO_OP, ("suppressed",))]
    assert (result.suppressed, result.has_changes) == (1, False)
    assert "QkI=" not in result.proposed


def test_a_rule_hides_no_more_than_it_names() -> None:
    rule = IgnoreRule(names=("caBundle",))
    result = compared([webhook("QQ==", a="1")], [webhook("QkI=", a="2")], ignore=(rule,))
    assert [(one.action, one.tags) for one in result.changes] == [(Action.MODIFY, ("suppressed",))]
    assert (result.changes[0].additions, result.suppressed) == (1, 0)
    elsewhere = IgnoreRule(names=("caBundle",), kind="Mutating*")
    assert compared([webhook("QQ==")], [webhook("QkI=")], ignore=(elsewhere,)).has_changes


def rolled(checksum: str, replicas: int = 1) -> dict[str, Any]:
    annotations = {"checksum/secret": checksum}
    return deployment(template={"metadata": {"annotations": annotations}}) | {
        "spec": {"replicas": replicas, "template": {"metadata": {"annotations": annotations}}}
    }


def test_what_differs_on_each_render_is_no_change_but_is_named() -> None:
    result = compare(
        *(_rendered("one", "h1"), _rendered("two", "h2")),
        CompareOptions(current_again=_rendered("three", "h3")),
    )
    assert {one.kind: (one.action, one.tags) for one in result.changes} == {
        "Secret": (Action.NO_OP, ("non-deterministic: data.password",)),
        "Deployment": (
            Action.NO_OP,
            ("non-deterministic: spec.template.metadata.annotations[checksum/secret]",),
        ),
    }
    assert result.warnings == (
        "2 fields differ on each render; a sync will restart Deployment/n/d",
    )


def test_a_true_change_beside_a_random_value_is_shown_alone() -> None:
    result = compare(
        _rendered("one", "h1"),
        _rendered("two", "h2", replicas=2),
        CompareOptions(proposed_again=_rendered("three", "h3", replicas=2)),
    )
    changed = [one for one in result.changes if one.action is Action.MODIFY]
    assert [(one.kind, one.additions, one.deletions) for one in changed] == [("Deployment", 1, 1)]
    assert "+  replicas: 2" in changed[0].diff


def _rendered(password: str, checksum: str, replicas: int = 1) -> str:
    return stream(secret("s", stringData={"password": password}), rolled(checksum, replicas))


def test_objects_that_are_named_at_random_are_one_object() -> None:
    first, second, third = (stream(config_map(f"job-{name}", k="1")) for name in ("x1", "q9", "z3"))
    again = CompareOptions(current_again=second, proposed_again=first)
    result = compare(first, third, again)
    assert not result.has_changes


def test_objects_named_by_the_server_keep_their_name_whatever_the_order() -> None:
    def job(image: str) -> dict[str, Any]:
        metadata = {"generateName": "job-", "namespace": "n"}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"i": image}}

    assert not compared([job("a"), job("b")], [job("b"), job("a")]).changes
    result = compared([job("a"), job("b")], [job("c"), job("a")])
    assert seen(result) == [("modify", "n/job-<generated 2>")]
    assert seen(compared([job("a")], [job("a"), job("b")])) == [("add", "n/job-<generated 2>")]
    shifted = compared([job("b"), job("c")], [job("a"), job("b")])
    assert seen(shifted) == [("modify", "n/job-<generated 2>")]


def test_a_repeated_object_is_reported_and_the_last_one_counts() -> None:
    result = compared([config_map("c", k="1")], [config_map("c", k="1"), config_map("c", k="2")])
    assert seen(result) == [("modify", "n/c")]
    assert result.warnings == (
        "ConfigMap/n/c is there twice, in document 1 of the proposed side (line 2) and document 2"
        " of the proposed side (line 4); the last counts",
    )


def test_an_object_that_is_not_in_each_render_is_named() -> None:
    again = CompareOptions(proposed_again=stream(config_map("a")))
    result = compare("", stream(config_map("a"), config_map("b")), again)
    assert result.warnings == ("ConfigMap/n/b is not in each render",)


def test_secret_values_that_the_server_hid_are_not_called_equal() -> None:
    hidden = secret(data={"p": "+++++++++", "q": "++++++++++"})
    result = compared([hidden], [hidden])
    assert (result.changes, result.incomparable, result.has_changes) == ((), 1, None)
    assert result.warnings == ("values are hidden by the server and not compared: Secret/n/s",)


def test_a_diff_that_is_too_large_to_be_the_smallest_says_so() -> None:
    before, after = (
        config_map("c", text="".join(Random(seed).choices(["a\n", "b\n", "c\n"], k=40_000)))
        for seed in (1, 2)
    )
    result = compared([before], [after])
    assert result.warnings == ("ConfigMap/n/c: a smaller diff than the one shown may exist",)


@pytest.mark.parametrize("raw", [False, True])
def test_progress_text_of_the_renderer_is_no_object(raw: bool) -> None:
    text = "Pulled: registry.test/chart:1\nDigest: sha256:0a1b\n" + stream(config_map("c"))
    result = compare("", text.encode() if raw else text)
    assert seen(result) == [("add", "n/c")]
    assert "progress text" in result.warnings[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Saving 1 charts\n---\nkind: X", "document 1 of the proposed side (line 1) is text"),
        ("Pulled: a\nStatus: b\n", "document 1 of the proposed side (line 1) has no apiVersion"),
        ("---\n- a\n", "is a list, not an object"),
        ("5", "is a number, not an object"),
        ("apiVersion: v1\nkind: X\nmetadata: {}", "has no metadata.name"),
        ("apiVersion: v1\nkind: X\n", "a X, has no metadata"),
        ("apiVersion: v1\nkind: List\nitems: [null]", "is nothing, not an object"),
    ],
)
def test_what_is_no_object_is_refused_by_its_number(text: str, said: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        compare("", text)
    assert said in str(refused.value)


@pytest.mark.parametrize("written", ["12", "1.5", "[a]", "{a: b}"])
@pytest.mark.parametrize("field", ["name", "namespace", "generateName"])
def test_a_name_that_is_a_number_or_a_collection_is_refused_and_never_guessed(
    field: str, written: str
) -> None:
    rest = "" if field == "name" else "name: c, "
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{{rest}{field}: {written}}}\n"
    with pytest.raises(InvalidRequest) as refused:
        compare("", [("---\n# nothing\n", "a.yaml"), (text, "b.yaml")])
    said = str(refused.value)
    assert said.startswith(f"document 1 of b.yaml (line 1), a ConfigMap: metadata.{field} is ")
    assert "expected text" in said
    assert ("put it in quotes" in said) == (written[0] not in "[{")


def test_a_kind_that_is_no_text_is_named() -> None:
    with pytest.raises(InvalidRequest, match=r"kind is true or false, expected text"):
        compare("", "apiVersion: v1\nkind: n\nmetadata: {name: c}\n")
    with pytest.raises(InvalidRequest, match=r"apiVersion is a number, expected text"):
        compare("", "apiVersion: 1\nkind: X\nmetadata: {name: c}\n")


@pytest.mark.parametrize("absent", [{}, {"namespace": None}, {"namespace": ""}])
def test_a_namespace_that_is_empty_is_that_of_the_destination(absent: dict[str, Any]) -> None:
    value = config_map("c", "b", k="1")
    value["metadata"] = {"name": "c", **absent}
    result = compared([config_map("c", "b", k="2")], [value], default_namespace="b")
    assert seen(result) == [("modify", "b/c")]


def test_several_streams_are_one_side_and_what_is_said_names_theirs() -> None:
    files: list[tuple[str | bytes, str]] = [
        (stream(config_map("a")), "a.yaml"),
        (stream(config_map("b")).encode("utf-16"), "b.yaml"),
    ]
    assert not compare(files, stream(config_map("b"), config_map("a"))).changes
    assert not compare([], []).changes
    twice = compare([], [(stream(config_map("c")), "a.yaml"), (stream(config_map("c")), "b.yaml")])
    assert twice.warnings == (
        "ConfigMap/n/c is there twice, in document 1 of a.yaml (line 2) and document 1 of b.yaml"
        " (line 2); the last counts",
    )


def test_a_repeated_object_of_one_list_is_named_by_its_document() -> None:
    both = {"apiVersion": "v1", "kind": "List", "items": [config_map("c"), config_map("c", k="1")]}
    assert compared([], [both]).warnings == (
        "ConfigMap/n/c is there twice, in document 1 of the proposed side (line 2); the last"
        " counts",
    )


def test_a_second_render_of_several_streams_is_compared_with_them() -> None:
    def files(password: str) -> list[tuple[str | bytes, str]]:
        return [(stream(config_map("a", p=password)), "a"), (stream(config_map("b")), "b")]

    result = compare(files("1"), files("2"), CompareOptions(proposed_again=files("3")))
    assert not result.has_changes


def test_input_for_kustomize_is_left_out_and_said() -> None:
    result = compare("", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
    assert (result.empty, len(result.warnings)) == (True, 1)


def test_a_live_object_is_compared_in_what_somebody_asked_for() -> None:
    live = deployment(strategy={"type": "RollingUpdate"}) | {
        "status": {"readyReplicas": 1},
        "metadata": {
            "name": "d",
            "namespace": "n",
            "uid": "u",
            "managedFields": [],
            "annotations": {
                LAST_APPLIED: '{"spec":{"replicas":1,"old":1}}',
                "deployment.kubernetes.io/revision": "3",
            },
        },
    }
    live["spec"]["old"] = 1
    result = compared([live], [deployment()], live=True)
    assert (result.changes[0].deletions, result.changes[0].additions) == (1, 0)
    assert "-  old: 1" in result.changes[0].diff
    assert not compared([live], [deployment(old=1)], live=True).changes
