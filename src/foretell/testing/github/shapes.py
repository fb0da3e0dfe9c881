"""The fake's things as GitHub writes them, with every field that its schema requires."""

from datetime import datetime
from typing import Any

from foretell.testing.github.links import REPO_LINKS, USER_LINKS
from foretell.testing.github.state import App, Check, Comment, Pull, Repo, StatusRow

API = "https://api.github.com"
WEB = "https://github.com"


def moment(at: datetime | None) -> str | None:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None


def user(login: str) -> dict[str, Any]:
    """A simple user; the id is made of the name."""
    links = {f"{name}_url": f"{API}/users/{login}/{name}" for name in USER_LINKS}
    return {
        "login": login,
        "id": sum(login.encode()),
        "node_id": f"U_{login}",
        "avatar_url": f"{WEB}/{login}.png",
        "gravatar_id": "",
        "url": f"{API}/users/{login}",
        "html_url": f"{WEB}/{login}",
        **links,
        "type": "Bot" if login.endswith("[bot]") else "User",
        "site_admin": False,
    }


def repository(repo: Repo) -> dict[str, Any]:
    url = f"{API}/repos/{repo.full_name}"
    web = f"{WEB}/{repo.full_name}"
    flags = ("has_downloads", "has_issues", "has_projects", "has_wiki", "has_pages")
    counts = ("forks", "forks_count", "open_issues", "open_issues_count", "size")
    more = ("stargazers_count", "watchers", "watchers_count")
    return {
        "id": repo.id,
        "node_id": f"R_{repo.id}",
        "name": repo.name,
        "full_name": repo.full_name,
        "owner": user(repo.owner),
        "private": False,
        "fork": bool(repo.fork_of),
        "description": None,
        "url": url,
        "html_url": web,
        "clone_url": f"{web}.git",
        "git_url": f"git://github.com/{repo.full_name}.git",
        "ssh_url": f"git@github.com:{repo.full_name}.git",
        "svn_url": web,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "archived": False,
        "disabled": False,
        "default_branch": "main",
        "created_at": moment(repo.created_at),
        "updated_at": moment(repo.created_at),
        "pushed_at": moment(repo.created_at),
        **{f"{name}_url": f"{url}/{name}" for name in REPO_LINKS},
        **dict.fromkeys(flags, True),
        **dict.fromkeys((*counts, *more), 0),
    }


def label(name: str) -> dict[str, Any]:
    return {
        "id": sum(name.encode()),
        "node_id": f"LA_{name}",
        "url": f"{API}/labels/{name}",
        "name": name,
        "description": None,
        "color": "ededed",
        "default": False,
    }


def _side(repo: Repo, ref: str, sha: str) -> dict[str, Any]:
    return {
        "label": f"{repo.owner}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(repo.owner),
        "repo": repository(repo),
    }


def pull(found: Pull) -> dict[str, Any]:
    """As in a list."""
    url = f"{API}/repos/{found.repo.full_name}/pulls/{found.number}"
    issue = f"{API}/repos/{found.repo.full_name}/issues/{found.number}"
    web = f"{WEB}/{found.repo.full_name}/pull/{found.number}"
    links = {
        "self": url,
        "html": web,
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{url}/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{API}/repos/{found.repo.full_name}/statuses/{found.sha}",
    }
    return {
        "id": found.id,
        "node_id": f"PR_{found.id}",
        "number": found.number,
        "state": found.state,
        "locked": False,
        "draft": found.draft,
        "title": f"Pull request {found.number}",
        "body": None,
        "user": user(found.author),
        "labels": [label(name) for name in found.labels],
        "milestone": None,
        "assignee": None,
        "head": _side(found.head_repo, found.head_ref, found.sha),
        "base": _side(found.repo, found.base_ref, found.base_sha),
        "author_association": "CONTRIBUTOR",
        "auto_merge": None,
        "merge_commit_sha": None,
        "created_at": moment(found.created_at),
        "updated_at": moment(found.created_at),
        "closed_at": None if found.state == "open" else moment(found.created_at),
        "merged_at": None,
        "url": url,
        "html_url": web,
        "diff_url": f"{web}.diff",
        "patch_url": f"{web}.patch",
        "issue_url": issue,
        "comments_url": links["comments"],
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "statuses_url": links["statuses"],
        "_links": {name: {"href": href} for name, href in links.items()},
    }


