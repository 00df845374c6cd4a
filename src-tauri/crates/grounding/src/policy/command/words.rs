//! Words: what a shell makes of them, as far as that can be known.

use std::path::{Path, PathBuf};

use brush_parser::{
    ParserOptions,
    word::{
        self, BraceExpressionMember, BraceExpressionOrText, Parameter, ParameterExpr,
        SpecialParameter, TildeExpr, WordPiece, WordPieceWithSource,
    },
};

use super::{CommandFacts, Place, Target, Unknown, walk::Walk};

/// Stands for what cannot be known. No file name holds it by accident.
pub(crate) const UNKNOWN: char = '\u{fffc}';
/// More words than this from one pair of braces are one unknown word.
const BRACES: usize = 64;

/// A word after expansion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: String,
    /// Holds a pattern that was not quoted.
    pub(crate) glob: bool,
}

impl Value {
    pub(crate) fn known(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            glob: false,
        }
    }

    pub(crate) fn unknown() -> Self {
        Self::known(UNKNOWN)
    }

    /// The text, when all of it is known.
    pub(crate) fn certain(&self) -> Option<&str> {
        (!self.text.contains(UNKNOWN) && !self.glob).then_some(self.text.as_str())
    }

    pub(crate) fn is_known(&self) -> bool {
        !self.text.contains(UNKNOWN)
    }
}

/// Words in the making, split where an unquoted value holds a separator.
#[derive(Default)]
struct Fields {
    done: Vec<Value>,
    current: Option<Value>,
}

impl Fields {
    fn push(&mut self, text: &str, glob: bool) {
        let current = self.current.get_or_insert_default();
        current.text.push_str(text);
        current.glob |= glob;
    }

    fn push_split(&mut self, text: &str, separators: &str) {
        let mut parts = text.split(|letter| separators.contains(letter));
        if let Some(first) = parts.next()
            && !first.is_empty()
        {
            self.push(first, is_glob(first));
        }
        for part in parts {
            self.done.extend(self.current.take());
            if !part.is_empty() {
                self.push(part, is_glob(part));
            }
        }
    }

    fn finish(mut self) -> Vec<Value> {
        self.done.extend(self.current.take());
        self.done
    }
}

/// `[` alone is the program of that name.
fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
        || text
            .split_once('[')
            .is_some_and(|(_, rest)| rest.contains(']'))
}

