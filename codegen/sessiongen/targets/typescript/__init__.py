"""The TypeScript target: typed layers over the message classes of an npm package."""
