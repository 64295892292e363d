from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.graph.agents import CallableAgent
from orchestration.errors import UserError
from orchestration.library.agent_shape import agent_from, node_from
from orchestration.library.entries import Catalogue
from orchestration.library.library import Library
from orchestration.library.projects import Project
from orchestration.workflow_catalog import examples, open_workflow, save_workflow
from tests.support.graphs import diamond


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "Shop"
    folder.mkdir()
    return folder


def names(catalogue: Catalogue) -> list[str]:
    return [file.name for file in catalogue.workflows]


def outside(path: Path, name: str, identifier: str) -> Path:
    save_workflow(diamond().model_copy(update={"name": name, "id": identifier}), path)
    return path


def test_a_new_library_has_examples_and_templates_only(library: Library) -> None:
    catalogue = library.catalogue()
    assert (catalogue.files(), catalogue.projects, catalogue.agents) == ((), (), ())
    assert {file.path for file in catalogue.examples} == {each.path for each in examples()}
    assert all(file.name and file.nodes for file in catalogue.examples)
    assert catalogue.templates[0].display_name == "Simple Agent"
    assert catalogue.notices == ()


def test_a_new_workflow_has_one_node_at_its_place(library: Library) -> None:
    path = library.create()
    workflow = open_workflow(path)
    (node,) = workflow.nodes
    assert (node.label, node.position.x, node.position.y) == ("Idea", 80, 120)
    (file,) = library.catalogue().workflows
    assert (file.path, file.id, file.name, file.nodes) == (path, workflow.id, "Untitled", 1)


def test_a_rename_is_in_the_file_at_once_and_changes_nothing_else(library: Library) -> None:
    path = library.create()
    before = path.read_text("utf-8")
    library.rename(path, "  Checkout  ")
    assert names(library.catalogue()) == ["Checkout"]
    changed = zip(before.splitlines(), path.read_text("utf-8").splitlines(), strict=True)
    assert [new.strip() for old, new in changed if old != new] == ['"name": "Checkout",']
    library.rename(path, "   ")
    assert names(library.catalogue()) == ["Checkout"]


def test_a_copy_has_an_id_of_its_own_and_lies_beside_the_original(
    library: Library, folder: Path
) -> None:
    project = library.add_project(folder)
    path = library.create(project.id)
    copy = library.duplicate(path)
    assert copy.parent == path.parent
    assert open_workflow(copy).name == "Untitled copy"
    assert open_workflow(copy).id != open_workflow(path).id
    assert copy.name == f"{open_workflow(copy).id}.workflow.json"


def test_an_example_is_duplicated_to_the_own_workflows_and_is_never_changed(
    library: Library,
) -> None:
    example = examples()[0].path
    copy = library.duplicate(example)
    assert [file.path for file in library.catalogue().workflows] == [copy]
    for refused in (library.delete, lambda path: library.rename(path, "Mine")):
        with pytest.raises(UserError, match="comes with the program"):
            refused(example)


def test_what_was_deleted_comes_back_byte_for_byte(library: Library, tmp_path: Path) -> None:
    path = library.create()
    library.rename(path, "Mine")
    data, backup = path.read_bytes(), path.with_name(path.name + ".bak").read_bytes()
    removed = library.delete(path)
    assert removed.name == "Mine"
    assert names(library.catalogue()) == []
    assert os.listdir(path.parent) == []

    assert library.restore(removed) == path
    assert path.read_bytes() == data
    assert path.with_name(path.name + ".bak").read_bytes() == backup
    assert os.listdir(tmp_path / "data" / "trash") == []
    with pytest.raises(UserError, match="cannot be brought back"):
        library.restore(removed)


def test_what_comes_back_takes_nobody_s_place(library: Library) -> None:
    path = library.create()
    removed = library.delete(path)
    other = library.create()
    assert other == path
    back = library.restore(removed)
    assert isinstance(back, Path)
    assert back != path
    assert len({file.id for file in library.catalogue().workflows}) == 2


def test_a_file_that_is_gone_cannot_be_deleted(library: Library, tmp_path: Path) -> None:
    path = library.create()
    path.unlink()
    with pytest.raises(UserError, match="no file"):
        library.delete(path)
    assert not (tmp_path / "data" / "trash").exists()


@pytest.mark.parametrize(
    "content", [b"{broken", b"[]", b'{"id": 3}', b"", b'{"id":"a","name":"x","nodes":[]}', b"\xff"]
)
def test_a_damaged_file_hides_no_other_and_is_told(
    library: Library, folder: Path, content: bytes
) -> None:
    project = library.add_project(folder)
    good, in_project = library.create(), library.create(project.id)
    for place in (good.parent, in_project.parent):
        (place / "bad.workflow.json").write_bytes(content)
    catalogue = library.catalogue()
    for files in (catalogue.workflows, catalogue.in_projects[project.id]):
        fine, bad = files
        assert (fine.name, fine.damage) == ("Untitled", "")
        assert bad.name == "bad"
        assert bad.damage


