"""Experiments: methods compared on made copies, measures compared on labelled pairs."""
