//! The walk over a parsed line: lists, pipes, compounds, redirections, assignments.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
};

use brush_parser::{
    Parser, ParserOptions,
    ast::{
        AndOr, Assignment, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem,
        CompoundCommand, CompoundList, ExtendedTestExpr, IoFileRedirectKind, IoFileRedirectTarget,
        IoRedirect, Pipeline, SeparatorOperator, SimpleCommand, SubshellCommand,
    },
};

use super::{
    CommandFacts, NetworkUse, Place, Unknown,
    words::{UNKNOWN, Value},
};

/// Commands within commands: `sh -c` in `env` in `xargs` …
const DEEPEST: usize = 12;
/// Steps of one walk, loop bodies counted twice: beyond, the line counts as too complex.
const MOST_STEPS: usize = 4000;

/// What a command would read from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// The line's own.
    Inherited,
    /// This text.
    Text(Value),
    /// Something that cannot be known.
    Unknown,
}

/// State of the walk.
pub(crate) struct Walk<'a> {
    pub(crate) facts: CommandFacts,
    pub(crate) place: Place<'a>,
    pub(crate) options: ParserOptions,
    pub(crate) depth: usize,
    pub(crate) input: Input,
    /// Never taken back, unlike the facts of a first round through a loop.
    steps: usize,
    scope: Scope,
}

/// What a subshell gets a copy of.
#[derive(Clone)]
struct Scope {
    /// None: set, but to something unknown.
    variables: HashMap<String, Option<String>>,
    folder: Option<PathBuf>,
    functions: HashSet<String>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(facts: CommandFacts, place: Place<'a>) -> Self {
        let variables = [
            ("HOME", place.home.to_string_lossy().into_owned()),
            ("PWD", place.folder.to_string_lossy().into_owned()),
            ("IFS", " \t\n".to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Some(value)))
        .collect();
        Self {
            facts,
            place,
            options: ParserOptions::default(),
            depth: 0,
            input: Input::Inherited,
            steps: 0,
            scope: Scope {
                variables,
                folder: Some(place.folder.to_path_buf()),
                functions: HashSet::new(),
            },
        }
    }

    pub(crate) fn line(mut self, line: &str) -> CommandFacts {
        self.nested(line);
        self.facts
    }

    pub(crate) fn words(mut self, words: &[String]) -> CommandFacts {
        let words: Vec<_> = words.iter().map(Value::known).collect();
        self.run(&words);
        self.facts
    }

    /// Code inside code.
    pub(crate) fn nested(&mut self, code: &str) {
        if self.depth >= DEEPEST {
            self.facts.doubt(Unknown::TooComplex);
            self.mention(code);
            return;
        }
        self.depth += 1;
        if let Ok(program) = Parser::new(code.as_bytes(), &self.options).parse_program() {
            for list in &program.complete_commands {
                self.list(list);
            }
        } else {
            self.facts.doubt(Unknown::Unparsable);
            self.mention(code);
        }
        self.depth -= 1;
    }

    /// The same in a process of its own, so that its variables and folder end with it.
    pub(crate) fn nested_apart(&mut self, code: &str) {
        let scope = self.scope.clone();
        self.nested(code);
        self.scope = scope;
    }

    /// Text of a command substitution, where it is as simple as `$(echo rm)`.
    pub(crate) fn substitution(&mut self, code: &str) -> String {
        let scope = self.scope.clone();
        let first = self.facts.commands.len();
        let certain = self.facts.dynamic;
        self.nested(code);
        self.scope = scope;
        let text = match self.facts.commands.get(first..) {
            Some([command]) if !code.contains(['|', '>', '<', ';', '&']) => printed(command),
            _ => None,
        };
        self.facts.dynamic |= certain || text.is_none();
        text.unwrap_or_else(|| UNKNOWN.to_string())
    }

    pub(crate) fn folder(&self) -> Option<PathBuf> {
        self.scope.folder.clone()
    }

