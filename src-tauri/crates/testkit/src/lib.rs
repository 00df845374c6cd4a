//! What tests cannot have for real: a model that checks its requests, a screen, a home, a target.
