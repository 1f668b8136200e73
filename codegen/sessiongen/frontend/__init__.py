"""The front end: any input to validated descriptors with annotations and source positions."""