impl Walk<'_> {
    /// The words a shell makes of one word.
    pub(crate) fn expand(&mut self, text: &str) -> Vec<Value> {
        braces(text, &self.options)
            .iter()
            .flat_map(|text| self.expand_plain(text))
            .collect()
    }

    /// The single word a shell makes where it does not split: assignments, redirections.
    pub(crate) fn expand_one(&mut self, text: &str) -> Value {
        match word::parse(text, &self.options) {
            Ok(pieces) => self.join(&pieces),
            Err(_) => self.unreadable(text),
        }
    }

    /// The text of a here-document.
    pub(crate) fn expand_document(&mut self, text: &str) -> Value {
        match word::parse_heredoc(text, &self.options) {
            Ok(pieces) => self.join(&pieces),
            Err(_) => self.unreadable(text),
        }
    }

    fn expand_plain(&mut self, text: &str) -> Vec<Value> {
        match word::parse(text, &self.options) {
            Ok(pieces) => {
                let mut fields = Fields::default();
                for piece in &pieces {
                    self.piece(&piece.piece, false, &mut fields);
                }
                fields.finish()
            }
            Err(_) => vec![self.unreadable(text)],
        }
    }

    fn unreadable(&mut self, text: &str) -> Value {
        self.facts.doubt(Unknown::Unparsable);
        self.mention(text);
        Value::unknown()
    }

    fn join(&mut self, pieces: &[WordPieceWithSource]) -> Value {
        let mut fields = Fields::default();
        for piece in pieces {
            self.piece(&piece.piece, true, &mut fields);
        }
        let mut value = fields.current.unwrap_or_default();
        value.glob = false;
        value
    }

    fn piece(&mut self, piece: &WordPiece, quoted: bool, fields: &mut Fields) {
        match piece {
            WordPiece::Text(text) => fields.push(text, !quoted && is_glob(text)),
            WordPiece::SingleQuotedText(text) => fields.push(text, false),
            WordPiece::AnsiCQuotedText(text) => fields.push(&ansi_c(text), false),
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                let value = self.join(pieces);
                fields.push(&value.text, false);
            }
            WordPiece::TildeExpansion(tilde) => {
                let text = self.tilde(tilde);
                fields.push(&text, false);
            }
            WordPiece::EscapeSequence(text) => {
                let text = text.strip_prefix('\\').unwrap_or(text);
                fields.push(if text == "\n" { "" } else { text }, false);
            }
            WordPiece::ParameterExpansion(expression) => {
                let text = self.parameter(expression);
                self.push_value(&text, quoted, fields);
            }
            WordPiece::CommandSubstitution(code)
            | WordPiece::BackquotedCommandSubstitution(code) => {
                let text = self.substitution(code);
                self.push_value(&text, quoted, fields);
            }
            WordPiece::ArithmeticExpression(expression) => {
                self.arithmetic(&expression.value);
                self.facts.dynamic |= expression.value.parse::<i64>().is_err();
                fields.push(&UNKNOWN.to_string(), false);
            }
        }
    }

    fn push_value(&mut self, text: &str, quoted: bool, fields: &mut Fields) {
        if text.contains(UNKNOWN) {
            self.facts.dynamic = true;
        }
        if quoted {
            fields.push(text, false);
            return;
        }
        match self.variable("IFS") {
            Some(separators) if !separators.contains(UNKNOWN) => {
                fields.push_split(text, &separators);
            }
            _ => fields.push(&UNKNOWN.to_string(), false),
        }
    }

    /// Arithmetic can hold substitutions, and those run.
    pub(crate) fn arithmetic(&mut self, expression: &str) {
        if expression.contains(['$', '`']) {
            let _value = self.expand_one(expression);
        }
    }

    fn tilde(&mut self, tilde: &TildeExpr) -> String {
        let known = match tilde {
            TildeExpr::Home => self.variable("HOME"),
            TildeExpr::UserHome(user) if user == "root" => Some("/root".to_owned()),
            TildeExpr::UserHome(user) => self
                .place
                .home
                .parent()
                .filter(|parent| parent.parent().is_some())
                .or(Some(Path::new("/home")))
                .map(|parent| parent.join(user).to_string_lossy().into_owned()),
            TildeExpr::WorkingDir => self
                .folder()
                .map(|folder| folder.to_string_lossy().into_owned()),
            TildeExpr::OldWorkingDir
            | TildeExpr::NthDirFromTopOfDirStack { .. }
            | TildeExpr::NthDirFromBottomOfDirStack { .. } => None,
        };
        known.unwrap_or_else(|| {
            self.facts.dynamic = true;
            UNKNOWN.to_string()
        })
    }

    fn parameter(&mut self, expression: &ParameterExpr) -> String {
        match expression {
            ParameterExpr::Parameter {
                parameter,
                indirect: false,
            } => self.value_of(parameter),
            ParameterExpr::UseDefaultValues {
                parameter,
                indirect,
                default_value: value,
                ..
            }
            | ParameterExpr::AssignDefaultValues {
                parameter,
                indirect,
                default_value: value,
                ..
            }
            | ParameterExpr::IndicateErrorIfNullOrUnset {
                parameter,
                indirect,
                error_message: value,
                ..
            } => {
                self.inner(value.as_deref());
                let known = self.value_of(parameter);
                if *indirect || known.is_empty() {
                    UNKNOWN.to_string()
                } else {
                    known
                }
            }
            ParameterExpr::UseAlternativeValue {
                alternative_value: value,
                ..
            } => {
                self.inner(value.as_deref());
                UNKNOWN.to_string()
            }
            ParameterExpr::RemoveSmallestSuffixPattern { pattern, .. }
            | ParameterExpr::RemoveLargestSuffixPattern { pattern, .. }
            | ParameterExpr::RemoveSmallestPrefixPattern { pattern, .. }
            | ParameterExpr::RemoveLargestPrefixPattern { pattern, .. }
            | ParameterExpr::UppercaseFirstChar { pattern, .. }
            | ParameterExpr::UppercasePattern { pattern, .. }
            | ParameterExpr::LowercaseFirstChar { pattern, .. }
            | ParameterExpr::LowercasePattern { pattern, .. } => {
                self.inner(pattern.as_deref());
                UNKNOWN.to_string()
            }
            ParameterExpr::ReplaceSubstring {
                pattern,
                replacement,
                ..
            } => {
                self.inner(Some(pattern));
                self.inner(replacement.as_deref());
                UNKNOWN.to_string()
            }
            ParameterExpr::Substring { offset, length, .. } => {
                self.arithmetic(&offset.value);
                if let Some(length) = length {
                    self.arithmetic(&length.value);
                }
                UNKNOWN.to_string()
            }
            // `${x@P}` runs substitutions inside the value.
            ParameterExpr::Transform { .. } => {
                self.facts.doubt(Unknown::Code);
                UNKNOWN.to_string()
            }
            ParameterExpr::Parameter { .. }
            | ParameterExpr::ParameterLength { .. }
            | ParameterExpr::VariableNames { .. }
            | ParameterExpr::MemberKeys { .. } => UNKNOWN.to_string(),
        }
    }

    /// Words inside an expansion: their value may or may not be used, what they run does run.
    fn inner(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            let value = self.expand_one(text);
            self.mention(&value.text);
        }
    }

    fn value_of(&mut self, parameter: &Parameter) -> String {
        match parameter {
            Parameter::Named(name) => self.variable(name).unwrap_or_else(|| UNKNOWN.to_string()),
            // Kept as it is, so that `kill $!` is known to mean a child of this very line.
            Parameter::Special(SpecialParameter::LastBackgroundProcessId) => "$!".to_owned(),
            Parameter::NamedWithIndex { index, .. } => {
                self.arithmetic(index);
                UNKNOWN.to_string()
            }
            Parameter::Positional(_)
            | Parameter::Special(_)
            | Parameter::NamedWithAllIndices { .. } => UNKNOWN.to_string(),
        }
    }

    /// Remembers whatever in a text could name a file.
    pub(crate) fn mention(&mut self, text: &str) {
        let place = self.place;
        let folder = self.folder().unwrap_or_else(|| place.folder.to_path_buf());
        mention(&mut self.facts, text, &folder, place);
        if folder != place.folder {
            mention(&mut self.facts, text, place.folder, place);
        }
    }

    /// A word taken as a path.
    pub(crate) fn target(&self, value: &Value) -> Target {
        let pattern = value.glob || !value.is_known();
        let text = value.text.replace(UNKNOWN, "*");
        match self.folder() {
            Some(folder) => Target {
                path: PathBuf::from(text),
                folder,
                pattern,
            },
            // Somewhere, since the folder is unknown: never within what is certain.
            None => Target {
                path: PathBuf::from(text),
                folder: PathBuf::from("/*"),
                pattern: true,
            },
        }
    }
}

