//! The profile table: one row per family of models, each with its day; a change is one edit.
//!
//! Every row says where its limits come from ([`Row::facts`]) and every price where it was read
//! ([`Paid`]), because what looks like a fact is often a memory. A price that depends on the length
//! of the prompt, or that no page confirmed, is left out: `--max-cost` then says that it is not
//! known. The day of a row is the day its source was read.

use super::{Coordinates, ImageLimits, Price, Profile};
use crate::provider;

/// Where something was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Anthropic's pages on models, pricing, vision and the computer use tool
    /// (`platform.claude.com/docs`).
    Anthropic,
    /// OpenAI's page of the model itself (`developers.openai.com/api/docs/models`).
    OpenAi,
    /// What several independent tables quote from OpenAI's pages, all alike.
    OpenAiQuoted,
    /// Google's page on computer use (`ai.google.dev/gemini-api/docs/computer-use`): positions on a
    /// grid of a thousand. Its limits were not compared.
    GoogleComputerUse,
    /// Documentation of a programming library for vision models (nut.js): which families answer in
    /// pixels and which on a scale. Contexts were not compared.
    Conventions,
    /// Zhipu's published instructions for finding things in pictures: a scale to 1000. Contexts were
    /// not compared.
    Zhipu,
    /// What model cards said when the table was begun in November 2026; not compared with a page
    /// since. Such rows get the cautious limits of pictures and no price.
    Unconfirmed,
    /// This program's own.
    Own,
}

/// A price in US dollars per million tokens: input, output, cache read, cache write.
#[derive(Debug, Clone, Copy)]
struct Paid {
    usd: [f64; 4],
    /// Where it was read. For tests only: nothing is computed from it.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "kept with the figure it explains")
    )]
    from: Source,
}

const fn paid(from: Source, usd: [f64; 4]) -> Paid {
    Paid { usd, from }
}

/// A family of models.
struct Row {
    /// Providers (first part of the name) whose model this may be; empty means any.
    providers: &'static [&'static str],
    /// Start of the model's own name, after any gateway prefix, lower case, dots as dashes.
    model: &'static str,
    vision: bool,
    images: ImageLimits,
    coordinates: Coordinates,
    /// Hosted computer tool and beta header, over the Anthropic wire only.
    hosted: Option<(&'static str, &'static str)>,
    context: u64,
    /// Charged by the maker and passed on by OpenRouter.
    price: Option<Paid>,
    /// Where limits, coordinates, hosted tool and context come from. For tests only.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "kept with the facts it explains")
    )]
    facts: Source,
    as_of: &'static str,
}

/// Megabytes as the services count them.
const MB: u64 = 1024 * 1024;

/// Claude up to Opus 4.6: 1568 px and 1568 patches. 100 pictures with a context of 200k.
const CLAUDE: ImageLimits = ImageLimits {
    max_edge: 1568,
    max_patches: 1568,
    max_edge_many: 2000,
    many: 20,
    max_images: 100,
    max_request_bytes: 32 * MB,
    max_image_bytes: 10 * MB,
};
/// The same with a context of a million tokens.
const CLAUDE_LONG: ImageLimits = ImageLimits {
    max_images: 600,
    ..CLAUDE
};
/// Claude 4.7 and newer.
const CLAUDE_SHARP: ImageLimits = ImageLimits {
    max_edge: 2576,
    max_patches: 4784,
    ..CLAUDE_LONG
};
/// GPT scales to 768 px on the short edge; these caps keep any ordinary screen below that.
const GPT: ImageLimits = ImageLimits {
    max_edge: 1365,
    max_patches: 1036,
    max_edge_many: 2048,
    many: 500,
    max_images: 500,
    max_request_bytes: 50 * MB,
    max_image_bytes: 20 * MB,
};
/// Nothing known: small enough for every service seen so far.
const CAREFUL: ImageLimits = ImageLimits {
    max_edge: 1568,
    max_patches: 1568,
    max_edge_many: 1568,
    many: 20,
    max_images: 50,
    max_request_bytes: 20 * MB,
    max_image_bytes: 5 * MB,
};
/// Models on the person's own machine: pictures are slow there and contexts short.
const LOCAL: ImageLimits = ImageLimits {
    max_edge: 1344,
    max_patches: 1568,
    max_edge_many: 1344,
    many: 20,
    max_images: 16,
    max_request_bytes: 64 * MB,
    max_image_bytes: 10 * MB,
};

