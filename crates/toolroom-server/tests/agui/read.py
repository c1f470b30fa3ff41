"""Reads recorded events with the models of the protocol. A field or a type that they do not know is a failure."""

import json
import sys

from ag_ui.core import Event
from pydantic import TypeAdapter

adapter = TypeAdapter(Event)
seen = []
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        sent = json.loads(line)
        read = adapter.validate_python(sent)
        unknown = set(getattr(read, "model_extra", None) or {})
        assert not unknown, f"{sent['type']}: {unknown}"
        assert read.type == sent["type"]
        seen.append(sent["type"])
assert seen[0] == "RUN_STARTED" and seen[-1] in ("RUN_FINISHED", "RUN_ERROR"), seen
