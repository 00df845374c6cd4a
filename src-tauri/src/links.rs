//! `openspace://` addresses. They show a page and do nothing else: whoever made one is a stranger.

use tauri::AppHandle;
use tauri_plugin_deep_link::DeepLinkExt as _;

/// The page an address stands for, as the part behind `#`; none for anything that is no address of
/// ours or names nothing there is.
pub(crate) fn page(address: &str) -> Option<String> {
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
        (Some("tasks") | None, None) => Some("/tasks".to_owned()),
        _ => None,
    }
}

/// Ids are made of letters, digits and hyphens.
fn is_id(text: &str) -> bool {
    text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// Follows addresses that the system hands over while the app runs (macOS; elsewhere they come as
/// arguments of a second start).
pub(crate) fn listen(app: &AppHandle) {
    let shown = app.clone();
    app.deep_link().on_open_url(move |event| {
        let page = event.urls().iter().find_map(|url| page(url.as_str()));
        super::window::focus(&shown, page.as_deref());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only pages that show something are reached, and nothing of the address but an id gets in.
    #[test]
    fn addresses_lead_to_pages_only() {
        assert_eq!(
            page("openspace://run/abc-1").as_deref(),
            Some("/runs/abc-1")
        );
        assert_eq!(
            page("openspace://run/abc?step=2&go").as_deref(),
            Some("/runs/abc")
        );
        assert_eq!(page("openspace://approvals").as_deref(), Some("/approvals"));
        assert_eq!(page("openspace://").as_deref(), Some("/tasks"));
        for wrong in [
            "openspace://run/a'b",
            "openspace://run/a/b",
            "openspace://run/%22",
            "openspace://mcp/add",
            "openspace://settings/keys",
            "https://example.com/run/a",
            "--run",
        ] {
            assert_eq!(page(wrong), None, "{wrong}");
        }
    }
}
