//! What a profile allows, and what it is refused for.