def test_what_the_program_set_aside_is_not_listed(library: Library) -> None:
    path = library.create()
    (path.parent / "a.damaged-20260101T000000Z.workflow.json").write_bytes(b"{}")
    (path.parent / ".hidden.workflow.json").write_bytes(b"{}")
    (path.parent / "notes.txt").write_bytes(b"")
    assert len(library.catalogue().workflows) == 1


def test_a_changed_file_is_read_again(library: Library) -> None:
    path = library.create()
    assert names(library.catalogue()) == ["Untitled"]
    text = path.read_text("utf-8").replace("Untitled", "Changed elsewhere")
    path.write_text(text, "utf-8")
    assert names(library.catalogue()) == ["Changed elsewhere"]


def test_an_import_keeps_its_id_unless_that_is_taken(library: Library, tmp_path: Path) -> None:
    file = outside(tmp_path / "x.json", "Löschen & Ordnen", "from-elsewhere")
    first, second = library.import_file(file), library.import_file(file)
    assert open_workflow(first).id == "from-elsewhere"
    assert open_workflow(second).id != "from-elsewhere"
    assert first.name == "löschen-ordnen.workflow.json"
    assert second.name == "löschen-ordnen-2.workflow.json"
    example = library.import_file(examples()[0].path)
    assert open_workflow(example).id != open_workflow(examples()[0].path).id


def test_an_import_of_something_else_is_refused(library: Library, tmp_path: Path) -> None:
    file = tmp_path / "picture.json"
    file.write_text("{}")
    with pytest.raises(UserError, match="not a workflow"):
        library.import_file(file)
    assert library.catalogue().files() == ()


def test_a_project_has_its_workflows_in_its_folder(library: Library, folder: Path) -> None:
    project = library.add_project(folder)
    assert (project.name, project.path) == ("Shop", str(folder.resolve()))
    path = library.create(project.id)
    identifier = open_workflow(path).id
    assert path == folder / ".flow" / "workflows" / f"{identifier}.workflow.json"
    (listed,) = library.catalogue().projects
    assert listed.workflow_ids == (identifier,)
    assert library.project_of(path) == listed
    assert library.add_project(folder).id == project.id
    assert library.catalogue().workflows == ()


def test_project_files_that_others_add_are_seen(library: Library, folder: Path) -> None:
    project = library.add_project(folder)
    outside(folder / ".flow" / "workflows" / "theirs.workflow.json", "Theirs", "t")
    (file,) = library.catalogue().in_projects[project.id]
    assert (file.name, file.project_id) == ("Theirs", project.id)


def test_the_file_of_a_project_wins_over_one_with_the_same_id(
    library: Library, folder: Path
) -> None:
    own = library.create()
    project = library.add_project(folder)
    target = folder / ".flow" / "workflows" / "a.workflow.json"
    outside(target, "In the project", open_workflow(own).id)
    catalogue = library.catalogue()
    assert catalogue.workflows == ()
    assert [file.path for file in catalogue.in_projects[project.id]] == [target]


def test_copying_to_a_project_leaves_the_original(library: Library, folder: Path) -> None:
    path = library.create()
    project = library.add_project(folder)
    copy = library.copy_to_project(path, project.id)
    assert path.exists()
    assert open_workflow(copy).name == "Untitled copy"
    assert library.project_of(copy) is not None


def test_unlinking_loses_nothing(library: Library, folder: Path) -> None:
    project = library.add_project(folder)
    path = library.create(project.id)
    workflow = open_workflow(path)
    kept = library.unlink(path)
    assert kept is not None
    assert not path.exists()
    assert open_workflow(kept) == workflow
    assert library.catalogue().in_projects[project.id] == ()
    assert library.catalogue().projects[0].workflow_ids == ()
    with pytest.raises(UserError, match="no project"):
        library.unlink(kept)


def test_unlinking_keeps_the_copy_that_the_data_folder_has(library: Library, folder: Path) -> None:
    own = library.create()
    project = library.add_project(folder)
    target = folder / ".flow" / "workflows" / "a.workflow.json"
    outside(target, "In the project", open_workflow(own).id)
    assert library.unlink(target) == own
    assert names(library.catalogue()) == ["Untitled"]
    assert library.catalogue().in_projects[project.id] == ()


def test_a_removed_project_keeps_its_files_and_can_come_back(
    library: Library, folder: Path
) -> None:
    project = library.add_project(folder)
    path = library.create(project.id)
    removed = library.remove_project(project.id)
    assert path.exists()
    assert library.catalogue().projects == ()
    library.keep_project(removed)
    library.keep_project(removed)
    assert [each.id for each in library.catalogue().projects] == [project.id]


def test_runs_of_a_project_s_workflow_work_in_its_folder(
    library: Library, folder: Path, tmp_path: Path
) -> None:
    project = library.add_project(folder)
    path, own = library.create(project.id), library.create()
    assert library.run_folder(own) is None
    assert library.run_folder(path) == folder.resolve()

    inner = folder / "packages"
    inner.mkdir()
    changed = library.catalogue().projects[0]
    library.change_project(_with_folder(changed, inner))
    assert library.run_folder(path) == inner
    with pytest.raises(UserError, match="not a folder"):
        library.change_project(_with_folder(changed, tmp_path / "nowhere"))


