//! What a command line would do, as far as that can be told without running it.
//!
//! The line is parsed as a shell parses it, words are expanded as far as their values are known,
//! and whatever runs other commands (shells, `env`, `xargs`, `find -exec`, …) is looked into. What
//! cannot be told is said, never guessed. The sandbox is the boundary; this decides what is asked.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::paths::Paths;

mod effects;
mod programs;
mod run;
mod walk;
mod words;

/// Longer lines are not read: nobody can review them in a question either.
const LONGEST: usize = 64 * 1024;
/// Brackets within brackets. The parser recurses, and what nests deeper was not written by hand.
const DEEPEST: usize = 40;
/// For the parser's recursion; only touched pages are ever used.
const STACK: usize = 64 * 1024 * 1024;

/// Where a command line would run.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The working folder.
    pub folder: &'a Path,
    /// The home folder, for `~` and `$HOME`.
    pub home: &'a Path,
    /// The file system.
    pub paths: &'a dyn Paths,
}

/// What a command line would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandFacts {
    /// Every program that would be started, by bare name, in order of appearance, wrappers included.
    pub programs: Vec<String>,
    /// Every single command in words, wrappers and what they wrap each on their own.
    pub commands: Vec<Vec<String>>,
    /// What would be read, where an argument says so.
    pub reads: Vec<Target>,
    /// What would be created or changed without losing anything.
    pub writes: Vec<Target>,
    /// What would be deleted, or overwritten although it exists.
    pub deletes: Vec<Target>,
    /// What would be moved away from its place.
    pub moves: Vec<Target>,
    /// Everything in the line that could name a file, in code and text too.
    pub mentions: BTreeSet<Target>,
    /// What would reach other machines.
    pub network: Vec<NetworkUse>,
    /// Programs that run code.
    pub interpreters: Vec<String>,
    /// Code given within the line to something other than a shell.
    pub inline_code: Vec<String>,
    /// Programs that ask for more rights.
    pub privilege: Vec<String>,
    /// Programs that make something outside the sandbox act.
    pub reach_out: Vec<String>,
    /// Variables set in the line that change which programs or libraries names stand for.
    pub environment: Vec<String>,
    /// Programs of OpenSpace.
    pub own: Vec<String>,
    /// Something goes on after the line has ended.
    pub background: bool,
    /// Some words depend on what cannot be known beforehand.
    pub dynamic: bool,
    /// Some of what would run cannot be told, and why. Such a line is always asked about.
    pub unknown: Vec<Unknown>,
}

/// A file or folder a command line names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// As far as it is known; `*` stands for what is not. Absolute unless the folder is unknown.
    pub path: PathBuf,
    /// What `path` is relative to when it does not say itself.
    pub folder: PathBuf,
    /// `path` holds a pattern or something unknown.
    pub pattern: bool,
}

/// A program that reaches other machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkUse {
    /// The program.
    pub program: String,
    /// The hosts it names.
    pub hosts: Vec<String>,
    /// `hosts` is all it would reach.
    pub complete: bool,
}

/// Why something in a line cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// The line does not parse.
    Unparsable,
    /// Too long or too deeply nested to be read.
    TooComplex,
    /// Which program runs depends on what cannot be known.
    Program,
    /// Code comes from somewhere else: a pipe, a download, an expansion.
    Code,
    /// Letters that look like others, or cannot be seen.
    Disguised,
}

impl Target {
    /// Path or pattern, absolute.
    pub fn absolute(&self) -> PathBuf {
        self.folder.join(&self.path)
    }

    /// The longest part of the path that is certain.
    pub fn certain(&self) -> PathBuf {
        if !self.pattern {
            return self.absolute();
        }
        self.absolute()
            .components()
            .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']))
            .collect()
    }
}

impl CommandFacts {
    /// Nothing in the line is in doubt: all of it was read, no word depends on the unknown.
    pub fn is_certain(&self) -> bool {
        self.unknown.is_empty() && !self.dynamic
    }

    fn doubt(&mut self, unknown: Unknown) {
        if !self.unknown.contains(&unknown) {
            self.unknown.push(unknown);
        }
    }
}

/// Reads a command line.
pub fn analyse(line: &str, place: Place<'_>) -> CommandFacts {
    let mut facts = CommandFacts::default();
    if line.len() > LONGEST || nesting(line) > DEEPEST {
        facts.doubt(Unknown::TooComplex);
    }
    if line.chars().any(is_disguise) {
        facts.doubt(Unknown::Disguised);
    }
    if facts.unknown.contains(&Unknown::TooComplex) {
        // Not parsed, but what it says about files is still looked at.
        words::mention(&mut facts, line, place.folder, place);
        return facts;
    }
    apart(facts, |facts| walk::Walk::new(facts, place).line(line))
}

/// Reads a command that was given in words, so without a shell.
pub fn analyse_words(words: &[String], place: Place<'_>) -> CommandFacts {
    let mut facts = CommandFacts::default();
    if words.iter().map(String::len).sum::<usize>() > LONGEST
        || words.iter().any(|word| nesting(word) > DEEPEST)
    {
        facts.doubt(Unknown::TooComplex);
        for word in words {
            words::mention(&mut facts, word, place.folder, place);
        }
        return facts;
    }
    apart(facts, |facts| walk::Walk::new(facts, place).words(words))
}

/// A program whose effects are all among the facts, by the name it was called with: a path could
/// lead to anything of that name.
pub(crate) fn is_read_only(program: &str) -> bool {
    programs::READ_ONLY.contains(&program)
}

/// On its own thread: the parser recurses with its input and may panic on odd numbers, and neither
/// may harm the caller.
fn apart(
    facts: CommandFacts,
    work: impl FnOnce(CommandFacts) -> CommandFacts + Send,
) -> CommandFacts {
    let broken = || CommandFacts {
        unknown: vec![Unknown::Unparsable],
        ..CommandFacts::default()
    };
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, move || work(facts))
            .map_or_else(
                |_| broken(),
                |thread| thread.join().unwrap_or_else(|_| broken()),
            )
    })
}

fn nesting(line: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for letter in line.chars() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    // Keywords nest as well; a line that opens hundreds of them is no better.
    let keywords = line
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| matches!(*word, "if" | "while" | "until" | "for" | "case" | "coproc"))
        .count();
    deepest.max(keywords / 8)
}

/// Letters a reader does not see, or takes for a space or for nothing.
pub(crate) fn is_disguise(letter: char) -> bool {
    (letter.is_control() && !matches!(letter, '\n' | '\t'))
        || (letter.is_whitespace() && !matches!(letter, ' ' | '\n' | '\t'))
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffc}' | '\u{e0000}'..='\u{e0fff}')
}
