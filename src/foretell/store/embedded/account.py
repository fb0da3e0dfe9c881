"""Who the server runs as, and who may talk to it.

PostgreSQL refuses to run as root. Started by root, it runs as a user id that is in nobody's use,
so that no other service shares it (`nobody` is shared by many), and nothing is added to the
machine. `initdb` alone insists on an entry in the password file: it borrows an unprivileged one,
and what it made is handed over afterwards.

A password would have to be kept, passed in the DSN and never printed. The socket asks the kernel
who is there instead ("peer"): the one who owns the data folder may enter, nobody else.
"""

import os
import pwd

from foretell.domain.errors import Unavailable
from foretell.kit.daemon import Account
from foretell.store.embedded.programs import ELSEWHERE

# Below 65,536, so that a container with a mapped range of ids has it; in none of the ranges that
# systemd's "Users, Groups, UIDs and GIDs" gives to anyone (60706 to 61183 is unused).
SERVER_ID = 60_743
ROLE = "foretell"
DATABASE = "postgres"


def server_account() -> Account | None:
    """None: the server runs as the caller."""
    return Account(SERVER_ID, SERVER_ID) if os.geteuid() == 0 else None


def initdb_account() -> Account | None:
    """The account that makes the cluster; Unavailable when the password file has none for it."""
    if os.geteuid() != 0:
        _name_of(os.geteuid())
        return None
    ordinary = (user for user in pwd.getpwall() if user.pw_uid != 0)
    borrowed = next((u for u in ordinary if u.pw_name == "nobody"), None) or next(ordinary, None)
    if borrowed is None:
        raise Unavailable(
            "The embedded database cannot be made by root alone: the password file has no other "
            f"user. Run as another user, or {ELSEWHERE}."
        )
    # In the group of the server's own account, for which the folders on the way are opened.
    return Account(borrowed.pw_uid, SERVER_ID)


def hba() -> str:
    """`pg_hba.conf`: this socket, this role, by the kernel's word. Nothing else matches."""
    return f"local all {ROLE} peer map=owner\n"


def ident() -> str:
    """`pg_ident.conf`: the caller's user is the role."""
    name = _name_of(os.geteuid()).replace('"', '""')
    return f'owner "{name}" {ROLE}\n'


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        raise Unavailable(
            f"The embedded database cannot run as user id {uid}, which has no entry in the "
            f"password file. Run as a named user, or {ELSEWHERE}."
        ) from None
