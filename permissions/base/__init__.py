"""The foundation of every package: no domain terms, no imports from the packages above."""
