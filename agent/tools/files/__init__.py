"""Files as tools read and change them: encodings, windows of lines, one exact edit."""
