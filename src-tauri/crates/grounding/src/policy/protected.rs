//! What nobody may touch, whatever the preset, the rules and the answers: the last row of the table.

use std::path::{Path, PathBuf};

use super::{
    credentials::{ABSOLUTE, ANYWHERE, BROWSER_SECRETS, BROWSERS, HOME_PARENTS, HOMES, IN_HOME},
    paths::{Paths, folded, plain},
};

/// The protected places of one machine and run.
#[derive(Debug, Clone)]
pub(crate) struct Protected {
    /// Homes whose credentials are known by place, folded.
    homes: Vec<Vec<String>>,
    /// Our own files and what the composition adds, folded.
    own: Vec<Vec<String>>,
}

/// Which protected thing a path meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    /// The path is protected or lies in something protected.
    Inside,
    /// Something protected lies below the path.
    Above,
}

impl Protected {
    pub(crate) fn new(home: &Path, own: &[PathBuf]) -> Self {
        let mut homes: Vec<_> = HOMES.iter().map(|home| folded(Path::new(home))).collect();
        homes.push(folded(home));
        Self {
            homes,
            own: own.iter().map(|path| folded(path)).collect(),
        }
    }

    /// Looks at a path both as it is written and as it resolves.
    pub(crate) fn meets(&self, path: &Path, folder: &Path, paths: &dyn Paths) -> Option<Met> {
        let written = plain(path, folder);
        let single = path.components().count() == 1 && path.is_relative();
        if single && !paths.exists(&written) {
            // Most words of a line are no files: nothing to be resolved.
            return self.meets_text(&folded(&written), &|_| true);
        }
        // Before `..` is removed by text: through a link, `link/..` is somewhere else.
        let resolved = paths.resolve(&folder.join(path));
        let resolved_plain = paths.resolve(&written);
        let mut met = None;
        for candidate in [&written, &resolved, &resolved_plain] {
            match self.meets_text(&folded(candidate), &|_| true) {
                Some(Met::Inside) => return Some(Met::Inside),
                Some(Met::Above) => met = Some(Met::Above),
                None => {}
            }
        }
        met
    }

    /// The same for a pattern as a shell expands it: could it name something protected?
    pub(crate) fn meets_pattern(
        &self,
        pattern: &Path,
        folder: &Path,
        paths: &dyn Paths,
    ) -> Option<Met> {
        self.meets_text(&folded(&plain(pattern, folder)), &|place| {
            place.contains('*') || paths.exists(Path::new(&format!("/{place}")))
        })
    }

    /// `is_there` is only asked about places that a bare `*` would have to stand for: `ls *` in a
    /// home folder must not be refused because of files the person does not have.
    fn meets_text(&self, path: &[String], is_there: &dyn Fn(&str) -> bool) -> Option<Met> {
        let mut above = false;
        let homes = self.homes_of(path);
        let below_homes = homes
            .iter()
            .flat_map(|home| IN_HOME.iter().map(move |place| (home.as_slice(), *place)));
        let places = self
            .own
            .iter()
            .map(|own| (own.as_slice(), ""))
            .chain(below_homes)
            .chain(ABSOLUTE.iter().map(|place| ([].as_slice(), *place)));
        for (base, place) in places {
            let (met, bare) = relation(path, base, place);
            let counts = !bare || is_there(&[&base.join("/"), "/", place].concat());
            match met {
                Some(Met::Inside) if counts => return Some(Met::Inside),
                Some(Met::Above) if counts => above = true,
                _ => {}
            }
        }
        if ends_in_secret(path) || is_browser_secret(path, &homes) {
            return Some(Met::Inside);
        }
        above.then_some(Met::Above)
    }

    /// The known homes, and the one this path is in when it lies where homes are.
    fn homes_of(&self, path: &[String]) -> Vec<Vec<String>> {
        let mut homes = self.homes.clone();
        for parent in HOME_PARENTS {
            let parent: Vec<String> = split(parent).collect();
            if path.len() > parent.len() && path.starts_with(&parent) {
                homes.push(path[..=parent.len()].to_vec());
            }
        }
        homes
    }
}

