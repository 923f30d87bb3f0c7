"""A second interpreter of the language, kept apart from the program, and a generator of programs for both."""
