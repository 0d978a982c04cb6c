"""The statements on the rows of an index, and checks that rows are valid."""