/// Cuts a text where no path goes on and keeps the pieces that could be paths.
pub(crate) fn mention(facts: &mut CommandFacts, text: &str, folder: &Path, place: Place<'_>) {
    let mut add = |piece: &str| {
        let piece = piece.trim_matches(|letter: char| letter.is_whitespace());
        if piece.is_empty() || piece == "*" || piece.len() > 4096 {
            return;
        }
        let text = piece.replace(UNKNOWN, "*");
        let home = place.home.to_string_lossy();
        // Code has its own ways to say "home".
        let path = [
            "~/",
            "$HOME/",
            "${HOME}/",
            "$env:HOME/",
            "%USERPROFILE%\\",
            "%USERPROFILE%/",
        ]
        .iter()
        .find_map(|prefix| {
            text.strip_prefix(prefix)
                .map(|rest| format!("{home}/{rest}"))
        })
        .unwrap_or_else(|| text.clone());
        let target = Target {
            pattern: is_glob(&path),
            path: PathBuf::from(path),
            folder: folder.to_path_buf(),
        };
        facts.mentions.insert(target);
    };
    add(text);
    // A plain word is a single piece; only options, addresses and code have more.
    let separators = |letter: char| {
        letter.is_whitespace()
            || matches!(
                letter,
                '=' | ':'
                    | ','
                    | ';'
                    | '"'
                    | '\''
                    | '`'
                    | '('
                    | ')'
                    | '<'
                    | '>'
                    | '|'
                    | '&'
                    | '{'
                    | '}'
                    | '@'
                    | '\\'
            )
    };
    if text.contains(separators) {
        for piece in text.split(separators) {
            add(piece);
        }
        // Names with spaces, as in quoted code.
        for piece in text.split(['"', '\'', '=', '\n', ';', '(', ')']) {
            add(piece);
        }
    }
    // `-f/etc/shadow`: an option with its value attached.
    if text.starts_with('-')
        && let Some(start) = text.find(['/', '~'])
        && start > 0
    {
        add(&text[start..]);
    }
}