def full_pull(found: Pull) -> dict[str, Any]:
    """As by itself."""
    counts = ("additions", "deletions", "comments", "commits", "review_comments")
    return {
        **pull(found),
        **dict.fromkeys(counts, 0),
        "changed_files": len(found.files),
        "maintainer_can_modify": False,
        "mergeable": True,
        "mergeable_state": "clean",
        "merged": False,
        "merged_by": None,
    }


def changed_file(found: Pull, path: str) -> dict[str, Any]:
    url = f"{API}/repos/{found.repo.full_name}/contents/{path}?ref={found.sha}"
    return {
        "sha": found.sha,
        "filename": path,
        "status": "modified",
        "additions": 1,
        "deletions": 1,
        "changes": 2,
        "blob_url": f"{WEB}/{found.repo.full_name}/blob/{found.sha}/{path}",
        "raw_url": f"{WEB}/{found.repo.full_name}/raw/{found.sha}/{path}",
        "contents_url": url,
    }


def app(found: App) -> dict[str, Any]:
    return {
        "id": found.id,
        "slug": found.slug,
        "node_id": f"A_{found.id}",
        "owner": user(found.owner),
        "name": found.slug,
        "description": None,
        "external_url": "https://foretell.example",
        "html_url": f"{WEB}/apps/{found.slug}",
        "created_at": moment(found.created_at),
        "updated_at": moment(found.created_at),
        "permissions": dict(found.permissions),
        "events": ["pull_request"],
    }


def installation(found: App, owner: str, number: int) -> dict[str, Any]:
    url = f"{API}/app/installations/{number}"
    return {
        "id": number,
        "app_id": found.id,
        "app_slug": found.slug,
        "target_id": sum(owner.encode()),
        "target_type": "Organization",
        "account": user(owner),
        "single_file_name": None,
        "repository_selection": "all",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{API}/installation/repositories",
        "html_url": f"{WEB}/organizations/{owner}/settings/installations/{number}",
        "events": ["pull_request"],
        "permissions": dict(found.permissions),
        "created_at": moment(found.created_at),
        "updated_at": moment(found.created_at),
        "suspended_at": None,
        "suspended_by": None,
    }


def comment(found: Comment, author: App | None) -> dict[str, Any]:
    url = f"{API}/repos/{found.repo.full_name}/issues"
    web = f"{WEB}/{found.repo.full_name}/pull/{found.number}"
    return {
        "id": found.id,
        "node_id": f"IC_{found.id}",
        "url": f"{url}/comments/{found.id}",
        "issue_url": f"{url}/{found.number}",
        "html_url": f"{web}#issuecomment-{found.id}",
        "body": found.body,
        "user": user(found.author),
        "author_association": "NONE",
        "performed_via_github_app": app(author) if author else None,
        "created_at": moment(found.created_at),
        "updated_at": moment(found.updated_at),
    }


def reaction(number: int, login: str, content: str, at: datetime) -> dict[str, Any]:
    return {
        "id": number,
        "node_id": f"REA_{number}",
        "user": user(login),
        "content": content,
        "created_at": moment(at),
    }


def check(found: Check, author: App) -> dict[str, Any]:
    url = f"{API}/repos/{found.repo.full_name}/check-runs/{found.id}"
    web = f"{WEB}/{found.repo.full_name}/runs/{found.id}"
    return {
        "id": found.id,
        "node_id": f"CR_{found.id}",
        "head_sha": found.head_sha,
        "name": found.name,
        "external_id": found.external_id,
        "url": url,
        "html_url": web,
        "details_url": found.details_url or web,
        "status": found.status,
        "conclusion": found.conclusion,
        "started_at": moment(found.started_at),
        "completed_at": moment(found.completed_at),
        "output": {
            "title": found.output.get("title"),
            "summary": found.output.get("summary"),
            "text": found.output.get("text"),
            "annotations_count": len(found.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": found.app},
        "app": app(author),
        "pull_requests": [],
    }


def annotation(found: dict[str, Any]) -> dict[str, Any]:
    fields = ("start_column", "end_column", "title", "raw_details")
    return {**dict.fromkeys(fields), "blob_href": f"{WEB}/blob/{found['path']}", **found}


def status(found: StatusRow) -> dict[str, Any]:
    url = f"{API}/repos/{found.repo.full_name}/statuses/{found.sha}"
    return {
        "id": found.id,
        "node_id": f"SC_{found.id}",
        "url": url,
        "avatar_url": f"{WEB}/{found.creator}.png",
        "state": found.state,
        "context": found.context,
        "description": found.description or None,
        "target_url": found.target_url or None,
        "required": None,
        "creator": user(found.creator),
        "created_at": moment(found.created_at),
        "updated_at": moment(found.created_at),
    }
