//! What users say, and which of our tools answers it.

/// What went before a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing: it begins the conversation.
    Nothing,
    /// It was handed over already, and goes on.
    Answered,
    /// Another task was handed over and goes on.
    Running,
    /// Another task was handed over and has a question.
    Asked,
    /// Another task was handed over and is done.
    Done,
}

/// One request.
#[derive(Debug)]
pub(super) struct Row {
    /// What it is called in reports.
    pub(super) name: &'static str,
    pub(super) before: Before,
    /// The user's words.
    pub(super) text: &'static str,
    /// Tools of ours that are right, the best first; none where the host does it by itself.
    pub(super) right: &'static [&'static str],
}

const fn row(
    name: &'static str,
    before: Before,
    right: &'static [&'static str],
    text: &'static str,
) -> Row {
    Row {
        name,
        before,
        text,
        right,
    }
}

use Before::{Answered, Asked, Done, Nothing, Running};

const DELEGATE: &[&str] = &["execute_task"];
const SEARCH: &[&str] = &["search_skills"];
const HOST: &[&str] = &[];

/// All of them.
pub(super) const REQUESTS: [Row; 30] = [
    row(
        "image editor",
        Nothing,
        DELEGATE,
        "The photo I have open in GIMP is crooked. Straighten it and save it under the same name.",
    ),
    row(
        "expense form",
        Nothing,
        DELEGATE,
        "Fill in the expense form in the browser window I have open: train, 84.50, 12 March. Don't send it.",
    ),
    row(
        "screen",
        Nothing,
        DELEGATE,
        "What is on my screen right now?",
    ),
    row(
        "dialog",
        Nothing,
        DELEGATE,
        "Some dialog popped up while I was talking to you and I can't make sense of it. Read it and tell me what it wants.",
    ),
    row(
        "microphone",
        Nothing,
        DELEGATE,
        "My headset microphone doesn't work in calls. Look in the sound settings which one is chosen and switch it to the headset.",
    ),
    row(
        "time sheet",
        Nothing,
        DELEGATE,
        "Copy the hours from the spreadsheet that is open in LibreOffice into our time sheet program, one line each. It has no import.",
    ),
    row(
        "long errand",
        Nothing,
        DELEGATE,
        "I'm signed in to the shop's admin page in Firefox. Go through all forty open orders there and note their tracking numbers in ~/Documents/tracking.csv. Take your time, I'm off for lunch.",
    ),
    row(
        "by name",
        Nothing,
        DELEGATE,
        "Have OpenSpace sort my Downloads folder by kind of file.",
    ),
    row(
        "bank statement",
        Nothing,
        DELEGATE,
        "我已经在浏览器里登录了网上银行，帮我把上个月的对账单下载成 PDF。",
    ),
    row(
        "chat program",
        Nothing,
        DELEGATE,
        "看一下微信电脑版里今天群里的通知，整理成一段话告诉我，不要发任何消息。",
    ),
    row("answer to a question", Asked, DELEGATE, "The blue one."),
    row(
        "after handing over",
        Answered,
        &["task_wait", "task_status"],
        "Export the drawing that is open in Inkscape as a PNG and tell me how large it is.",
    ),
    row(
        "until it is done",
        Running,
        &["task_wait"],
        "Wait until it is done, then tell me where the file is.",
    ),
    row(
        "waiting in Chinese",
        Running,
        &["task_wait", "task_status"],
        "做完了吗？做完了告诉我结果。",
    ),
    row(
        "how far",
        Running,
        &["task_status"],
        "Just a quick look without waiting: what is it doing at the moment?",
    ),
    row(
        "stop",
        Running,
        &["task_cancel"],
        "Stop that, I've changed my mind. We don't need a poster.",
    ),
    row(
        "stop in Chinese",
        Running,
        &["task_cancel"],
        "不用做了，马上停下来。",
    ),
    row(
        "which skills",
        Nothing,
        SEARCH,
        "Which skills does OpenSpace have for invoices?",
    ),
    row(
        "tested procedure",
        Nothing,
        SEARCH,
        "Next week I have to move our calendar to another provider. Is there a tested procedure for that? Only look, don't begin.",
    ),
    row(
        "skills in Chinese",
        Nothing,
        SEARCH,
        "OpenSpace 里有没有处理 Excel 报表的现成技能？先查一下。",
    ),
    row(
        "repair",
        Nothing,
        &["fix_skill"],
        "The OpenSpace skill in /home/ann/.openspace/skills/invoice-pdf writes dates the American way. Have it repaired: they should be like 2026-03-12.",
    ),
    row(
        "share",
        Nothing,
        &["upload_skill"],
        "Share my skill /home/ann/.openspace/skills/invoice-pdf with the community, publicly.",
    ),
    row(
        "rename",
        Nothing,
        HOST,
        "Rename the function total in src/cart.py to sum_of_items, everywhere.",
    ),
    row(
        "run the tests",
        Nothing,
        HOST,
        "Run the tests and tell me which of them fail.",
    ),
    row(
        "last commits",
        Nothing,
        HOST,
        "Show me the last three commits.",
    ),
    row(
        "a word",
        Nothing,
        HOST,
        "What does idempotent mean? One sentence.",
    ),
    row(
        "a verse",
        Nothing,
        HOST,
        "Write four lines about rain for the error page.",
    ),
    row(
        "readme in Chinese",
        Nothing,
        HOST,
        "读一下这个仓库的 README.md，用三句话告诉我它是做什么的。",
    ),
    row(
        "comments in Chinese",
        Nothing,
        HOST,
        "把 src/cart.py 里的中文注释翻译成英文。",
    ),
    row(
        "what it was called",
        Done,
        HOST,
        "Thanks! What was the file called again?",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Names are told apart, both languages are there, and so is what is none of our business.
    #[test]
    fn the_table_is_mixed() {
        let names: BTreeSet<_> = REQUESTS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), REQUESTS.len());
        let count = |fits: &dyn Fn(&Row) -> bool| REQUESTS.iter().filter(|row| fits(row)).count();
        let chinese = |row: &Row| {
            row.text
                .chars()
                .any(|letter| ('一'..='龥').contains(&letter))
        };
        assert!(count(&chinese) >= 6);
        assert_eq!(count(&|row| row.right.is_empty()), 8);
    }
}
