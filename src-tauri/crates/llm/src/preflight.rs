//! What every provider would reject is found before it is sent.

use std::collections::HashSet;

use crate::{Content, Error, Hosted, Image, Message, Profile, Request, Result, Role};

/// Longest edge of any picture in any request, in pixels (Anthropic's limit, the lowest known).
const HARD_EDGE: u32 = 8000;

/// The conversation as it can be sent: empty texts dropped, neighbours of the same role merged, the
/// results of tools first in their turn.
///
/// `hosted` says that the computer tool of the vendor will be offered, which ties the declared
/// display to the pictures.
///
/// # Errors
/// [`Error::ImageRejected`] for pictures beyond the profile's limits, [`Error::ContextTooLong`] for
/// a body that is too large without them, [`Error::InvalidRequest`] for everything else.
pub fn prepare(request: &Request, profile: &Profile, hosted: bool) -> Result<Vec<Message>> {
    let messages = normalise(&request.messages);
    check_turns(&messages)?;
    check_pairs(&messages)?;
    check_tools(request)?;
    if profile.vision {
        check_images(&messages, profile)?;
        if hosted {
            check_display(request, &messages, profile)?;
        }
    }
    let images = images(&messages).filter(|_| profile.vision);
    let bytes = images.map(base64_bytes).sum::<u64>() + text_bytes(&messages);
    check_size(bytes, &messages, profile)?;
    Ok(messages)
}

/// Refuses a body of more bytes than the provider takes.
pub(crate) fn check_size(bytes: u64, messages: &[Message], profile: &Profile) -> Result<()> {
    if bytes <= profile.images.max_request_bytes {
        return Ok(());
    }
    let message = format!(
        "{bytes} bytes in one request, the provider takes {}",
        profile.images.max_request_bytes
    );
    Err(match images(messages).next() {
        Some(_) => Error::ImageRejected { message },
        None => Error::ContextTooLong { message },
    })
}

/// All pictures of a conversation, oldest first, those in results of tools included.
pub fn images(messages: &[Message]) -> impl Iterator<Item = &Image> {
    let contents = messages.iter().flat_map(|message| &message.content);
    contents.flat_map(|content| -> Box<dyn Iterator<Item = &Image>> {
        match content {
            Content::Image(image) => Box::new(std::iter::once(image)),
            Content::ToolResult(result) => Box::new(result.content.iter().filter_map(as_image)),
            Content::Text(_) | Content::ToolCall(_) | Content::Reasoning { .. } => {
                Box::new(std::iter::empty())
            }
        }
    })
}

fn as_image(content: &Content) -> Option<&Image> {
    match content {
        Content::Image(image) => Some(image),
        _ => None,
    }
}

/// Bytes of a picture once it is written as base64.
pub(crate) fn base64_bytes(image: &Image) -> u64 {
    image.data.len().div_ceil(3) as u64 * 4
}

/// Bytes of everything said, pictures left out.
pub(crate) fn text_bytes(messages: &[Message]) -> u64 {
    fn of(content: &Content) -> usize {
        match content {
            Content::Text(text) => text.len(),
            Content::Image(_) => 0,
            Content::ToolCall(call) => call.name.len() + call.input.to_string().len(),
            Content::ToolResult(result) => result.content.iter().map(of).sum(),
            Content::Reasoning { opaque, .. } => opaque.to_string().len(),
        }
    }
    let contents = messages.iter().flat_map(|turn| &turn.content);
    contents.map(of).sum::<usize>() as u64
}

pub(crate) fn normalise(messages: &[Message]) -> Vec<Message> {
    let mut turns: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        let content = message.content.iter().filter_map(without_empty_text);
        let content: Vec<_> = content.collect();
        match turns.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == message.role => last.content.extend(content),
            _ => turns.push(Message {
                role: message.role,
                content,
            }),
        }
    }
    for turn in &mut turns {
        if turn.role == Role::User {
            // A stable sort keeps the order within both groups.
            turn.content
                .sort_by_key(|content| !matches!(content, Content::ToolResult(_)));
        }
    }
    turns
}

fn without_empty_text(content: &Content) -> Option<Content> {
    let is_empty =
        |content: &Content| matches!(content, Content::Text(text) if text.trim().is_empty());
    match content {
        content if is_empty(content) => None,
        Content::ToolResult(result) if result.content.iter().any(is_empty) => {
            let mut result = result.clone();
            result.content.retain(|content| !is_empty(content));
            Some(Content::ToolResult(result))
        }
        content => Some(content.clone()),
    }
}

fn refuse<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::InvalidRequest {
        message: message.into(),
    })
}

fn check_turns(messages: &[Message]) -> Result<()> {
    let role = |message: Option<&Message>| message.map(|message| message.role);
    match (role(messages.first()), role(messages.last())) {
        (None, _) | (_, None) => refuse("the conversation is empty"),
        (Some(Role::Assistant), _) => refuse("the conversation begins with the model's turn"),
        (_, Some(Role::Assistant)) => refuse("the conversation ends with the model's turn"),
        (Some(Role::User), Some(Role::User)) => Ok(()),
    }
}

