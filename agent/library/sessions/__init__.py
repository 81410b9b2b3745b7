"""Where conversations are kept between runs."""
