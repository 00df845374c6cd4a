//! The shell back end: commands, files, search, opening programs.
