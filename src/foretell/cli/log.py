"""How the program logs: on standard error, for people or as JSON lines, with ids bound."""

import logging
import sys

import structlog
from structlog.typing import Processor

from foretell.settings import Settings


def start_log(settings: Settings) -> None:
    """Set up logging for this process.

    Tracebacks are plain: the library's own would print every local variable, secrets among them.
    """
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    logging.basicConfig(stream=sys.stderr, level=max(level, logging.WARNING), format="%(message)s")
    plain = structlog.dev.plain_traceback
    shown: list[Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if settings.log_format == "json"
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *shown,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Standard error as it is when a line is written: who runs us inside may have replaced it.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