fn check_pairs(messages: &[Message]) -> Result<()> {
    let mut seen = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let mut calls = Vec::new();
        for content in &message.content {
            match (content, message.role) {
                (Content::ToolCall(call), Role::Assistant) => {
                    if call.id.is_empty() || !seen.insert(call.id.as_str()) {
                        return refuse(format!(
                            "the id `{}` of a tool call is not its own",
                            call.id
                        ));
                    }
                    calls.push(call.id.as_str());
                }
                (Content::ToolResult(result), Role::User) => {
                    let Some(at) = open.iter().position(|id| *id == result.id) else {
                        return refuse(format!(
                            "the result `{}` belongs to no call of the turn before it",
                            result.id
                        ));
                    };
                    open.remove(at);
                    if result
                        .content
                        .iter()
                        .any(|piece| !matches!(piece, Content::Text(_) | Content::Image(_)))
                    {
                        return refuse(format!(
                            "the result `{}` holds more than text and images",
                            result.id
                        ));
                    }
                }
                (Content::ToolCall(call), Role::User) => {
                    return refuse(format!("the call `{}` stands in a person's turn", call.id));
                }
                (Content::ToolResult(result), Role::Assistant) => {
                    return refuse(format!(
                        "the result `{}` stands in the model's turn",
                        result.id
                    ));
                }
                (Content::Text(_) | Content::Image(_) | Content::Reasoning { .. }, _) => {}
            }
        }
        if let Some(id) = open.first() {
            return refuse(format!(
                "the call `{id}` has no result in the turn after it"
            ));
        }
        open = calls;
    }
    Ok(())
}

fn check_tools(request: &Request) -> Result<()> {
    let mut names = HashSet::new();
    for tool in &request.tools {
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if tool.name.is_empty() || tool.name.len() > 64 || !tool.name.chars().all(letters) {
            return refuse(format!("`{}` is no name for a tool", tool.name));
        }
        if !names.insert(tool.name.as_str()) {
            return refuse(format!("two tools are named `{}`", tool.name));
        }
        if tool.schema.get("type").and_then(|kind| kind.as_str()) != Some("object") {
            return refuse(format!(
                "the schema of `{}` is not one of an object",
                tool.name
            ));
        }
    }
    match request.max_tokens {
        0 => refuse("the reply may have no token at all"),
        _ => Ok(()),
    }
}

fn check_images(messages: &[Message], profile: &Profile) -> Result<()> {
    let limits = &profile.images;
    let reject = |message: String| Err(Error::ImageRejected { message });
    let count = images(messages).count() as u64;
    if count > u64::from(limits.max_images) {
        return reject(format!(
            "{count} pictures in one request, the provider takes {}",
            limits.max_images
        ));
    }
    let longest = if count > u64::from(limits.many) {
        limits.max_edge_many
    } else {
        HARD_EDGE
    };
    for image in images(messages) {
        let Image { width, height, .. } = *image;
        if image.data.is_empty() || width == 0 || height == 0 {
            return reject("an empty picture".into());
        }
        if width.max(height) > longest {
            return reject(format!(
                "a picture of {width}x{height} pixels, with {count} pictures in the request the \
                 provider takes {longest} at most"
            ));
        }
        if base64_bytes(image) > limits.max_image_bytes {
            return reject(format!(
                "a picture of {} bytes, the provider takes {}",
                base64_bytes(image),
                limits.max_image_bytes
            ));
        }
    }
    Ok(())
}

/// The hosted computer tool is declared with the size of the pictures the model points into. A look
/// at a part of the screen (`zoom`) has a size of its own and is not pointed into.
fn check_display(request: &Request, messages: &[Message], profile: &Profile) -> Result<()> {
    let computer = request.tools.iter().find_map(|tool| {
        let Hosted::Computer { width, height } = tool.hosted.as_ref()?;
        Some((tool.name.as_str(), *width, *height))
    });
    let Some((name, width, height)) = computer else {
        return Ok(());
    };
    if !profile.images.sees_unshrunk(width, height) {
        let (w, h) = profile.images.fit(width, height);
        return refuse(format!(
            "a display of {width}x{height} would be shrunk by the service; send {w}x{h}"
        ));
    }
    let contents = || messages.iter().flat_map(|message| &message.content);
    let whole_screens: HashSet<&str> = contents()
        .filter_map(|content| match content {
            // `computer` and what runs its actions in a row (`computer_batch`).
            Content::ToolCall(call) if call.name.starts_with(name) => {
                (!call.input.to_string().contains("\"zoom\"")).then_some(call.id.as_str())
            }
            _ => None,
        })
        .collect();
    let newest = contents()
        .filter_map(|content| match content {
            Content::ToolResult(result) if whole_screens.contains(result.id.as_str()) => {
                result.content.iter().filter_map(as_image).next_back()
            }
            _ => None,
        })
        .next_back();
    match newest {
        Some(image) if (image.width, image.height) != (width, height) => refuse(format!(
            "the display is declared as {width}x{height}, but the newest picture is {}x{}",
            image.width, image.height
        )),
        _ => Ok(()),
    }
}
