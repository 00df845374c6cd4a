//! Facts about models: image limits, coordinates, hosted tools, context, prices.

mod table;

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

impl ImageLimits {
    /// Side of the squares a picture is counted in, in pixels.
    const PATCH: u32 = 28;

    /// Tokens a picture of this size costs: the 28x28 px squares that cover it.
    pub fn tokens(width: u32, height: u32) -> u64 {
        u64::from(width.div_ceil(Self::PATCH)) * u64::from(height.div_ceil(Self::PATCH))
    }

    /// The model sees a picture of this size as it is.
    pub fn sees_unshrunk(&self, width: u32, height: u32) -> bool {
        width.max(height) <= self.max_edge
            && Self::tokens(width, height) <= u64::from(self.max_patches)
    }

    /// The largest size of the same aspect ratio that the model sees unshrunk; the size itself if
    /// that is small enough. The long edge is as long as both caps allow, the short edge follows,
    /// rounded to the nearest pixel (a half goes to the even one, as the service itself rounds).
    /// No edge becomes 0.
    pub fn fit(&self, width: u32, height: u32) -> (u32, u32) {
        let (width, height) = (width.max(1), height.max(1));
        if self.sees_unshrunk(width, height) {
            return (width, height);
        }
        let (long, short) = (width.max(height), width.min(height));
        let turn = |long_edge, short_edge| {
            if width >= height {
                (long_edge, short_edge)
            } else {
                (short_edge, long_edge)
            }
        };
        (1..=long.min(self.max_edge))
            .rev()
            .map(|edge| turn(edge, scale(short, edge, long).max(1)))
            .find(|&(width, height)| self.sees_unshrunk(width, height))
            .unwrap_or((1, 1))
    }
}

/// `value * numerator / denominator`, rounded to nearest, a half to even.
fn scale(value: u32, numerator: u32, denominator: u32) -> u32 {
    let (product, denominator) = (
        u64::from(value) * u64::from(numerator),
        u64::from(denominator),
    );
    let (quotient, twice_rest) = (product / denominator, product % denominator * 2);
    let up = twice_rest > denominator || (twice_rest == denominator && quotient % 2 == 1);
    u32::try_from(quotient + u64::from(up)).unwrap_or(u32::MAX)
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

impl Price {
    /// What a number of tokens costs, in US dollars.
    pub fn of(&self, usage: &crate::Usage) -> f64 {
        (usage.input as f64 * self.input
            + usage.output as f64 * self.output
            + usage.cache_read as f64 * self.cache_read
            + usage.cache_write as f64 * self.cache_write)
            / 1e6
    }
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

impl Profile {
    /// The facts about a model named `provider/model`. A model nobody wrote a row for gets what is
    /// safe with any model of that provider: small pictures, a short context, no price.
    pub fn lookup(name: &str) -> Self {
        table::lookup(name)
    }

    /// The same profile with a person's values in place of ours.
    pub fn with(mut self, values: &Overrides) -> Self {
        fn set<T: Clone>(field: &mut T, value: Option<&T>) {
            if let Some(value) = value {
                field.clone_from(value);
            }
        }
        set(&mut self.vision, values.vision.as_ref());
        set(&mut self.images.max_edge, values.max_edge.as_ref());
        set(&mut self.images.max_patches, values.max_patches.as_ref());
        set(
            &mut self.images.max_edge_many,
            values.max_edge_many.as_ref(),
        );
        set(&mut self.images.many, values.many.as_ref());
        set(&mut self.images.max_images, values.max_images.as_ref());
        set(
            &mut self.images.max_request_bytes,
            values.max_request_bytes.as_ref(),
        );
        set(
            &mut self.images.max_image_bytes,
            values.max_image_bytes.as_ref(),
        );
        set(&mut self.coordinates, values.coordinates.as_ref());
        set(&mut self.context_tokens, values.context_tokens.as_ref());
        if let Some(hosted) = &values.hosted_computer {
            self.hosted_computer = hosted
                .tool
                .clone()
                .map(|tool| (tool, hosted.beta.clone().unwrap_or_default()));
        }
        if values.price.is_some() {
            self.price = values.price;
        }
        self
    }
}

/// A person's own values for a model, in place of the table's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// [`Profile::vision`]
    pub vision: Option<bool>,
    /// [`ImageLimits::max_edge`]
    pub max_edge: Option<u32>,
    /// [`ImageLimits::max_patches`]
    pub max_patches: Option<u32>,
    /// [`ImageLimits::max_edge_many`]
    pub max_edge_many: Option<u32>,
    /// [`ImageLimits::many`]
    pub many: Option<u32>,
    /// [`ImageLimits::max_images`]
    pub max_images: Option<u32>,
    /// [`ImageLimits::max_request_bytes`]; 18 MB on Vertex AI, 11 MB on Bedrock.
    pub max_request_bytes: Option<u64>,
    /// [`ImageLimits::max_image_bytes`]
    pub max_image_bytes: Option<u64>,
    /// [`Profile::coordinates`]
    pub coordinates: Option<Coordinates>,
    /// [`Profile::hosted_computer`]
    pub hosted_computer: Option<HostedOverride>,
    /// [`Profile::context_tokens`]
    pub context_tokens: Option<u64>,
    /// [`Profile::price`]
    pub price: Option<Price>,
}

/// The hosted computer tool as a person sets it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostedOverride {
    /// Its type, for example `computer_20251124`; `None` means that the model has none.
    pub tool: Option<String>,
    /// The beta header it needs, if any.
    pub beta: Option<String>,
}
