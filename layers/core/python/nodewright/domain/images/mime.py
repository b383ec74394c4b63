"""MIME multipart user data, as cloud-init takes it."""

from dataclasses import dataclass
from email import message_from_string
from email.message import Message

import yaml

from nodewright.domain.images.family import UserDataError

BOUNDARY = "//"
NODE_CONFIG = "application/node.eks.aws"
SHELL_SCRIPT = 'text/x-shellscript; charset="us-ascii"'
_OWN_HEADERS = frozenset({"content-type", "mime-version"})


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its full content type, its text, and further headers (a transfer encoding, a file name)."""

    content_type: str
    text: str
    headers: tuple[tuple[str, str], ...] = ()


def user_parts(user_data: str, *, yaml_is_node_config: bool = True) -> tuple[Part, ...]:
    """A class's own user data as parts: MIME kept, a YAML map is a NodeConfig, else a shell script."""
    if not user_data.strip():
        return ()
    if _is_mime(user_data):
        return _mime_parts(user_data.lstrip())
    kind = NODE_CONFIG if yaml_is_node_config and _is_yaml_map(user_data) else SHELL_SCRIPT
    return (Part(kind, user_data),)


def document(parts: tuple[Part, ...]) -> str:
    """The multipart document. Equal parts give equal bytes: its hash names a launch template."""
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{BOUNDARY}"', ""]
    for part in parts:
        headers = [f"{name}: {value}" for name, value in (("Content-Type", part.content_type), *part.headers)]
        lines += [f"--{BOUNDARY}", *headers, "", part.text.rstrip("\n"), ""]
    return "\n".join([*lines, f"--{BOUNDARY}--", ""])


def _mime_parts(text: str) -> tuple[Part, ...]:
    message = message_from_string(text)
    if message.get_content_maintype() == "multipart" and not message.is_multipart():
        raise UserDataError("spec.userData says it is MIME multipart and its boundary is nowhere; add the parts")
    return tuple(_as_it_is(part) for part in message.walk() if not part.is_multipart())


def _as_it_is(part: Message) -> Part:
    further = tuple((name, value) for name, value in part.items() if name.lower() not in _OWN_HEADERS)
    return Part(part.get("Content-Type", SHELL_SCRIPT), str(part.get_payload()), further)


def _is_mime(text: str) -> bool:
    head = text.lstrip()[:200].lower()
    return head.startswith(("mime-version:", "content-type: multipart"))


def _is_yaml_map(text: str) -> bool:
    try:
        return isinstance(yaml.safe_load(text), dict)
    except yaml.YAMLError:
        return False
