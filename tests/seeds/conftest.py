from seed_worlds import loop  # noqa: F401 - the fixture of this folder
