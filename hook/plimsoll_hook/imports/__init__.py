"""What happens after, or instead of, an import of the program's."""
