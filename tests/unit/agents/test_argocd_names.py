"""Names: of the temporary Application, of releases, and where Argo CD writes them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretell.agents.argocd.documents import Application, Manifests
from foretell.agents.argocd.manifests import as_original
from foretell.agents.argocd.release import Names, known_type, under_name
from foretell.agents.argocd.temporary import LONGEST_NAME, temporary_name
from foretell.domain.plan import InvocationId

ONE = InvocationId("i-1")


@given(st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,80}[a-z0-9])?", fullmatch=True))
def test_a_temporary_name_is_a_valid_name_of_at_most_53(name: str) -> None:
    made = temporary_name(name, ONE, "proposed")
    assert len(made) <= LONGEST_NAME
    stem, _, digits = made.rpartition("-plan-")
    assert name.startswith(stem)
    assert stem == name or len(name) > 39
    assert len(digits) == 8
    assert set(digits) <= set("0123456789abcdef")
    assert not stem.endswith(("-", "."))


def test_each_invocation_original_and_side_has_its_own_and_always_the_same() -> None:
    long = "a" * 60
    names = {
        temporary_name(original, InvocationId(invocation), side)
        for original in ("web", "web-2", long, long + "b")
        for invocation in ("i-1", "i-2")
        for side in ("current", "proposed")
        for _ in range(2)
    }
    assert len(names) == 16


SOURCE: dict[str, Any] = {"repoURL": "https://git.example.test/a.git", "path": "app"}


def original(**status: Any) -> Application:
    return Application.model_validate({"spec": {"source": SOURCE}, "status": status})


@pytest.mark.parametrize(
    ("source", "there", "type"),
    [
        ({**SOURCE, "chart": "web"}, None, "Helm"),
        ({**SOURCE, "helm": {}}, None, "Helm"),
        ({**SOURCE, "kustomize": {}}, original(sourceType="Helm"), "Kustomize"),
        ({"repoURL": "x", "ref": "values"}, None, "Ref"),
        (SOURCE, None, ""),
        (SOURCE, original(), ""),
        (SOURCE, original(sourceType="Helm"), "Helm"),
        ({**SOURCE, "path": "other"}, original(sourceType="Helm"), ""),
        ({**SOURCE, "targetRevision": "x"}, original(sourceTypes=["Kustomize"]), "Kustomize"),
    ],
)
def test_what_a_source_is(source: dict[str, Any], there: Application | None, type: str) -> None:
    assert known_type(source, 0, there) == type


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("$ARGOCD_APP_NAME", "web"),
        ("x-${ARGOCD_APP_NAME}-y", "x-web-y"),
        ("$ARGOCD_APP_PROJECT_NAME", "shop"),
        ("$ARGOCD_APP_NAMESPACE", "$ARGOCD_APP_NAMESPACE"),
        ("$ARGOCD_APP_NAME_X", "$ARGOCD_APP_NAME_X"),
        ("$ARGOCD_APP_REVISION", "$ARGOCD_APP_REVISION"),
        ("ARGOCD_APP_NAME", "ARGOCD_APP_NAME"),
    ],
)
def test_variables_of_the_name_are_written_out_and_no_others(text: str, written: str) -> None:
    assert Names("web", "shop").written(text) == written


def test_variables_are_written_out_only_where_argo_cd_looks_for_them() -> None:
    text = "$ARGOCD_APP_NAME"
    source = {
        **SOURCE,
        "helm": {
            "parameters": [{"name": text, "value": text}],
            "fileParameters": [{"name": text, "path": text}],
            "valueFiles": [text],
            "valuesObject": {"a": text},
            "values": text,
            "releaseName": "r",
        },
    }
    (made,) = under_name([source], ["Helm"], "web", Names("web", "shop"))
    assert made["helm"] == {
        "parameters": [{"name": text, "value": "web"}],
        "fileParameters": [{"name": text, "path": "web"}],
        "valueFiles": ["web"],
        "valuesObject": {"a": text},
        "values": text,
        "releaseName": "r",
    }


@pytest.mark.parametrize("envsubst", [True, False])
def test_annotations_of_kustomize_are_text_unless_they_are_to_be_substituted(
    envsubst: bool,
) -> None:
    text = "$ARGOCD_APP_NAME"
    kustomize = {
        "commonAnnotations": {"a": text},
        "commonLabels": {"b": text},
        "commonAnnotationsEnvsubst": envsubst,
    }
    (made,) = under_name(
        [{**SOURCE, "kustomize": kustomize}], ["Kustomize"], "web", Names("web", "")
    )
    assert made["kustomize"]["commonAnnotations"]["a"] == ("web" if envsubst else text)
    assert made["kustomize"]["commonLabels"]["b"] == "web"


TEMPORARY = "web-plan-1a2b3c4d"


def back(thing: dict[str, Any], namespace: str = "") -> tuple[Any, tuple[str, ...]]:
    found = Manifests(manifests=(json.dumps(thing),))
    rendered = as_original(found, TEMPORARY, "web", namespace)
    return json.loads(rendered.text), rendered.leaks


def test_marks_are_put_right_where_they_stand_and_only_whole_names() -> None:
    thing = {
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "labels": {"a": TEMPORARY, "b": f"{TEMPORARY}-x", "c": f"argo_{TEMPORARY}"},
            "annotations": {
                "argocd.argoproj.io/tracking-id": f"{TEMPORARY}:apps/Deployment:n/web",
                "note": TEMPORARY,
            },
        },
        "spec": {"template": {"metadata": {"labels": {"app": TEMPORARY}}}},
    }
    value, leaks = back(thing, "argo")
    assert value["metadata"]["labels"] == {"a": "web", "b": f"{TEMPORARY}-x", "c": "argo_web"}
    annotations = value["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/tracking-id"] == "web:apps/Deployment:n/web"
    assert annotations["note"] == TEMPORARY
    assert value["spec"]["template"]["metadata"]["labels"] == {"app": "web"}
    assert leaks == ("Deployment/web",)


@pytest.mark.parametrize(
    "thing",
    [
        {"kind": "ConfigMap", "metadata": {"name": "web", "labels": None}, "data": {"a": "b"}},
        {"kind": "ConfigMap", "metadata": None, "spec": None},
        {"kind": "ConfigMap", "metadata": {"labels": {"a": TEMPORARY}}, "spec": {"template": "x"}},
    ],
)
def test_what_has_no_mark_or_an_odd_shape_is_no_leak(thing: dict[str, Any]) -> None:
    assert back(thing)[1] == ()


def test_a_name_that_was_cut_is_still_seen() -> None:
    assert back({"kind": "Job", "metadata": {"name": TEMPORARY[:-3]}})[1] == (
        f"Job/{TEMPORARY[:-3]}",
    )
