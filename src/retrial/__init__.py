"""retrial: a fresh trial, with the lessons of the last."""
