//! JSON as the hosts read it, from the strict kind to JSON5, with the place of every part.
//!
//! A reader of our own, because what is written must be cut and joined at exact bytes, and because
//! files of hosts hold things that stricter readers refuse: halves of surrogate pairs in cut texts,
//! keys given twice.

pub(crate) mod edit;
pub(crate) mod number;
pub(crate) mod print;
pub(crate) mod string;

use serde_json::Value;

use super::{
    Fault,
    tree::{Kind, Member, Node},
};

/// Deeper is no configuration.
const DEEPEST: usize = 256;

/// What a host accepts beyond strict JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) comments: bool,
    pub(crate) trailing_commas: bool,
    pub(crate) json5: bool,
}

/// Reads a text; none when there is nothing in it but white space and comments.
pub(crate) fn parse(text: &str, rules: Rules) -> Result<Option<Node>, Fault> {
    let mut reader = Reader {
        text,
        at: 0,
        rules,
        depth: 0,
    };
    reader.skip_trivia()?;
    if reader.peek().is_none() {
        return Ok(None);
    }
    let node = reader.value()?;
    reader.skip_trivia()?;
    match reader.peek() {
        None => Ok(Some(node)),
        Some(_) => Err(reader.fault("the end of the file is expected here")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    rules: Rules,
    depth: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fault(&self, message: &str) -> Fault {
        Fault::syntax(self.at, message)
    }

    fn skip_trivia(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            if self.rules.comments && rest.starts_with("//") {
                self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if self.rules.comments && rest.starts_with("/*") {
                let length = rest[2..].find("*/");
                self.at += 4 + length.ok_or_else(|| self.fault("this comment has no end"))?;
            } else {
                match rest.chars().next() {
                    Some(' ' | '\t' | '\n' | '\r') => self.at += 1,
                    Some(other) if self.rules.json5 && is_wide_space(other) => {
                        self.at += other.len_utf8();
                    }
                    Some('/') if rest.starts_with("//") || rest.starts_with("/*") => {
                        return Err(self.fault("this host allows no comments here"));
                    }
                    _ => return Ok(()),
                }
            }
        }
    }

    fn value(&mut self) -> Result<Node, Fault> {
        let start = self.at;
        let kind = match self.peek() {
            Some('{') => return self.nested(Self::map),
            Some('[') => return self.nested(Self::list),
            Some(quote @ ('"' | '\'')) if quote == '"' || self.rules.json5 => {
                Kind::Scalar(Value::String(self.string(quote)?))
            }
            Some(first) if first.is_ascii_alphanumeric() || matches!(first, '-' | '+' | '.') => {
                Kind::Scalar(self.word()?)
            }
            Some(_) => return Err(self.fault("a value is expected here")),
            None => return Err(self.fault("a value is missing at the end of the file")),
        };
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Kind, Fault>) -> Result<Node, Fault> {
        let start = self.at;
        if self.depth >= DEEPEST {
            return Err(self.fault("this is nested too deeply"));
        }
        self.depth += 1;
        self.at += 1;
        let kind = read(self)?;
        self.at += 1;
        self.depth -= 1;
        Ok(Node {
            span: start..self.at,
            kind,
        })
    }

    /// What stands between the braces; stops in front of the last one.
    fn map(&mut self) -> Result<Kind, Fault> {
        let mut members = Vec::new();
        loop {
            self.skip_trivia()?;
            match self.peek() {
                Some('}') => return Ok(Kind::Map(members)),
                None => return Err(self.fault("`}` is missing at the end of the file")),
                Some(_) => {}
            }
            let start = self.at;
            let key = self.key()?;
            let key_span = start..self.at;
            self.skip_trivia()?;
            if self.peek() != Some(':') {
                return Err(self.fault("`:` is expected after a name"));
            }
            self.at += 1;
            self.skip_trivia()?;
            let value = self.value()?;
            let comma = self.comma('}')?;
            members.push(Member {
                key,
                key_span,
                value,
                comma,
            });
        }
    }

    fn list(&mut self) -> Result<Kind, Fault> {
        let mut items = Vec::new();
        loop {
            self.skip_trivia()?;
            match self.peek() {
                Some(']') => return Ok(Kind::List(items)),
                None => return Err(self.fault("`]` is missing at the end of the file")),
                Some(_) => {}
            }
            items.push(self.value()?);
            self.comma(']')?;
        }
    }

    /// The comma after a value, where one is needed or allowed.
    fn comma(&mut self, close: char) -> Result<Option<usize>, Fault> {
        self.skip_trivia()?;
        let comma = self.at;
        match self.peek() {
            Some(',') => {}
            Some(other) if other == close => return Ok(None),
            Some(_) => return Err(self.fault(&format!("`,` or `{close}` is expected here"))),
            None => return Err(self.fault(&format!("`{close}` is missing at the end of the file"))),
        }
        self.at += 1;
        if !self.rules.trailing_commas {
            self.skip_trivia()?;
            if self.peek() == Some(close) {
                return Err(Fault::syntax(
                    comma,
                    "this host allows no comma after the last value",
                ));
            }
        }
        Ok(Some(comma))
    }

    fn key(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some('"') => self.string('"'),
            Some('\'') if self.rules.json5 => self.string('\''),
            Some(first) if self.rules.json5 && is_name_start(first) => {
                let rest = self.rest();
                let end = rest.find(|other| !is_name_part(other));
                let name = rest[..end.unwrap_or(rest.len())].to_owned();
                self.at += name.len();
                Ok(name)
            }
            _ => Err(self.fault("a name in double quotes is expected here")),
        }
    }

    fn string(&mut self, quote: char) -> Result<String, Fault> {
        let (value, length) = string::read(self.rest(), quote, self.rules.json5)
            .map_err(|(offset, message)| Fault::syntax(self.at + offset, message))?;
        self.at += length;
        Ok(value)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, Fault> {
        let rest = self.rest();
        let end = rest.find(|other: char| {
            !other.is_ascii_alphanumeric() && !matches!(other, '-' | '+' | '.' | '_' | '$')
        });
        let word = &rest[..end.unwrap_or(rest.len())];
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ => number::read(word, self.rules.json5).ok_or_else(|| {
                self.fault("this is neither a number nor `true`, `false`, `null`")
            })?,
        };
        self.at += word.len();
        Ok(value)
    }
}

/// White space of JSON5 beyond that of JSON.
fn is_wide_space(character: char) -> bool {
    character == '\u{feff}' || character.is_whitespace() && character != '\u{85}'
}

pub(crate) fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || matches!(character, '$' | '_')
}

pub(crate) fn is_name_part(character: char) -> bool {
    is_name_start(character)
        || character.is_numeric()
        || matches!(character, '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests;
