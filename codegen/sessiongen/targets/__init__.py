"""Targets: one package a language, from a Protocol to rendered files."""
