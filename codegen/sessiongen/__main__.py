"""`python -m sessiongen`, the same as the command `sessiongen`."""

from sessiongen.cli import main

main(prog_name="sessiongen")
