//! Folders, layered settings, environment variables and secrets: the mechanism, not the schema.
