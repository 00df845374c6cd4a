//! Facts about models: image limits, coordinates, hosted tools, context, prices.

use serde::{Deserialize, Serialize};

/// What a provider accepts per picture and per request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageLimits {
    /// Longest edge in pixels the model sees unshrunk.
    pub max_edge: u32,
    /// Most 28x28 px patches the model sees unshrunk.
    pub max_patches: u32,
    /// Longest edge allowed once a request holds more than `many` pictures.
    pub max_edge_many: u32,
    /// From how many pictures on `max_edge_many` holds.
    pub many: u32,
    /// Most pictures in one request.
    pub max_images: u32,
    /// Most bytes of one request body.
    pub max_request_bytes: u64,
    /// Most bytes of one picture after base64.
    pub max_image_bytes: u64,
}

/// How a model writes positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coordinates {
    /// Pixels of the picture as sent.
    Pixels,
    /// `0..=1000` on both axes, whatever the picture's size.
    Thousandths,
    /// `0..=999` on both axes, whatever the picture's size.
    Permille,
}

/// Price per million tokens in US dollars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Plain input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Input written to the cache.
    pub cache_write: f64,
}

/// What is known of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// `provider/model`, as the person names it.
    pub name: String,
    /// The model reads pictures.
    pub vision: bool,
    /// Limits of pictures.
    pub images: ImageLimits,
    /// How it writes positions.
    pub coordinates: Coordinates,
    /// Type of the hosted computer tool, with the beta header it needs.
    pub hosted_computer: Option<(String, String)>,
    /// Context window in tokens.
    pub context_tokens: u64,
    /// Price, where known.
    pub price: Option<Price>,
    /// Day the facts were collected, `YYYY-MM-DD`.
    pub as_of: String,
}
