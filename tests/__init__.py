"""The tests: a package, so that each part finds the twins as `tests.reference`."""
