"""A second, stronger model that the working model consults about hard decisions."""
