"""The intermediate representation: a protocol without anything of a target language."""
