"""What happened: journals, their lines in a file, old shapes, and the folds that people see. Standard library only."""
