//! Pure changes to a conversation that keep it acceptable as it grows.

use std::collections::HashSet;

use crate::preflight::{base64_bytes, images, normalise, text_bytes};
use crate::{Content, Image, Message, Profile, Role, ToolResult};

/// What stands in for a result that never came.
const NO_RESULT: &str = "No result: the run was interrupted before this call finished. It may or may not have taken effect.";
/// How the text in place of a picture begins.
const STUB: &str = "[Picture ";

/// Brings calls and results together: results move directly behind their call, in its order; a call
/// without one gets an error result; a result without a call is dropped; ids that were used before
/// become unique; neighbours of the same role are merged; a conversation that begins with the
/// model's turn gets a beginning.
pub fn repair_pairs(messages: &mut Vec<Message>) {
    let mut turns = normalise(messages);
    if turns
        .first()
        .is_some_and(|turn| turn.role == Role::Assistant)
    {
        turns.insert(
            0,
            Message::user("(The beginning of this conversation was left out.)"),
        );
    }

    let mut used = HashSet::new();
    let mut repaired: Vec<Message> = Vec::with_capacity(turns.len());
    let mut open: Vec<(String, String)> = Vec::new();
    for mut turn in turns {
        match turn.role {
            Role::User => {
                let mut results = Vec::new();
                let mut rest = Vec::new();
                for content in turn.content {
                    match content {
                        Content::ToolResult(result) => results.push(result),
                        Content::ToolCall(_) => {}
                        content => rest.push(content),
                    }
                }
                turn.content = answer(std::mem::take(&mut open), results);
                turn.content.extend(rest);
            }
            Role::Assistant => {
                // Two turns of the model never follow each other after normalising.
                turn.content
                    .retain(|content| !matches!(content, Content::ToolResult(_)));
                for content in &mut turn.content {
                    if let Content::ToolCall(call) = content {
                        let before = call.id.clone();
                        let mut number = 2;
                        while call.id.is_empty() || !used.insert(call.id.clone()) {
                            call.id = format!("{before}_{number}");
                            number += 1;
                        }
                        open.push((before, call.id.clone()));
                    }
                }
            }
        }
        if !turn.content.is_empty() {
            repaired.push(turn);
        }
    }
    if !open.is_empty() {
        repaired.push(Message {
            role: Role::User,
            content: answer(open, Vec::new()),
        });
    }
    // Dropping what was orphaned may have emptied a turn between two of the same role.
    *messages = normalise(&repaired);
}

/// One result for each call `(id before, id now)`, in the order of the calls.
fn answer(calls: Vec<(String, String)>, mut results: Vec<ToolResult>) -> Vec<Content> {
    let results = calls.into_iter().map(|(before, now)| {
        match results.iter().position(|result| result.id == before) {
            Some(at) => ToolResult {
                id: now,
                ..results.remove(at)
            },
            None => ToolResult {
                id: now,
                content: vec![Content::Text(NO_RESULT.into())],
                is_error: true,
            },
        }
    });
    results.map(Content::ToolResult).collect()
}

/// Replaces old pictures by a line of text, `every` at a time, so that between two prunings the
/// beginning of the conversation stays the same and the provider's cache stays warm. At least the
/// newest `keep` stay. Returns how many were replaced.
pub fn prune_images(messages: &mut [Message], keep: usize, every: usize) -> usize {
    let every = every.max(1);
    let surplus = images(messages).count().saturating_sub(keep);
    let remove = surplus / every * every;
    let mut left = remove;
    replace_images(messages, |_, _| {
        let replace = left > 0;
        left = left.saturating_sub(1);
        replace.then_some(Replacement::Stub)
    });
    remove
}

/// Makes all pictures but the newest at most `max_edge` pixels long, by `shrink`; one that cannot be
/// shrunk is replaced by a line of text. The newest is left as it is, because the model gives
/// positions in its pixels. Returns whether anything changed: if not, asking again is pointless.
pub fn shrink_images(
    messages: &mut [Message],
    max_edge: u32,
    shrink: &dyn Fn(&Image, u32) -> Option<Image>,
) -> bool {
    let newest = images(messages).count().saturating_sub(1);
    let mut changed = false;
    replace_images(messages, |index, image| {
        if index == newest || image.width.max(image.height) <= max_edge {
            return None;
        }
        changed = true;
        Some(shrink(image, max_edge).map_or(Replacement::Stub, Replacement::Image))
    });
    changed
}

/// Replaces pictures by a line of text until the conversation keeps the provider's limits: each
/// picture's bytes, the number of pictures, the longest edge once there are many, the bytes of the
/// body. The oldest go first, in blocks; the newest stays as long as it is acceptable by itself.
/// Returns how many were replaced. Text alone is never cut.
pub fn fit_request(messages: &mut [Message], profile: &Profile) -> usize {
    if !profile.vision {
        return 0;
    }
    let limits = &profile.images;
    let mut replaced = 0;
    replace_images(messages, |_, image| {
        let too_big = base64_bytes(image) > limits.max_image_bytes
            || image.width.max(image.height) > 8000
            || image.data.is_empty();
        replaced += usize::from(too_big);
        too_big.then_some(Replacement::Stub)
    });

    let keep_to = |messages: &mut [Message], most: usize| {
        // A few newest ones stay, the others go at once.
        let keep = most.div_ceil(6).clamp(1, 3).min(most.max(1));
        prune_images(messages, keep, most.saturating_sub(keep).max(1))
    };
    if images(messages).count() > limits.max_images as usize {
        replaced += keep_to(messages, limits.max_images as usize);
    }
    let long_edge = |image: &Image| image.width.max(image.height) > limits.max_edge_many;
    if images(messages).count() > limits.many as usize && images(messages).any(long_edge) {
        replaced += keep_to(messages, limits.many as usize);
    }
    // A tenth is left for text and punctuation beyond what is counted here.
    let room = limits.max_request_bytes / 10 * 9;
    while images(messages).map(base64_bytes).sum::<u64>() + text_bytes(messages) > room {
        let count = images(messages).count();
        if count <= 1 {
            break;
        }
        replaced += prune_images(messages, count / 2, count - count / 2);
    }
    replaced
}

enum Replacement {
    Stub,
    Image(Image),
}

/// Goes through the pictures, oldest first; `choose` gets the index among the pictures still there.
/// Stubs count pictures from the beginning of the conversation, earlier stubs included, so that a
/// number never changes.
fn replace_images(
    messages: &mut [Message],
    mut choose: impl FnMut(usize, &Image) -> Option<Replacement>,
) {
    let mut index = 0;
    let mut number = 0;
    let mut visit = |content: &mut Content| match content {
        Content::Text(text) if text.starts_with(STUB) => number += 1,
        Content::Image(image) => {
            number += 1;
            match choose(index, image) {
                Some(Replacement::Stub) => {
                    *content = Content::Text(format!(
                        "{STUB}{number}, {}x{}, left out to save room: newer ones follow.]",
                        image.width, image.height
                    ));
                }
                Some(Replacement::Image(smaller)) => *image = smaller,
                None => {}
            }
            index += 1;
        }
        _ => {}
    };
    for content in messages.iter_mut().flat_map(|message| &mut message.content) {
        match content {
            Content::ToolResult(result) => result.content.iter_mut().for_each(&mut visit),
            content => visit(content),
        }
    }
}