    pub(crate) fn change_folder(&mut self, folder: Option<&Value>) {
        self.scope.folder = match folder {
            None => Some(self.place.home.to_path_buf()),
            Some(value) => match (value.certain(), &self.scope.folder) {
                (Some("-") | None, _) => None,
                (Some(text), Some(folder)) => {
                    Some(super::super::paths::plain(text.as_ref(), folder))
                }
                (Some(text), None) => Some(PathBuf::from(text)).filter(|path| path.is_absolute()),
            },
        };
        let text = self
            .folder()
            .map(|folder| folder.to_string_lossy().into_owned());
        self.set("OLDPWD", None);
        self.set("PWD", text);
    }

    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.scope.variables.get(name).cloned().flatten()
    }

    pub(crate) fn set(&mut self, name: &str, value: Option<String>) {
        self.scope.variables.insert(name.to_owned(), value);
    }

    pub(crate) fn is_function(&self, name: &str) -> bool {
        self.scope.functions.contains(name)
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            self.facts.background |= matches!(item.1, SeparatorOperator::Async);
            self.pipeline(&item.0.first);
            for more in &item.0.additional {
                match more {
                    AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
                }
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [command] = pipeline.seq.as_slice() {
            self.command(command);
            return;
        }
        let outer = self.input.clone();
        for command in &pipeline.seq {
            // Every part of a pipe is a process of its own.
            let scope = self.scope.clone();
            let first = self.facts.commands.len();
            self.command(command);
            self.scope = scope;
            self.input = match (command, self.facts.commands.get(first..)) {
                (Command::Simple(_), Some([words])) => {
                    printed(words).map_or(Input::Unknown, |text| Input::Text(Value::known(text)))
                }
                _ => Input::Unknown,
            };
        }
        self.input = outer;
    }

    fn command(&mut self, command: &Command) {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            self.facts.doubt(Unknown::TooComplex);
            return;
        }
        let input = self.input.clone();
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    self.redirect(redirect);
                }
                self.compound(compound);
            }
            Command::Function(function) => {
                // What it does counts whether or not it is called: `ls() { rm -r x; }; ls`.
                let name = self.expand_one(&function.fname.value).text;
                self.scope.functions.insert(name);
                for redirect in function.body.1.iter().flat_map(|list| &list.0) {
                    self.redirect(redirect);
                }
                let scope = self.scope.clone();
                self.input = Input::Unknown;
                self.compound(&function.body.0);
                self.forget_changes(&scope);
            }
            Command::ExtendedTest(test, redirects) => {
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    self.redirect(redirect);
                }
                self.test(&test.expr);
            }
        }
        self.input = input;
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => self.arithmetic(&arithmetic.expr.value),
            CompoundCommand::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater]
                    .into_iter()
                    .flatten()
                {
                    self.arithmetic(&part.value);
                }
                self.perhaps(&clause.body.list);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.subshell(subshell),
            CompoundCommand::ForClause(clause) => {
                let mut values = Vec::new();
                for value in clause.values.iter().flatten() {
                    values.extend(self.expand(&value.value));
                }
                for value in &values {
                    self.mention(&value.text.clone());
                }
                let only = match values.as_slice() {
                    [value] => value.certain().map(str::to_owned),
                    _ => None,
                };
                self.set(&clause.variable_name, only);
                self.perhaps(&clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                let _value = self.expand_one(&clause.value.value);
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        let _pattern = self.expand_one(&pattern.value);
                    }
                    if let Some(list) = &case.cmd {
                        self.perhaps(list);
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.perhaps(&clause.then);
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.perhaps(condition);
                    }
                    self.perhaps(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.perhaps(&clause.0);
                self.perhaps(&clause.1.list);
            }
            CompoundCommand::Coprocess(process) => {
                self.facts.background = true;
                let scope = self.scope.clone();
                self.input = Input::Unknown;
                self.command(&process.body);
                self.scope = scope;
            }
        }
    }

    /// Runs or does not run, or more than once: afterwards what it changed is unknown. Within, a
    /// variable that the body itself changes is unknown from the start, as on a second round.
    fn perhaps(&mut self, list: &CompoundList) {
        let before = self.scope.clone();
        let facts = self.facts.clone();
        self.list(list);
        let changed = self.changes(&before);
        if !changed.is_empty() {
            self.facts = facts;
            self.scope = before.clone();
            for name in changed {
                self.set(&name, None);
            }
            let start = self.scope.clone();
            self.list(list);
            self.forget_changes(&start);
        }
        if self.scope.folder != before.folder {
            self.scope.folder = None;
        }
    }

    fn changes(&self, before: &Scope) -> Vec<String> {
        self.scope
            .variables
            .iter()
            .filter(|(name, value)| before.variables.get(*name) != Some(*value))
            .map(|(name, _)| name.clone())
            .collect()
    }

    fn forget_changes(&mut self, before: &Scope) {
        for name in self.changes(before) {
            self.set(&name, None);
        }
        if self.scope.folder != before.folder {
            self.scope.folder = None;
        }
    }

    fn subshell(&mut self, subshell: &SubshellCommand) {
        let scope = self.scope.clone();
        self.list(&subshell.list);
        self.scope = scope;
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner);
            }
            ExtendedTestExpr::UnaryTest(_, word) => {
                let value = self.expand_one(&word.value);
                self.mention(&value.text);
            }
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                for word in [left, right] {
                    let value = self.expand_one(&word.value);
                    self.mention(&value.text);
                }
            }
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        let prefix = command.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = command.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut words = Vec::new();
        let mut assignments = Vec::new();
        for item in prefix {
            self.item(item, &mut words, Some(&mut assignments));
        }
        if let Some(word) = &command.word_or_name {
            words.extend(self.expand(&word.value));
        }
        let named = command.word_or_name.is_some();
        for item in suffix {
            self.item(item, &mut words, None);
        }
        for (name, value) in assignments {
            self.assigned(&name, &value);
            // `A=b command` is the command's own; that it stays set here only makes more known.
            self.set(&name, value.is_known().then(|| value.text.clone()));
        }
        if !words.is_empty() {
            self.run(&words);
        } else if named {
            // The name expanded to nothing that is known.
            self.facts.doubt(Unknown::Program);
        }
    }

    fn item(
        &mut self,
        item: &CommandPrefixOrSuffixItem,
        words: &mut Vec<Value>,
        assignments: Option<&mut Vec<(String, Value)>>,
    ) {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
            CommandPrefixOrSuffixItem::Word(word) => {
                let values = self.expand(&word.value);
                words.extend(values);
            }
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                if let Some(assignments) = assignments {
                    let assignment = self.assignment(assignment);
                    assignments.push(assignment);
                } else {
                    let value = self.expand_one(&word.value);
                    words.push(value);
                }
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                let input = std::mem::replace(&mut self.input, Input::Unknown);
                self.subshell(subshell);
                self.input = input;
                self.facts.dynamic = true;
                words.push(Value::unknown());
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) -> (String, Value) {
        let (name, mut value) = match (&assignment.name, &assignment.value) {
            (AssignmentName::VariableName(name), AssignmentValue::Scalar(word)) => {
                (name.clone(), self.expand_one(&word.value))
            }
            (AssignmentName::ArrayElementName(name, index), AssignmentValue::Scalar(word)) => {
                self.arithmetic(index);
                let value = self.expand_one(&word.value);
                self.mention(&value.text);
                (name.clone(), Value::unknown())
            }
            (
                AssignmentName::VariableName(name) | AssignmentName::ArrayElementName(name, _),
                AssignmentValue::Array(words),
            ) => {
                for (_, word) in words {
                    let value = self.expand_one(&word.value);
                    self.mention(&value.text);
                }
                (name.clone(), Value::unknown())
            }
        };
        if assignment.append {
            value = match self.variable(&name) {
                Some(before) => Value::known(format!("{before}{}", value.text)),
                None => Value::unknown(),
            };
        }
        (name, value)
    }

    fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(descriptor, kind, target) => {
                self.redirect_file(*descriptor, kind, target);
            }
            IoRedirect::HereDocument(_, document) => {
                let value = if document.requires_expansion {
                    self.expand_document(&document.doc.value)
                } else {
                    Value::known(document.doc.value.clone())
                };
                self.mention(&value.text);
                self.input = Input::Text(value);
            }
            IoRedirect::HereString(_, word) => {
                let value = self.expand_one(&word.value);
                self.mention(&value.text);
                self.input = Input::Text(value);
            }
            IoRedirect::OutputAndError(word, append) => {
                let value = self.expand_one(&word.value);
                self.output(&value, *append);
            }
        }
    }

    fn redirect_file(
        &mut self,
        descriptor: Option<i32>,
        kind: &IoFileRedirectKind,
        target: &IoFileRedirectTarget,
    ) {
        let value = match target {
            IoFileRedirectTarget::Fd(_) => return,
            IoFileRedirectTarget::Filename(word) => self.expand_one(&word.value),
            IoFileRedirectTarget::Duplicate(word) => {
                let value = self.expand_one(&word.value);
                let text = value.text.trim_end_matches('-');
                // `2>&1` and `3>&-` name descriptors, `>&file` a file.
                if text.chars().all(|letter| letter.is_ascii_digit()) {
                    return;
                }
                value
            }
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                let input = std::mem::replace(&mut self.input, Input::Unknown);
                self.subshell(subshell);
                self.input = input;
                if descriptor.unwrap_or(0) == 0 {
                    self.input = Input::Unknown;
                }
                return;
            }
        };
        match kind {
            IoFileRedirectKind::Read | IoFileRedirectKind::DuplicateInput => {
                self.mention(&value.text);
                self.device(&value);
                let target = self.target(&value);
                self.facts.reads.push(target);
                if descriptor.unwrap_or(0) == 0 {
                    self.input = Input::Unknown;
                }
            }
            IoFileRedirectKind::Append => self.output(&value, true),
            IoFileRedirectKind::Write
            | IoFileRedirectKind::Clobber
            | IoFileRedirectKind::DuplicateOutput
            | IoFileRedirectKind::ReadAndWrite => self.output(&value, false),
        }
    }

    fn output(&mut self, value: &Value, append: bool) {
        self.mention(&value.text);
        if self.device(value) {
            return;
        }
        if append {
            let target = self.target(value);
            self.facts.writes.push(target);
        } else {
            self.overwrite(value);
        }
    }

    /// Files that are none: streams, and bash's `/dev/tcp/host/port`.
    fn device(&mut self, value: &Value) -> bool {
        let Some(rest) = value.text.strip_prefix("/dev/") else {
            return false;
        };
        if let Some(address) = rest
            .strip_prefix("tcp/")
            .or_else(|| rest.strip_prefix("udp/"))
        {
            let host = address.split('/').next().unwrap_or_default().to_owned();
            self.facts.network.push(NetworkUse {
                program: "/dev/tcp".to_owned(),
                complete: !host.contains(UNKNOWN),
                hosts: vec![host],
            });
            return true;
        }
        matches!(
            rest,
            "null" | "stdout" | "stderr" | "stdin" | "tty" | "zero" | "full"
        ) || rest
            .strip_prefix("fd/")
            .is_some_and(|fd| fd.chars().all(|letter| letter.is_ascii_digit()))
    }
}

/// What a command prints, for those that only repeat their arguments.
pub(crate) fn printed(command: &[String]) -> Option<String> {
    let text = match command {
        [program, arguments @ ..] if program == "echo" => {
            let arguments = arguments
                .strip_prefix(&["-n".to_owned()])
                .unwrap_or(arguments);
            if arguments
                .first()
                .is_some_and(|first| first.starts_with('-'))
            {
                return None;
            }
            arguments.join(" ")
        }
        [program, format] if program == "printf" && !format.contains(['%', '-']) => format.clone(),
        [program, format, text]
            if program == "printf" && matches!(format.as_str(), "%s" | "%s\\n") =>
        {
            text.clone()
        }
        _ => return None,
    };
    (!text.contains([UNKNOWN, '*', '?', '[', '\\'])).then_some(text)
}
