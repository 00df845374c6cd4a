//! Making a conversation shorter without breaking it.

use openspace_llm::{Content, Message, Role};

const DROPPED: &str = "[Earlier steps were dropped here to save room.]";
const NO_PICTURE: &str = "[An earlier picture was dropped here.]";

/// Drops the older half of the conversation after the task, keeping call and result pairs whole.
/// False when there is nothing left that may be dropped.
pub(crate) fn drop_oldest_half(messages: &mut Vec<Message>) -> bool {
    // The newest person's words that are no tool results are the current task.
    let Some(task) = messages.iter().rposition(is_plain_user) else {
        return false;
    };
    let start = task + 1;
    if start >= messages.len() {
        // Everything before the current task is old; without that, nothing can go.
        if task == 0 {
            return false;
        }
        messages.drain(..task);
        return true;
    }
    // Pairs are (assistant, user with results): cut on an even number of messages after the task.
    let pairs = (messages.len() - start) / 2;
    if pairs < 2 {
        if task == 0 {
            return false;
        }
        messages.drain(..task);
        return true;
    }
    let cut = start + pairs.div_ceil(2) * 2;
    let mut kept = vec![messages[task].clone()];
    kept[0].content.push(Content::Text(DROPPED.to_owned()));
    kept.extend(messages.drain(cut..));
    *messages = kept;
    true
}

fn is_plain_user(message: &Message) -> bool {
    message.role == Role::User
        && !message
            .content
            .iter()
            .any(|content| matches!(content, Content::ToolResult(_)))
}

/// Replaces every picture but the newest by a note. False when there was none to replace.
pub(crate) fn drop_all_but_newest_image(messages: &mut [Message]) -> bool {
    let mut seen = false;
    let mut dropped = false;
    for message in messages.iter_mut().rev() {
        for content in message.content.iter_mut().rev() {
            drop_older(content, &mut seen, &mut dropped);
        }
    }
    dropped
}

fn drop_older(content: &mut Content, seen: &mut bool, dropped: &mut bool) {
    match content {
        Content::Image(_) if *seen => {
            *content = Content::Text(NO_PICTURE.to_owned());
            *dropped = true;
        }
        Content::Image(_) => *seen = true,
        Content::ToolResult(result) => {
            for content in result.content.iter_mut().rev() {
                drop_older(content, seen, dropped);
            }
        }
        Content::Text(_) | Content::ToolCall(_) | Content::Reasoning { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use openspace_llm::{Image, MediaType, ToolCall, ToolResult};
    use serde_json::Value;

    use super::*;

    fn pair(number: usize) -> [Message; 2] {
        let id = format!("call-{number}");
        let call = ToolCall {
            id: id.clone(),
            name: "x".into(),
            input: Value::Null,
            malformed: None,
        };
        let result = ToolResult {
            id,
            content: vec![picture()],
            is_error: false,
        };
        [
            Message {
                role: Role::Assistant,
                content: vec![Content::ToolCall(call)],
            },
            Message {
                role: Role::User,
                content: vec![Content::ToolResult(result)],
            },
        ]
    }

    fn picture() -> Content {
        Content::Image(Image {
            media_type: MediaType::Png,
            data: "x".into(),
            width: 1,
            height: 1,
        })
    }

    #[test]
    fn the_task_and_the_newest_pairs_survive_and_no_pair_is_torn() {
        let mut messages = vec![
            Message::user("old"),
            Message::assistant("done"),
            Message::user("task"),
        ];
        messages.extend((0..5).flat_map(pair));
        assert!(drop_oldest_half(&mut messages));
        assert_eq!(messages.len(), 1 + 2 * 2, "three of five pairs are gone");
        assert_eq!(messages[0].content[0], Content::Text("task".into()));
        assert_eq!(messages[1..], (3..5).flat_map(pair).collect::<Vec<_>>()[..]);
    }

    #[test]
    fn a_lone_task_cannot_be_shortened() {
        let mut messages = vec![Message::user("task")];
        assert!(!drop_oldest_half(&mut messages));
        assert_eq!(messages, [Message::user("task")]);
    }

    #[test]
    fn only_the_newest_picture_is_kept() {
        let mut messages = vec![Message::user("task")];
        messages.extend((0..3).flat_map(pair));
        assert!(drop_all_but_newest_image(&mut messages));
        let pictures = messages.iter().flat_map(|message| &message.content).filter(|content| {
            matches!(content, Content::ToolResult(result) if result.content == [picture()])
        });
        assert_eq!(pictures.count(), 1);
        assert!(
            !drop_all_but_newest_image(&mut messages),
            "nothing is left to drop"
        );
    }
}
