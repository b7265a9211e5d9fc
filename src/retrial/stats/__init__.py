"""What numbers from trials can and cannot say: intervals, paired differences, exact tests and many tests at once."""
