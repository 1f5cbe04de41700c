"""`python -m scalebox.cli`: the `scalebox` command."""

from scalebox.cli.main import main

main(prog_name="scalebox")
