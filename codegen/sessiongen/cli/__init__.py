"""The command line of sessiongen: commands, options, and how results are printed."""
