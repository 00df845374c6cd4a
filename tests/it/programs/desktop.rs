//! An editor and a dialog.

use openspace_testkit::{
    Options, Program,
    model::{Call, Turn},
};
use serde_json::json;

use super::{click_beside, click_text, press, report_line_with, stage, stages, type_now};
use crate::rig::{LIMIT, Rig};

const LETTER: &str = "Grüße aus Zürich: Ω, “naïve”, 北京 und 👍.";

/// A text is written in an editor the model opened itself, saved through the editor's own dialog, and
/// is in the file exactly as it was meant.
#[test]
fn mousepad_writes_and_saves() {
    let rig = Rig::with_screen(Options::sized(1280, 800), Vec::<Turn>::new());
    let file = rig.home.workspace().join("brief.txt");
    let path = file.display().to_string();
    rig.server.set_script(stages(vec![
        stage(|_| {
            let open = Call::new("open_program", json!({"program": "mousepad"}));
            Some(Turn::call(open))
        }),
        stage(|seen| {
            seen.find_text("Document")?;
            Some(Turn::type_text(&format!("{LETTER}\nZweite Zeile")))
        }),
        stage(|seen| {
            seen.find_text("Zweite Zeile")?;
            Some(Turn::key("ctrl+s"))
        }),
        stage(move |seen| {
            // The dialog has the focus in the field for the name.
            seen.find_text("Cancel")?;
            Some(Turn::calls([Call::key("ctrl+a"), Call::type_text(&path)]))
        }),
        stage(|seen| {
            let named = seen.read_text().contains("brief.txt");
            named.then(|| Turn::key("Return"))
        }),
        stage(|seen| {
            let closed = seen.find_text("Cancel").is_none();
            let shown = || seen.find_text("Zweite Zeile").is_some();
            (closed && shown()).then(|| Turn::done("The letter is saved."))
        }),
    ]));
    let output = rig.run(
        "Write the letter and save it as brief.txt",
        &["--allow", "gui:*"],
    );
    assert_eq!(
        output.code,
        Some(0),
        "{output:?}\n{:?}",
        rig.server.violations()
    );
    let saved = std::fs::read_to_string(&file).expect("the file");
    assert_eq!(saved.trim_end(), format!("{LETTER}\nZweite Zeile"));
    rig.finish();
}

/// A form is filled in and sent; the program that asked gets exactly what was typed.
#[test]
fn zenity_form_is_filled_in() {
    let rig = Rig::with_screen(
        Options::sized(1280, 800),
        stages(vec![
            click_beside("Surname", 180),
            type_now("Müller-Łódź"),
            click_beside("Town", 180),
            type_now("北京 & “Köln”"),
            click_text("OK"),
            stage(|seen| {
                seen.find_text("Surname")
                    .is_none()
                    .then(|| Turn::done("The form is sent."))
            }),
        ]),
    );
    let mut form = Program::new("/usr/bin/zenity")
        .args(["--forms", "--title=Registration", "--text=Who are you?"])
        .args(["--add-entry=Surname", "--add-entry=Town", "--width=500"])
        .environment(rig.screen().environment_in(&rig.home))
        .folder(rig.home.workspace())
        .start()
        .expect("zenity starts");
    let output = rig.run("Fill in the form", &["--allow", "gui:zenity"]);
    assert_eq!(
        output.code,
        Some(0),
        "{output:?}\n{:?}",
        rig.server.violations()
    );
    let sent = form.wait(LIMIT).expect("zenity ends");
    assert_eq!(
        (sent.code, sent.stdout.as_str()),
        (Some(0), "Müller-Łódź|北京 & “Köln”\n")
    );
    drop(form);
    rig.finish();
}

/// A question is answered with the keyboard alone, and what it says is told.
#[test]
fn zenity_question_is_read_and_answered() {
    let rig = Rig::with_screen(
        Options::sized(1280, 800),
        stages(vec![
            stage(|seen| {
                seen.find_text("Delete the archive")?;
                Some(Turn::screenshot().saying("It asks about deleting, which nobody wants."))
            }),
            press("Escape"),
            stage(|seen| {
                let gone = seen.find_text("Delete the archive").is_none();
                gone.then(|| Turn::done("I said no to deleting the archive."))
            }),
        ]),
    );
    let mut question = Program::new("/usr/bin/zenity")
        .args([
            "--question",
            "--title=Archive",
            "--text=Delete the archive?",
            "--width=500",
        ])
        .environment(rig.screen().environment_in(&rig.home))
        .start()
        .expect("zenity starts");
    let output = rig.run("Say no to the question", &["--allow", "gui:zenity"]);
    assert_eq!(
        output.code,
        Some(0),
        "{output:?}\n{:?}",
        rig.server.violations()
    );
    let answered = question.wait(LIMIT).expect("zenity ends");
    assert_eq!(answered.code, Some(1), "no");
    drop(question);
    rig.finish();
}

/// Looking is allowed, clicking is not: nothing is answered for the person.
#[test]
fn a_program_that_was_not_allowed_is_left_alone() {
    let rig = Rig::with_screen(
        Options::sized(1280, 800),
        stages(vec![
            click_text("Yes"),
            stage(|_| Some(Turn::screenshot())),
            report_line_with("archive"),
        ]),
    );
    let mut question = Program::new("/usr/bin/zenity")
        .args([
            "--question",
            "--title=Archive",
            "--text=Delete the archive?",
            "--width=500",
        ])
        .environment(rig.screen().environment_in(&rig.home))
        .start()
        .expect("zenity starts");
    let output = rig.run("Say yes", &["--allow", "gui:mousepad"]);
    assert_eq!(
        output.code,
        Some(0),
        "{output:?}\n{:?}",
        rig.server.violations()
    );
    assert!(output.stdout.contains("Delete the archive"), "{output:?}");
    assert!(question.running(), "the question still waits for a person");
    let refused = rig.server.requests();
    assert!(
        refused.last().expect("one").mentions("nobody can be asked"),
        "the model knows why"
    );
    drop(question);
    rig.finish();
}
