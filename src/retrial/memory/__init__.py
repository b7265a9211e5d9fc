"""What was learnt: the quality of lessons and how they are chosen. Pure; where they are kept is the store's affair."""