const HOSTED_2024: Option<(&str, &str)> = Some(("computer_20241022", "computer-use-2024-10-22"));
const HOSTED_JANUARY: Option<(&str, &str)> = Some(("computer_20250124", "computer-use-2025-01-24"));
const HOSTED_NOVEMBER: Option<(&str, &str)> =
    Some(("computer_20251124", "computer-use-2025-11-24"));

/// No beta header: it is out of beta.
const TOOLSET: Option<(&str, &str)> = Some(("computer_toolset_20260801", ""));

const fn claude(usd: [f64; 4]) -> Paid {
    paid(Source::Anthropic, usd)
}
/// Sonnet from 3.5 to 4.6.
const SONNET: Option<Paid> = Some(claude([3.0, 15.0, 0.3, 3.75]));
const OPUS_UNTIL_4_1: Option<Paid> = Some(claude([15.0, 75.0, 1.5, 18.75]));
/// Opus from 4.5 to 5.
const OPUS: Option<Paid> = Some(claude([5.0, 25.0, 0.5, 6.25]));

const NOVEMBER: &str = "2026-11-30";

/// What most rows share.
const BASE: Row = Row {
    providers: &[],
    model: "",
    vision: true,
    images: CAREFUL,
    coordinates: Coordinates::Pixels,
    hosted: None,
    context: 32_000,
    price: None,
    facts: Source::Unconfirmed,
    as_of: NOVEMBER,
};
const CLAUDE_BASE: Row = Row {
    images: CLAUDE,
    context: 200_000,
    facts: Source::Anthropic,
    ..BASE
};
const CLAUDE_MILLION: Row = Row {
    images: CLAUDE_SHARP,
    context: 1_000_000,
    facts: Source::Anthropic,
    ..BASE
};
const GPT_BASE: Row = Row {
    images: GPT,
    facts: Source::OpenAiQuoted,
    ..BASE
};
const BLIND: Row = Row {
    vision: false,
    ..BASE
};

