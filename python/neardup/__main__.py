"""The command: ``neardup`` and ``python -m neardup``."""

from neardup._engine import interrupt


def main() -> None:
    """Run the command line and exit with its code."""
    # Before the imports, which take most of the time of a short command.
    interrupt.end_at_once()
    from neardup.cli import main as run

    run()


if __name__ == "__main__":
    main()
