//! `openspace://` addresses. They show a page and do nothing else: whoever made one is a stranger.

/// The page an address stands for, as the part behind `#`; none for anything that is no address of
/// ours or names nothing there is.
pub fn page(address: &str) -> Option<String> {
    let rest = address.strip_prefix("openspace://")?;
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let (place, id) = (parts.next(), parts.next());
    if parts.next().is_some() {
        return None;
    }
    match (place, id) {
        (Some("run"), Some(id)) if is_id(id) => Some(format!("/runs/{id}")),
        (Some("approvals"), None) => Some("/approvals".to_owned()),
        (Some("approvals"), Some(id)) if is_id(id) => Some(format!("/approvals/{id}")),
        (Some("tasks") | None, None) => Some("/tasks".to_owned()),
        (Some("tasks"), Some("new")) => Some("/tasks/new".to_owned()),
        _ => None,
    }
}

/// Ids are made of letters, digits and hyphens.
fn is_id(text: &str) -> bool {
    text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only pages that show something are reached, and nothing of the address but an id gets in.
    #[test]
    fn addresses_lead_to_pages_only() {
        for (address, leads) in [
            ("openspace://run/abc-1", "/runs/abc-1"),
            ("openspace://run/abc?step=2&go", "/runs/abc"),
            ("openspace://approvals", "/approvals"),
            ("openspace://approvals/abc-1", "/approvals/abc-1"),
            ("openspace://tasks/new", "/tasks/new"),
            ("openspace://", "/tasks"),
        ] {
            assert_eq!(page(address).as_deref(), Some(leads), "{address}");
        }
        for wrong in [
            "openspace://run/a'b",
            "openspace://run/a/b",
            "openspace://run/%22",
            "openspace://approvals/%22",
            "openspace://tasks/old",
            "openspace://mcp/add",
            "openspace://settings/keys",
            "https://example.com/run/a",
            "--run",
        ] {
            assert_eq!(page(wrong), None, "{wrong}");
        }
    }
}