/// How a path lies to `base/place`, and whether a bare `*` was needed to say so.
fn relation(path: &[String], base: &[String], place: &str) -> (Option<Met>, bool) {
    let mut names = path.iter();
    let mut any = false;
    for pattern in base
        .iter()
        .map(String::as_str)
        .chain(place.split('/').filter(|part| !part.is_empty()))
    {
        match names.next() {
            None => return (Some(Met::Above), any),
            Some(name) if either_matches(name, pattern) => any |= is_any(name),
            Some(_) => return (None, any),
        }
    }
    (Some(Met::Inside), any)
}

fn is_browser_secret(path: &[String], homes: &[Vec<String>]) -> bool {
    homes.iter().any(|home| {
        BROWSERS.iter().any(|browser| {
            let depth = home.len() + split(browser).count();
            relation(path, home, browser).0 == Some(Met::Inside)
                && path[depth..].iter().any(|name| {
                    BROWSER_SECRETS
                        .iter()
                        .any(|secret| could_start(name, secret))
                })
        })
    })
}

fn split(place: &str) -> impl Iterator<Item = String> + '_ {
    place
        .split('/')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
}

/// Any run of components that ends like one of [`ANYWHERE`] makes the whole path protected.
fn ends_in_secret(path: &[String]) -> bool {
    ANYWHERE.iter().any(|ending| {
        let ending: Vec<String> = split(ending).collect();
        path.windows(ending.len()).any(|part| {
            part.iter()
                .zip(&ending)
                // A bare `*` as a name would match every one of these; only the place decides then.
                .all(|(name, pattern)| !is_any(name) && either_matches(name, pattern))
        })
    })
}

fn is_any(name: &str) -> bool {
    name.chars().all(|letter| matches!(letter, '*' | '?'))
}

fn could_start(name: &str, secret: &str) -> bool {
    name.starts_with(secret) || (is_glob(name) && !is_any(name) && matches_glob(secret, name))
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// One of the two may be a pattern.
fn either_matches(left: &str, right: &str) -> bool {
    left == right
        || (is_glob(right) && matches_glob(left, right))
        || (is_glob(left) && matches_glob(right, left))
}

/// Shell patterns over one name. Brackets match any letter, which errs on the strict side; a
/// leading dot is only matched by a dot, as shells do.
pub(crate) fn matches_glob(name: &str, pattern: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with(['.', '[', '@', '+', '!']) {
        return false;
    }
    let name: Vec<char> = name.chars().collect();
    let mut tokens = Vec::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '*' => tokens.push(Token::Any),
            '?' => tokens.push(Token::One),
            '[' => {
                letters.by_ref().find(|letter| *letter == ']');
                tokens.push(Token::One);
            }
            letter => tokens.push(Token::Is(letter)),
        }
    }
    matches_tokens(&name, &tokens)
}

enum Token {
    Any,
    One,
    Is(char),
}

/// The usual two-pointer match: linear but for the last star, so no pattern makes it slow.
fn matches_tokens(name: &[char], tokens: &[Token]) -> bool {
    let (mut at, mut token) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match tokens.get(token) {
            Some(Token::Any) => {
                star = Some((token, at));
                token += 1;
            }
            Some(Token::One) => {
                at += 1;
                token += 1;
            }
            Some(Token::Is(letter)) if *letter == name[at] => {
                at += 1;
                token += 1;
            }
            Some(Token::Is(_)) | None => {
                let Some((star_token, star_at)) = star else {
                    return false;
                };
                star = Some((star_token, star_at + 1));
                at = star_at + 1;
                token = star_token + 1;
            }
        }
    }
    tokens[token..]
        .iter()
        .all(|token| matches!(token, Token::Any))
}
