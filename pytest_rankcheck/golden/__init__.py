"""Golden sets: the model, the file formats, the linter. Invalid ones raise GoldenSetError."""