def _with_folder(project: Project, folder: Path) -> Project:
    return replace(project, default_execution_cwd=str(folder))


def test_a_project_whose_folder_is_gone_is_told_and_hides_no_other(
    library: Library, folder: Path
) -> None:
    project = library.add_project(folder)
    path = library.create(project.id)
    own = library.create()
    folder.rename(folder.with_name("Moved"))
    catalogue = library.catalogue()
    assert [file.path for file in catalogue.workflows] == [own]
    assert catalogue.projects[0].id == project.id
    (notice,) = catalogue.notices
    assert "is gone" in notice
    with pytest.raises(UserError, match="is gone"):
        library.create(project.id)
    with pytest.raises(UserError, match="is gone"):
        library.run_folder(path)


def test_a_folder_that_takes_no_files_is_no_project(library: Library, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a folder"):
        library.add_project(tmp_path / "nowhere")
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / ".flow").write_text("a file")
    with pytest.raises(UserError, match="takes no files"):
        library.add_project(blocked)
    assert library.catalogue().projects == ()
    assert not [name for name in os.listdir(blocked) if "probe" in name]


def test_a_damaged_entry_of_the_projects_hides_no_other_and_stays(
    library: Library, folder: Path, tmp_path: Path
) -> None:
    project = library.add_project(folder)
    file = tmp_path / "data" / "projects.json"
    document = json.loads(file.read_text())
    document["projects"].insert(0, {"id": 7})
    document["projects"][1]["colour"] = "green"
    document["version"] = 3
    file.write_text(json.dumps(document))
    catalogue = library.catalogue()
    assert [each.id for each in catalogue.projects] == [project.id]
    assert "entry 1" in catalogue.notices[0]

    library.create(project.id)
    written = json.loads(file.read_text())
    assert written["version"] == 3
    assert written["projects"][0]["colour"] == "green"
    assert {"id": 7} in written["projects"]


@pytest.mark.parametrize("content", [b"{", b'{"projects": 3}', b"7", b"[" * 100_000])
def test_a_damaged_list_of_projects_is_set_aside_and_told(
    library: Library, folder: Path, tmp_path: Path, content: bytes
) -> None:
    library.add_project(folder)
    file = tmp_path / "data" / "projects.json"
    file.write_bytes(content)
    own = library.create()
    catalogue = library.catalogue()
    assert "is damaged" in catalogue.notices[0]
    assert [each.path for each in catalogue.workflows] == [own]
    (kept,) = (path for path in file.parent.iterdir() if ".damaged-" in path.name)
    assert kept.read_bytes() == content


def test_search_looks_into_prompts_and_labels(library: Library, tmp_path: Path) -> None:
    workflow = diamond()
    node = workflow.nodes[0]
    assert node.agent is not None
    agent = node.agent.model_copy(update={"task_prompt": "Weigh every PARCEL twice."})
    changed = node.model_copy(update={"agent": agent})
    file = tmp_path / "x.json"
    save_workflow(
        workflow.model_copy(update={"name": "Post", "nodes": (changed, *workflow.nodes[1:])}), file
    )
    path, other = library.import_file(file), library.create()
    assert library.search("parcel weigh") == {path}
    assert library.search(f"{node.label.lower()} post") == {path}
    assert library.search("untitled") == {other}
    assert library.search("parcel nowhere") == frozenset()
    assert library.search("  ") == frozenset()


def test_agents_are_kept_renamed_copied_deleted_and_brought_back(library: Library) -> None:
    agents = library.agents
    node = diamond().nodes[0]
    assert node.agent is not None
    first = agent_from("Tester", node.agent)
    agents.save(first)
    agents.save(CallableAgent(id="z", name="Last", output_schema={"type": "object"}))
    agents.rename(first.id, " Careful tester ")
    copy = agents.duplicate(first.id)
    assert [agent.name for agent in library.catalogue().agents] == [
        "Careful tester",
        "Careful tester copy",
        "Last",
    ]
    removed = agents.delete(copy.id)
    assert len(library.catalogue().agents) == 2
    assert library.restore(removed) == copy.id
    assert [agent.id for agent in library.catalogue().agents] == [first.id, copy.id, "z"]
    with pytest.raises(UserError, match="gone"):
        agents.delete("nobody")


def test_a_node_becomes_an_agent_and_an_agent_a_node() -> None:
    node = diamond().nodes[0]
    assert node.agent is not None
    config = node.agent.model_copy(update={"task_prompt": "Test it.\nAll of it.", "model": "m"})
    agent = agent_from("Tester", config)
    assert (agent.name, agent.purpose, agent.model) == ("Tester", "Test it.", "m")
    again = node_from(agent)
    assert again.agent is not None
    assert again.label == "Tester"
    for field in ("system_prompt", "task_prompt", "model", "output_schema", "handoff", "tools"):
        assert getattr(again.agent, field) == getattr(config, field)
