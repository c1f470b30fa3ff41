"""What is done to each request before it is sent."""

from itertools import count
from re import fullmatch

import schemathesis

NUMBERS = count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """A name is used for one request: made up ones come again, and nearly everything would be refused for that alone."""
    name = (case.headers or {}).get("Idempotency-Key")
    if isinstance(name, str) and fullmatch("[!-~]{1,180}", name):
        case.headers["Idempotency-Key"] = f"{name}.{next(NUMBERS)}"