fn braces(text: &str, options: &ParserOptions) -> Vec<String> {
    if !text.contains('{') {
        return vec![text.to_owned()];
    }
    match word::parse_brace_expansions(text, options) {
        Ok(Some(pieces)) => {
            let words = combine(&pieces);
            if words.len() > BRACES {
                vec![format!("${{{UNKNOWN}}}")]
            } else {
                words
            }
        }
        Ok(None) | Err(_) => vec![text.to_owned()],
    }
}

fn combine(pieces: &[BraceExpressionOrText]) -> Vec<String> {
    let mut words = vec![String::new()];
    for piece in pieces {
        let choices: Vec<String> = match piece {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => members.iter().flat_map(member).collect(),
        };
        words = words
            .iter()
            .flat_map(|word| choices.iter().map(move |choice| format!("{word}{choice}")))
            .take(BRACES + 1)
            .collect();
    }
    words
}

fn member(member: &BraceExpressionMember) -> Vec<String> {
    match member {
        BraceExpressionMember::Child(pieces) => combine(pieces),
        BraceExpressionMember::NumberSequence { start, end, .. } => {
            let (low, high) = (*start.min(end), *start.max(end));
            (low..=high)
                .take(BRACES + 1)
                .map(|number| number.to_string())
                .collect()
        }
        BraceExpressionMember::CharSequence { start, end, .. } => {
            let (low, high) = (*start.min(end), *start.max(end));
            (low..=high).map(String::from).collect()
        }
    }
}

/// `$'…'` as bash reads it.
fn ansi_c(text: &str) -> String {
    let mut bytes: Vec<u8> = Vec::new();
    let mut letters = text.chars().peekable();
    let push = |letter: char, bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    };
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            push(letter, &mut bytes);
            continue;
        }
        let Some(escape) = letters.next() else { break };
        let mut digits = |most: usize, radix: u32, first: Option<char>| {
            let mut text: String = first.into_iter().collect();
            while text.len() < most && letters.peek().is_some_and(|letter| letter.is_digit(radix)) {
                text.extend(letters.next());
            }
            u32::from_str_radix(&text, radix).ok()
        };
        match escape {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '0'..='7' => bytes.push(digits(3, 8, Some(escape)).unwrap_or_default() as u8),
            'x' => bytes.push(digits(2, 16, None).unwrap_or_default() as u8),
            'u' | 'U' => {
                let code = digits(if escape == 'u' { 4 } else { 8 }, 16, None).unwrap_or_default();
                push(char::from_u32(code).unwrap_or(UNKNOWN), &mut bytes);
            }
            'c' => bytes.push(
                letters
                    .next()
                    .map_or(0, |letter| (letter as u32 as u8) & 31),
            ),
            other => push(other, &mut bytes),
        }
    }
    // What is cut off at a zero byte in the shell is cut here too.
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
