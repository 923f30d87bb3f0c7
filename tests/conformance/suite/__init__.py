"""What a program is asked, and how its answers are compared. Needs the standard library of Python only."""
