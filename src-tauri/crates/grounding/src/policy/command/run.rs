//! One command: what it starts in turn, and what starts it.

use super::{
    Unknown,
    programs::{
        CALCULATORS, CARRIERS, CODE_FIRST, COMMAND_VARIABLES, Carrier, DELETING_CODE, INTERPRETERS,
        PRIVILEGE, REACH_OUT, RUNNING_CODE, SHELLS,
    },
    walk::{Input, Walk},
    words::{UNKNOWN, Value},
};
use crate::policy::apps::plain_name;

/// Programs of ours, whatever they are asked to do: nobody approves himself.
const OWN: &[&str] = &["openspace", "openspace-desktop"];

impl Walk<'_> {
    /// Takes in a command given in words.
    pub(crate) fn run(&mut self, words: &[Value]) {
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        for word in words {
            self.facts.dynamic |= !word.is_known();
            self.mention(&word.text);
        }
        let Some(name) = program.certain() else {
            // A pattern is as bad as an expansion: `/???/r?` is `/bin/rm`.
            self.facts.doubt(Unknown::Program);
            self.record(&program.text, words);
            return;
        };
        if name.is_empty() {
            self.facts.doubt(Unknown::Program);
            return;
        }
        let plain = version_free(&plain_name(name));
        if !plain.is_ascii() {
            self.facts.doubt(Unknown::Disguised);
        }
        self.record(&plain, words);
        if self.is_function(name) {
            return;
        }
        if OWN.contains(&plain.as_str()) {
            self.facts.own.push(plain);
            return;
        }
        if PRIVILEGE.contains(&plain.as_str()) {
            self.facts.privilege.push(plain.clone());
        }
        if REACH_OUT.contains(&plain.as_str()) {
            self.facts.reach_out.push(plain.clone());
        }
        if self.depth < 12 {
            self.depth += 1;
            self.start(&plain, arguments);
            self.depth -= 1;
        } else {
            self.facts.doubt(Unknown::TooComplex);
        }
    }

    fn record(&mut self, plain: &str, words: &[Value]) {
        self.facts.programs.push(plain.to_owned());
        self.facts
            .commands
            .push(words.iter().map(|word| word.text.clone()).collect());
    }

    fn start(&mut self, name: &str, arguments: &[Value]) {
        match name {
            "eval" => self.eval(arguments),
            "." | "source" => self.script(arguments.first()),
            "alias" | "export" | "declare" | "typeset" | "local" | "readonly" => {
                self.define(name, arguments);
            }
            "trap" => {
                if let Some(code) = arguments.iter().find(|word| !word.text.starts_with('-')) {
                    self.code(code);
                }
            }
            "cd" | "pushd" | "chdir" => {
                let folder = arguments
                    .iter()
                    .find(|word| word.text == "-" || !word.text.starts_with('-'));
                self.change_folder(folder);
            }
            "popd" => self.change_folder(Some(&Value::unknown())),
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "let" => {
                for word in arguments {
                    let variable = word.text.split('=').next().unwrap_or_default().to_owned();
                    self.set(&variable, None);
                }
            }
            "printf" => {
                if let [option, variable, ..] = arguments
                    && option.text == "-v"
                {
                    self.set(&variable.text, None);
                }
            }
            "env" => self.env(arguments),
            "su" => self.option_code(arguments, &["-c", "--command"]),
            "script" => {
                self.option_code(arguments, &["-c", "--command"]);
                self.effects(name, arguments);
            }
            "watch" => {
                let rest = carried(name, arguments);
                self.eval(&rest);
            }
            "find" | "fd" | "fdfind" => self.find(name, arguments),
            "ssh" => {
                self.effects(name, arguments);
                self.facts.doubt(Unknown::Code);
            }
            _ if SHELLS.contains(&name) => self.shell(name, arguments),
            _ if CARRIERS.iter().any(|carrier| carrier.name == name) => self.carry(name, arguments),
            _ if is_interpreter(name) => self.interpreter(name, arguments),
            _ => self.effects(name, arguments),
        }
    }

    /// Code that is a word: read on, or said to be unknown.
    fn code(&mut self, word: &Value) {
        if word.is_known() {
            self.nested(&word.text);
        } else {
            self.facts.doubt(Unknown::Code);
            self.mention(&word.text);
        }
    }

    fn eval(&mut self, arguments: &[Value]) {
        let line = arguments
            .iter()
            .map(|word| word.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        let glob = arguments.iter().any(|word| word.glob);
        if glob {
            self.facts.doubt(Unknown::Code);
        }
        self.code(&Value::known(line));
    }

    fn script(&mut self, file: Option<&Value>) {
        match file {
            Some(file) if file.certain().is_some() => {
                let target = self.target(file);
                self.facts.reads.push(target);
            }
            _ => self.facts.doubt(Unknown::Code),
        }
    }

    fn define(&mut self, name: &str, arguments: &[Value]) {
        for word in arguments {
            let Some((variable, value)) = word.text.split_once('=') else {
                continue;
            };
            let value = Value::known(value);
            if name == "alias" {
                self.code(&value);
                // Later words of that name mean the alias, which has been looked at; that it adds
                // to what follows cannot be told.
                if !value.is_known() {
                    self.facts.doubt(Unknown::Program);
                }
            } else {
                let variable = variable.to_owned();
                self.assigned(&variable, &value);
                self.set(&variable, value.is_known().then(|| value.text.clone()));
            }
        }
    }

    /// A variable gets a value: some are commands in disguise.
    pub(crate) fn assigned(&mut self, variable: &str, value: &Value) {
        self.mention(&value.text);
        if COMMAND_VARIABLES.contains(&variable) {
            self.code(value);
        }
        if matches!(
            variable,
            "BASH_ENV"
                | "ENV"
                | "LD_PRELOAD"
                | "LD_AUDIT"
                | "DYLD_INSERT_LIBRARIES"
                | "PYTHONSTARTUP"
                | "PERL5OPT"
                | "RUBYOPT"
                | "NODE_OPTIONS"
        ) {
            self.facts.doubt(Unknown::Code);
        }
        if matches!(
            variable,
            "PATH"
                | "CDPATH"
                | "LD_LIBRARY_PATH"
                | "DYLD_LIBRARY_PATH"
                | "PYTHONPATH"
                | "PERL5LIB"
                | "RUBYLIB"
                | "NODE_PATH"
                | "HOME"
                | "GIT_DIR"
                | "GIT_EXEC_PATH"
        ) {
            self.facts.environment.push(variable.to_owned());
        }
        if variable.starts_with("GIT_CONFIG") {
            self.facts.doubt(Unknown::Code);
        }
    }

    fn env(&mut self, arguments: &[Value]) {
        let mut rest = arguments;
        while let Some((word, after)) = rest.split_first() {
            let text = word.text.as_str();
            if let Some(line) = text
                .strip_prefix("--split-string=")
                .or_else(|| text.strip_prefix("-S").filter(|line| !line.is_empty()))
            {
                let line = Value::known([&[line], strings(after).as_slice()].concat().join(" "));
                return self.code(&line);
            }
            if text == "-S" || text == "--split-string" {
                let line = Value::known(strings(after).join(" "));
                return self.code(&line);
            }
            match text {
                "-C" | "--chdir" => {
                    self.change_folder(after.first());
                    rest = after.get(1..).unwrap_or_default();
                }
                "-u" | "--unset" | "-a" | "--argv0" => rest = after.get(1..).unwrap_or_default(),
                "--" => rest = after,
                _ if text.starts_with('-') => rest = after,
                _ if text.contains('=') => {
                    if let Some((variable, value)) = text.split_once('=') {
                        let value = Value::known(value);
                        self.assigned(variable, &value);
                    }
                    rest = after;
                }
                _ => break,
            }
        }
        self.run(rest);
    }

    fn carry(&mut self, name: &str, arguments: &[Value]) {
        self.effects(name, arguments);
        if name == "flock" && arguments.iter().any(|word| word.text == "-c") {
            return self.option_code(arguments, &["-c"]);
        }
        let mut command = carried(name, arguments);
        if matches!(name, "xargs" | "parallel") {
            // What is appended comes from elsewhere.
            command.push(Value::unknown());
            self.facts.dynamic = true;
            if name == "parallel" && command.len() == 1 {
                self.facts.doubt(Unknown::Code);
                return;
            }
            self.input = Input::Unknown;
        }
        if matches!(name, "command" | "builtin")
            && arguments
                .first()
                .is_some_and(|option| matches!(option.text.as_str(), "-v" | "-V"))
        {
            return;
        }
        if name == "sudo" || name == "doas" {
            let shell = arguments
                .iter()
                .any(|word| matches!(word.text.as_str(), "-s" | "-i" | "--login" | "--shell"));
            if shell {
                self.facts.doubt(Unknown::Code);
            }
        }
        if name == "parallel" {
            return self.eval(&command);
        }
        self.run(&command);
    }

    fn option_code(&mut self, arguments: &[Value], options: &[&str]) {
        let mut found = false;
        for (position, word) in arguments.iter().enumerate() {
            let attached = options
                .iter()
                .find_map(|option| word.text.strip_prefix(&format!("{option}=")));
            let code = match attached {
                Some(code) => Some(Value::known(code)),
                None if options.contains(&word.text.as_str()) => {
                    arguments.get(position + 1).cloned()
                }
                None => None,
            };
            if let Some(code) = code {
                found = true;
                let input = self.input.clone();
                self.nested_or_doubt(&code);
                self.input = input;
            }
        }
        if !found {
            self.facts.doubt(Unknown::Code);
        }
    }

    fn nested_or_doubt(&mut self, code: &Value) {
        if code.is_known() {
            self.nested_apart(&code.text);
        } else {
            self.facts.doubt(Unknown::Code);
            self.mention(&code.text);
        }
    }

    fn shell(&mut self, name: &str, arguments: &[Value]) {
        self.facts.interpreters.push(name.to_owned());
        let mut position = 0;
        while let Some(word) = arguments.get(position) {
            let text = word.text.as_str();
            let is_flag = text.starts_with(['-', '+']) && text.len() > 1 && !text.starts_with("--");
            if is_flag && text.contains('c') && !matches!(text, "-rcfile") {
                // The code is the first plain word behind the flags: `sh -c -- 'rm x'`.
                let code = arguments[position + 1..]
                    .iter()
                    .find(|word| !word.text.starts_with(['-', '+']) || word.text.contains(' '));
                return match code {
                    Some(code) => self.nested_or_doubt(code),
                    None => self.facts.doubt(Unknown::Code),
                };
            }
            match text {
                "-o" | "+o" | "-O" | "+O" => position += 2,
                "--rcfile" | "--init-file" => {
                    self.script(arguments.get(position + 1));
                    position += 2;
                }
                "--command" => {
                    return match arguments.get(position + 1) {
                        Some(code) => self.nested_or_doubt(code),
                        None => self.facts.doubt(Unknown::Code),
                    };
                }
                "--version" | "--help" => return,
                "--" => position += 1,
                "-" | "-s" => break,
                _ if is_flag || text.starts_with("--") => position += 1,
                _ if !word.is_known() => return self.facts.doubt(Unknown::Code),
                "/dev/stdin" | "/proc/self/fd/0" | "/dev/fd/0" => break,
                _ => return self.script(Some(word)),
            }
        }
        match self.input.clone() {
            Input::Text(code) => self.nested_or_doubt(&code),
            // Without anything to read it is a prompt that nobody answers, or reads what we cannot see.
            Input::Unknown | Input::Inherited => self.facts.doubt(Unknown::Code),
        }
    }

    fn interpreter(&mut self, name: &str, arguments: &[Value]) {
        let options = INTERPRETERS
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(&[][..], |(_, options)| options);
        if !CALCULATORS.contains(&name) {
            self.facts.interpreters.push(name.to_owned());
        }
        let mut inline = false;
        let mut plain = arguments.iter().filter(|word| !word.text.starts_with('-'));
        for (position, word) in arguments.iter().enumerate() {
            let lower = word.text.to_lowercase();
            let exact = options
                .iter()
                .any(|option| word.text == *option || (name != "perl" && lower == *option));
            let bundled =
                name == "perl" && word.text.starts_with('-') && word.text[1..].contains(['e', 'E']);
            if exact || bundled {
                inline = true;
                match arguments.get(position + 1) {
                    Some(code) => self.inline_code(&code.clone()),
                    None => self.facts.doubt(Unknown::Code),
                }
            } else if let Some(code) =
                options
                    .iter()
                    .filter(|option| option.len() == 2)
                    .find_map(|option| {
                        word.text
                            .strip_prefix(option)
                            .filter(|code| !code.is_empty())
                    })
            {
                // `-c'code'` is one word.
                inline = true;
                self.inline_code(&Value::known(code));
            }
        }
        if CODE_FIRST.contains(&name) && !arguments.iter().any(|word| word.text.starts_with("-f")) {
            if let Some(code) = plain.next().cloned() {
                self.inline_code(&code);
            }
            inline = true;
        }
        if matches!(name, "sqlite3" | "psql" | "mysql" | "mariadb") {
            if let Some(code) = arguments.get(1..).and_then(<[_]>::last).cloned() {
                self.inline_code(&code);
            }
            inline = true;
        }
        if name == "perl"
            && arguments.iter().any(|word| {
                word.text.starts_with("-i")
                    || word.text.starts_with("-pi")
                    || word.text.starts_with("-ni")
            })
        {
            let files: Vec<_> = arguments
                .iter()
                .filter(|word| !word.text.starts_with('-'))
                .skip(1)
                .cloned()
                .collect();
            for file in files {
                self.overwrite(&file);
            }
        }
        let script = arguments
            .iter()
            .any(|word| !word.text.starts_with('-') || word.text == "-m");
        if !inline && !script && !CALCULATORS.contains(&name) {
            let only_asks = !arguments.is_empty()
                && arguments.iter().all(|word| {
                    matches!(
                        word.text.as_str(),
                        "-V" | "-v" | "--version" | "--help" | "-h"
                    )
                });
            match self.input.clone() {
                _ if only_asks => {}
                Input::Text(code) => self.inline_code(&code),
                Input::Unknown | Input::Inherited => self.facts.doubt(Unknown::Code),
            }
        }
        self.effects(name, arguments);
    }

    /// Code that is not a shell's: looked through for what deletes, and for what runs more.
    pub(crate) fn inline_code(&mut self, code: &Value) {
        self.mention(&code.text);
        self.facts.inline_code.push(code.text.clone());
        if !code.is_known() || RUNNING_CODE.iter().any(|call| code.text.contains(call)) {
            self.facts.doubt(Unknown::Code);
        }
        if DELETING_CODE.iter().any(|call| code.text.contains(call)) {
            self.delete(&Value::unknown());
        }
    }

    fn find(&mut self, name: &str, arguments: &[Value]) {
        let roots: Vec<Value> = if name == "find" {
            arguments
                .iter()
                .skip_while(|word| matches!(word.text.as_str(), "-H" | "-L" | "-P"))
                .take_while(|word| !word.text.starts_with(['-', '(', '!']))
                .cloned()
                .collect()
        } else {
            Vec::new()
        };
        let roots = if roots.is_empty() {
            vec![Value::known(".")]
        } else {
            roots
        };
        for root in &roots {
            let target = self.target(root);
            self.facts.reads.push(target);
        }
        for (position, word) in arguments.iter().enumerate() {
            match word.text.as_str() {
                "-delete" => {
                    for root in &roots {
                        self.delete(root);
                    }
                }
                "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                    if let Some(file) = arguments.get(position + 1).cloned() {
                        self.overwrite(&file);
                    }
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec"
                | "--exec-batch" => {
                    let command: Vec<_> = arguments[position + 1..]
                        .iter()
                        .take_while(|word| !matches!(word.text.as_str(), ";" | "+" | "\\;"))
                        .cloned()
                        .collect();
                    for root in &roots {
                        let command: Vec<_> = command
                            .iter()
                            .map(|word| Value {
                                text: word.text.replace("{}", &format!("{}/{UNKNOWN}", root.text)),
                                glob: word.glob,
                            })
                            .collect();
                        self.facts.dynamic = true;
                        self.run(&command);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The command behind a carrier's own arguments.
fn carried(name: &str, arguments: &[Value]) -> Vec<Value> {
    let fallback = Carrier {
        name: "",
        valued: &[],
        before: 0,
    };
    let carrier = CARRIERS
        .iter()
        .find(|carrier| carrier.name == name)
        .unwrap_or(&fallback);
    let mut before = carrier.before;
    let mut position = 0;
    while let Some(word) = arguments.get(position) {
        let text = word.text.as_str();
        if text == "--" {
            position += 1;
            break;
        }
        if text.starts_with('-') && text.len() > 1 {
            position += 1 + usize::from(carrier.valued.contains(&text));
        } else if name == "sudo" && text.contains('=') && !text.contains('/') {
            position += 1;
        } else if before > 0 {
            before -= 1;
            position += 1;
        } else {
            break;
        }
    }
    let rest = arguments.get(position..).unwrap_or_default();
    rest.to_vec()
}

fn strings(words: &[Value]) -> Vec<&str> {
    words.iter().map(|word| word.text.as_str()).collect()
}

pub(crate) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.iter().any(|(known, _)| *known == name)
}

/// `python3.11` is `python3`; a name that is only digits and dots stays.
fn version_free(name: &str) -> String {
    let known = |name: &str| is_interpreter(name) || SHELLS.contains(&name);
    if known(name) {
        return name.to_owned();
    }
    let short = name
        .trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    let major = name.split('.').next().unwrap_or(name);
    if known(major) {
        major.to_owned()
    } else if known(short) {
        short.to_owned()
    } else {
        name.to_owned()
    }
}