/// First match wins, so the longer name stands first.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Claude. The 5.5 generation takes no other computer tool than the toolset; the models before it
    // that take both keep the older one. Haiku 5.5 is priced by the length of the prompt. What Sonnet
    // 5.5 charges for reading from the cache was halved on 2026-10-07.
    Row { model: "claude-opus-5-5", hosted: TOOLSET, price: Some(claude([4.0, 20.0, 0.2, 5.0])), ..CLAUDE_MILLION },
    Row { model: "claude-sonnet-5-5", hosted: TOOLSET, price: Some(claude([2.0, 10.0, 0.1, 2.5])), ..CLAUDE_MILLION },
    Row { model: "claude-haiku-5-5", hosted: TOOLSET, ..CLAUDE_MILLION },
    Row { model: "claude-opus-5", hosted: HOSTED_NOVEMBER, price: OPUS, ..CLAUDE_MILLION },
    Row { model: "claude-sonnet-5", hosted: HOSTED_NOVEMBER, price: Some(claude([2.0, 10.0, 0.2, 2.5])), ..CLAUDE_MILLION },
    Row { model: "claude-opus-4-8", hosted: HOSTED_NOVEMBER, price: OPUS, ..CLAUDE_MILLION },
    Row { model: "claude-opus-4-7", hosted: HOSTED_NOVEMBER, price: OPUS, ..CLAUDE_MILLION },
    Row { model: "claude-opus-4-6", hosted: HOSTED_NOVEMBER, price: OPUS, images: CLAUDE_LONG, ..CLAUDE_MILLION },
    Row { model: "claude-sonnet-4-6", hosted: HOSTED_NOVEMBER, price: SONNET, images: CLAUDE_LONG, ..CLAUDE_MILLION },
    Row { model: "claude-opus-4-5", hosted: HOSTED_NOVEMBER, price: OPUS, ..CLAUDE_BASE },
    Row { model: "claude-sonnet-4-5", hosted: HOSTED_JANUARY, price: SONNET, ..CLAUDE_BASE },
    Row { model: "claude-haiku-4-5", hosted: HOSTED_JANUARY, price: Some(claude([1.0, 5.0, 0.1, 1.25])), ..CLAUDE_BASE },
    Row { model: "claude-opus-4", hosted: HOSTED_JANUARY, price: OPUS_UNTIL_4_1, ..CLAUDE_BASE },
    Row { model: "claude-sonnet-4", hosted: HOSTED_JANUARY, price: SONNET, ..CLAUDE_BASE },
    Row { model: "claude-3-7-sonnet", hosted: HOSTED_JANUARY, price: SONNET, ..CLAUDE_BASE },
    Row { model: "claude-3-5-sonnet-20240620", price: SONNET, ..CLAUDE_BASE },
    Row { model: "claude-3-5-sonnet", hosted: HOSTED_2024, price: SONNET, ..CLAUDE_BASE },
    Row { model: "claude-3-5-haiku", price: Some(claude([0.8, 4.0, 0.08, 1.0])), ..CLAUDE_BASE },
    Row { model: "claude-3-opus", price: OPUS_UNTIL_4_1, ..CLAUDE_BASE },
    Row { model: "claude-3-haiku", price: Some(claude([0.25, 1.25, 0.03, 0.3])), ..CLAUDE_BASE },
    Row { model: "claude", ..CLAUDE_BASE },

    // OpenAI. Cached input has no price for writing beyond that of input. Without a price: what no
    // page confirmed, and from 5.4 on what depends on the length of the prompt. Contexts are lower
    // bounds.
    Row { model: "gpt-4o-mini", context: 128_000, price: Some(paid(Source::OpenAiQuoted, [0.15, 0.6, 0.075, 0.15])), ..GPT_BASE },
    Row { model: "gpt-4o", context: 128_000, price: Some(paid(Source::OpenAiQuoted, [2.5, 10.0, 1.25, 2.5])), ..GPT_BASE },
    Row { model: "gpt-4-1-nano", context: 1_047_576, ..GPT_BASE },
    Row { model: "gpt-4-1-mini", context: 1_047_576, price: Some(paid(Source::OpenAiQuoted, [0.4, 1.6, 0.1, 0.4])), ..GPT_BASE },
    Row { model: "gpt-4-1", context: 1_047_576, price: Some(paid(Source::OpenAiQuoted, [2.0, 8.0, 0.5, 2.0])), ..GPT_BASE },
    Row { model: "gpt-5-nano", context: 400_000, ..GPT_BASE },
    Row { model: "gpt-5-mini", context: 400_000, price: Some(paid(Source::OpenAiQuoted, [0.25, 2.0, 0.025, 0.25])), ..GPT_BASE },
    Row { model: "gpt-5-chat", context: 128_000, ..GPT_BASE },
    Row { model: "gpt-5-pro", context: 400_000, ..GPT_BASE },
    // Versions after 5 are priced anew.
    Row { model: "gpt-5-1", context: 400_000, ..GPT_BASE },
    Row { model: "gpt-5-2", context: 400_000, price: Some(paid(Source::OpenAiQuoted, [1.75, 14.0, 0.175, 1.75])), ..GPT_BASE },
    Row { model: "gpt-5-3", context: 400_000, ..GPT_BASE },
    Row { model: "gpt-5-4", context: 400_000, ..GPT_BASE },
    Row { model: "gpt-5-5", context: 400_000, ..GPT_BASE },
    Row { model: "gpt-5-6", context: 400_000, ..GPT_BASE },
    Row { model: "gpt-5", context: 400_000, price: Some(paid(Source::OpenAi, [1.25, 10.0, 0.125, 1.25])), facts: Source::OpenAi, ..GPT_BASE },
    Row { model: "gpt-6", context: 400_000, ..GPT_BASE },
    Row { model: "o4-mini", context: 200_000, price: Some(paid(Source::OpenAiQuoted, [1.1, 4.4, 0.275, 1.1])), as_of: "2025-04-17", ..GPT_BASE },
    Row { model: "o3-mini", context: 200_000, ..BLIND },
    Row { model: "o3", context: 200_000, ..GPT_BASE },
    Row { model: "gpt-oss", context: 131_072, ..BLIND },
    Row { model: "gpt-3-5", context: 16_385, ..BLIND },
    Row { model: "gpt", context: 128_000, ..GPT_BASE },

    // Google. The Pro models are priced by the length of the prompt.
    Row { model: "gemini", context: 1_048_576, coordinates: Coordinates::Permille, images: ImageLimits { max_edge: 1568, max_patches: 3136, max_images: 600, ..CAREFUL }, facts: Source::GoogleComputerUse, ..BASE },
    Row { model: "gemma3", providers: LOCAL_PROVIDERS, context: 32_768, images: LOCAL, coordinates: Coordinates::Thousandths, facts: Source::Conventions, ..BASE },
    Row { model: "gemma-3", context: 131_072, coordinates: Coordinates::Thousandths, facts: Source::Conventions, ..BASE },

    // Models made for screens.
    Row { model: "ui-tars-1-5", context: 131_072, ..BASE },
    Row { model: "doubao-1-5-ui-tars", context: 131_072, coordinates: Coordinates::Thousandths, ..BASE },
    Row { model: "ui-tars", context: 32_768, coordinates: Coordinates::Thousandths, ..BASE },

    // Qwen.
    Row { model: "qwen3-vl", context: 131_072, coordinates: Coordinates::Thousandths, facts: Source::Conventions, ..BASE },
    Row { model: "qwen2-5-vl", context: 125_000, facts: Source::Conventions, ..BASE },
    Row { model: "qwen2-5vl", context: 125_000, facts: Source::Conventions, ..BASE },
    Row { model: "qwen2-vl", context: 32_768, coordinates: Coordinates::Thousandths, ..BASE },
    Row { model: "qwen-vl", context: 131_072, ..BASE },
    Row { model: "qwen", context: 32_768, ..BLIND },
    Row { model: "qwq", context: 32_768, ..BLIND },

    // Zhipu, Moonshot, MiniMax, DeepSeek.
    Row { model: "glm-4v", context: 16_000, coordinates: Coordinates::Thousandths, facts: Source::Zhipu, ..BASE },
    Row { model: "glm-4-5v", context: 64_000, coordinates: Coordinates::Thousandths, facts: Source::Zhipu, ..BASE },
    Row { model: "glm-4-6v", context: 128_000, coordinates: Coordinates::Thousandths, facts: Source::Zhipu, ..BASE },
    Row { model: "glm", context: 128_000, ..BLIND },
    Row { model: "kimi-vl", context: 131_072, ..BASE },
    Row { model: "kimi-k2-5", context: 262_144, ..BASE },
    Row { model: "kimi", context: 131_072, ..BLIND },
    Row { model: "minimax", context: 200_000, ..BLIND },
    Row { model: "deepseek-vl", context: 4_096, ..BASE },
    Row { model: "deepseek", context: 131_072, ..BLIND },

    // Open models that see, wherever they run.
    Row { model: "llama3-2-vision", context: 131_072, ..BASE },
    Row { model: "llama-3-2-11b-vision", context: 131_072, ..BASE },
    Row { model: "llama-3-2-90b-vision", context: 131_072, ..BASE },
    Row { model: "llama-4", context: 131_072, ..BASE },
    Row { model: "llama4", context: 131_072, ..BASE },
    Row { model: "llava", context: 8_192, ..BASE },
    Row { model: "bakllava", context: 8_192, ..BASE },
    Row { model: "minicpm-v", context: 8_192, ..BASE },
    Row { model: "moondream", context: 2_048, ..BASE },
    Row { model: "mistral-small3", context: 131_072, ..BASE },
    Row { model: "pixtral", context: 131_072, ..BASE },
    Row { model: "internvl", context: 32_768, coordinates: Coordinates::Thousandths, ..BASE },

    // Unknown models, provider by provider.
    Row { providers: &["anthropic"], ..CLAUDE_BASE },
    Row { providers: &["openai"], context: 128_000, ..GPT_BASE },
    Row { providers: &["gemini"], context: 128_000, coordinates: Coordinates::Permille, ..BASE },
    Row { providers: &["recorded"], images: CLAUDE, context: 1_000_000, price: Some(paid(Source::Own, [0.0; 4])), facts: Source::Own, ..BASE },
    Row { providers: LOCAL_PROVIDERS, context: 8_192, ..BLIND },
    // A request with pictures to a model that has no eyes fails; one without them only sees less.
    BLIND,
];

