"""Other providers: the known ones, the choice by a model's name, and one client for all."""
