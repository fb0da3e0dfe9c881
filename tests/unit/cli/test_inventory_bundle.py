"""What is sent to a server is what was read here."""

from pathlib import Path

from foretell.cli.inventory_bundle import bundle
from foretell.inventory.load import load, parse


def test_files_and_rule_files_become_one_text_with_the_same_inventory(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "tag.rego").write_text('package a\n\ndeny contains "no" if false\n')
    (tmp_path / "a.yaml").write_text(
        "workspace: acme\n"
        "environments:\n  - {name: production}\n"
        "policies:\n"
        "  - name: images\n"
        "    rules:\n"
        "      - planValidationOpa: {name: no latest, file: rules/tag.rego}\n"
    )
    (tmp_path / "b.yml").write_text(
        'workspace: acme\nenvironments:\n  - {name: staging}\nresources:\n  - {identifier: "on"}\n'
    )
    read = load([tmp_path])
    sent = parse({"inventory.yaml": bundle([tmp_path], read.inventory)})
    assert sent.workspace == "acme"
    assert sent.inventory == read.inventory
