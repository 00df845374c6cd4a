//! The model as an attacker: whatever it calls, a person's files, secrets, settings and answers
//! stay theirs, in every preset and under every rule a person could give.

mod commands;
mod files;
mod leaks;
mod screen;
mod script;
mod terminal;
mod victim;
