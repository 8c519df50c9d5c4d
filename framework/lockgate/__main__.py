"""``python -m lockgate``: the command line, where its script is not on the path."""

from lockgate.cli import main

if __name__ == "__main__":
    main()
