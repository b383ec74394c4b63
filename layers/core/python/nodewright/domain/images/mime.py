"""MIME multipart user data, as cloud-init takes it."""

from dataclasses import dataclass
from email import message_from_string

import yaml

BOUNDARY = "//"
NODE_CONFIG = "application/node.eks.aws"
SHELL_SCRIPT = 'text/x-shellscript; charset="us-ascii"'


@dataclass(frozen=True, slots=True)
class Part:
    """One part: its full content type and its text."""

    content_type: str
    text: str


def user_parts(user_data: str) -> tuple[Part, ...]:
    """A class's own user data as parts: MIME kept, a YAML map is a NodeConfig, else a shell script."""
    if not user_data.strip():
        return ()
    if _is_mime(user_data):
        message = message_from_string(user_data.lstrip())
        return tuple(
            Part(part.get("Content-Type", SHELL_SCRIPT), str(part.get_payload()))
            for part in message.walk()
            if not part.is_multipart()
        )
    return (Part(NODE_CONFIG if _is_yaml_map(user_data) else SHELL_SCRIPT, user_data),)


def document(parts: tuple[Part, ...]) -> str:
    """The multipart document. Equal parts give equal bytes: its hash names a launch template."""
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{BOUNDARY}"', ""]
    for part in parts:
        lines += [f"--{BOUNDARY}", f"Content-Type: {part.content_type}", "", part.text.rstrip("\n"), ""]
    return "\n".join([*lines, f"--{BOUNDARY}--", ""])


def _is_mime(text: str) -> bool:
    head = text.lstrip()[:200].lower()
    return head.startswith(("mime-version:", "content-type: multipart"))


def _is_yaml_map(text: str) -> bool:
    try:
        return isinstance(yaml.safe_load(text), dict)
    except yaml.YAMLError:
        return False
