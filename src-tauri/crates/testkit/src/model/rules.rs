//! What a request must keep to.

/// What a model sees of a picture unshrunk (figures: vendor's documentation, November 2026).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageClass {
    /// 1568 px and 1568 patches.
    Standard,
    /// 2576 px and 4784 patches.
    Large,
    /// Any size.
    Unlimited,
}

impl ImageClass {
    /// Whether a picture of this size is seen as it is sent.
    pub fn fits(self, width: u32, height: u32) -> bool {
        let (edge, patches) = match self {
            Self::Standard => (1568, 1568),
            Self::Large => (2576, 4784),
            Self::Unlimited => return true,
        };
        width.max(height) <= edge && width.div_ceil(28) * height.div_ceil(28) <= patches
    }
}

/// The rules of one server. `..Rules::default()` fills the rest in.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The key clients must present; `None` for a local server without keys.
    pub key: Option<String>,
    /// Models that exist; any when empty.
    pub models: Vec<String>,
    /// How large a picture may be.
    pub images: ImageClass,
    /// Most bytes of a body: 32 MB directly, 18 MB on Vertex, 11 MB on Bedrock.
    pub max_body: usize,
    /// Most bytes of one picture after base64.
    pub max_image_bytes: usize,
    /// Most pictures in a request.
    pub max_images: usize,
    /// From more than this many pictures on, none may be larger than 2000 px.
    pub many_images: usize,
    /// Texts that may appear in no body, beside the key: other secrets, host keys, home paths.
    pub forbidden: Vec<String>,
    /// Hosted tool types with the beta header each needs, empty for none.
    pub hosted: Vec<(String, String)>,
}

/// The hosted computer tool that is a set of members; the only one since Claude 5.5.
pub(super) const TOOLSET: &str = "computer_toolset_20260801";

/// The key of [`Rules::default`].
pub const KEY: &str = "sk-test-0123456789abcdefghijklmnop";

impl Default for Rules {
    /// The key `sk-test-0123456789abcdefghijklmnop`, any model, standard pictures, 32 MB.
    fn default() -> Self {
        let hosted = [
            ("computer_20241022", "computer-use-2024-10-22"),
            ("computer_20250124", "computer-use-2025-01-24"),
            ("computer_20251124", "computer-use-2025-11-24"),
            (TOOLSET, ""),
        ];
        Self {
            key: Some(KEY.to_owned()),
            models: Vec::new(),
            images: ImageClass::Standard,
            max_body: 32_000_000,
            max_image_bytes: 10_000_000,
            max_images: 600,
            many_images: 20,
            forbidden: Vec::new(),
            hosted: hosted
                .map(|(tool, beta)| (tool.to_owned(), beta.to_owned()))
                .to_vec(),
        }
    }
}