const LOCAL_PROVIDERS: &[&str] = &["ollama", "lmstudio", "llamacpp", "vllm"];

/// Finds the row for `provider/model` and fills a profile from it.
pub(super) fn lookup(name: &str) -> Profile {
    let (provider, model) = name.split_once('/').unwrap_or(("", name));
    let provider = provider.to_ascii_lowercase().replace('_', "-");
    // What a gateway puts before the maker's own name (`anthropic/claude-…`, `Qwen/Qwen2.5-VL-…`)
    // or a cloud before that (`us.anthropic.claude-…`) says nothing about the model.
    let own = model.rsplit('/').next().unwrap_or(model);
    let own = own.to_ascii_lowercase();
    let own = own.split_once("anthropic.").map_or(&*own, |(_, rest)| rest);
    let own = own.replace('.', "-");

    let row = ROWS
        .iter()
        .find(|row| {
            (row.providers.is_empty() || row.providers.contains(&provider.as_str()))
                && own.starts_with(row.model)
        })
        .unwrap_or(&BLIND);

    let local = LOCAL_PROVIDERS.contains(&provider.as_str());
    // Prices are the maker's; other sellers set their own, and a person's machine costs no tokens.
    let price = match provider.as_str() {
        "anthropic" | "openai" | "openrouter" | "recorded" => row.price.map(|paid| paid.usd),
        _ if local => Some([0.0; 4]),
        _ => None,
    };
    let anthropic_wire =
        provider::find(&provider).is_some_and(|row| row.wire == provider::Wire::Anthropic);
    Profile {
        name: name.to_owned(),
        vision: row.vision,
        images: if local { LOCAL } else { row.images },
        coordinates: row.coordinates,
        hosted_computer: row
            .hosted
            .filter(|_| anthropic_wire)
            .map(|(tool, beta)| (tool.to_owned(), beta.to_owned())),
        // What a model could read is not what a local server has memory for.
        context_tokens: if local {
            row.context.min(32_768)
        } else {
            row.context
        },
        price: price.map(|[input, output, cache_read, cache_write]| Price {
            input,
            output,
            cache_read,
            cache_write,
        }),
        as_of: row.as_of.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What nobody compared with a page is treated with caution and costs nothing we would claim.
    #[test]
    fn unconfirmed_rows_are_cautious() {
        for row in ROWS {
            let confirmed = row.facts != Source::Unconfirmed;
            let cautious = row.images == CAREFUL || row.images == LOCAL;
            assert!(confirmed || cautious, "{}", row.model);
            assert!(
                row.price
                    .is_none_or(|paid| paid.from != Source::Unconfirmed),
                "{}",
                row.model
            );
        }
    }

    /// The longer name stands first, so that every row can be found.
    #[test]
    fn no_row_hides_another() {
        for (index, row) in ROWS.iter().enumerate() {
            let hidden = ROWS[..index].iter().find(|before| {
                before.providers.is_empty()
                    && !before.model.is_empty()
                    && row.providers.is_empty()
                    && row.model.starts_with(before.model)
            });
            assert_eq!(hidden.map(|before| before.model), None, "{}", row.model);
        }
    }
}
