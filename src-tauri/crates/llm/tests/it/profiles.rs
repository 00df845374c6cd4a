//! The table of models and the arithmetic of pictures.

use openspace_llm::{Coordinates, HostedOverride, ImageLimits, Overrides, Price, Profile, Usage};

/// Every row of the table of `models.md`: what is sent for a screen, and what it costs.
#[test]
fn d02_sent_size_and_tokens_of_common_screens() {
    let standard = Profile::lookup("anthropic/claude-sonnet-4-6").images;
    let sharp = Profile::lookup("anthropic/claude-opus-4-7").images;
    let rows = [
        ((1024, 768), (1024, 768), 1036, (1024, 768), 1036),
        ((1280, 800), (1280, 800), 1334, (1280, 800), 1334),
        ((1366, 768), (1366, 768), 1372, (1366, 768), 1372),
        ((1440, 900), (1389, 868), 1550, (1440, 900), 1716),
        ((1920, 1080), (1456, 819), 1560, (1920, 1080), 2691),
        ((2560, 1440), (1456, 819), 1560, (2560, 1440), 4784),
        ((2880, 1800), (1389, 868), 1550, (2420, 1512), 4698),
        ((3840, 2160), (1456, 819), 1560, (2576, 1449), 4784),
        ((5120, 1440), (1568, 441), 896, (2576, 724), 2392),
    ];
    for ((width, height), small, small_tokens, large, large_tokens) in rows {
        assert_eq!(standard.fit(width, height), small, "{width}x{height}");
        assert_eq!(ImageLimits::tokens(small.0, small.1), small_tokens);
        assert_eq!(sharp.fit(width, height), large, "{width}x{height}");
        assert_eq!(ImageLimits::tokens(large.0, large.1), large_tokens);
    }
}

/// Portrait is landscape turned, fitting twice changes nothing, and no size breaks it.
#[test]
fn d02_fit_is_symmetric_stable_and_total() {
    for name in [
        "anthropic/claude-sonnet-4-6",
        "anthropic/claude-opus-4-7",
        "openai/gpt-4o",
    ] {
        let limits = Profile::lookup(name).images;
        for (width, height) in [
            (1920, 1080),
            (2880, 1800),
            (3440, 1440),
            (20_000, 1),
            (0, 0),
            (7680, 4320),
        ] {
            let (w, h) = limits.fit(width, height);
            assert_eq!(limits.fit(height, width), (h, w));
            assert_eq!(limits.fit(w, h), (w, h));
            assert!(limits.sees_unshrunk(w, h) && w > 0 && h > 0);
        }
    }
}

/// GPT-4o shrinks what is more than 768 px high; what we send it is not.
#[test]
fn gpt_gets_screens_it_does_not_shrink() {
    let limits = Profile::lookup("openai/gpt-4o").images;
    for screen in [
        (1920, 1080),
        (2880, 1800),
        (1024, 768),
        (3440, 1440),
        (1080, 1920),
    ] {
        let (width, height) = limits.fit(screen.0, screen.1);
        assert!(
            width.min(height) <= 768 && width.max(height) <= 2048,
            "{width}x{height}"
        );
    }
}

/// Rows are found whatever stands before or after the model's own name.
#[test]
fn names_lead_to_the_right_row() {
    let tool = |name: &str| Profile::lookup(name).hosted_computer.map(|(tool, _)| tool);
    assert_eq!(
        tool("anthropic/claude-sonnet-4-6").as_deref(),
        Some("computer_20251124")
    );
    assert_eq!(
        tool("anthropic/claude-opus-4-5-20251101").as_deref(),
        Some("computer_20251124")
    );
    assert_eq!(
        tool("anthropic/claude-opus-4-1-20250805").as_deref(),
        Some("computer_20250124")
    );
    assert_eq!(
        tool("anthropic/claude-haiku-4-5").as_deref(),
        Some("computer_20250124")
    );
    assert_eq!(
        tool("anthropic/claude-3-5-sonnet-20241022").as_deref(),
        Some("computer_20241022")
    );
    assert_eq!(tool("anthropic/claude-3-5-sonnet-20240620"), None);
    for newest in ["opus-5-5", "sonnet-5-5-20260928", "haiku-5-5"] {
        assert_eq!(
            tool(&format!("anthropic/claude-{newest}")).as_deref(),
            Some("computer_toolset_20260801")
        );
    }
    assert_eq!(
        tool("anthropic/claude-sonnet-5").as_deref(),
        Some("computer_20251124")
    );
    // Through a gateway the model is the same, the tool is not there.
    let gateway = Profile::lookup("openrouter/anthropic/claude-sonnet-4.5");
    assert_eq!(gateway.hosted_computer, None);
    assert_eq!(
        gateway.price,
        Profile::lookup("anthropic/claude-sonnet-4-5").price
    );
    assert!(gateway.vision);

    let coordinates = |name: &str| Profile::lookup(name).coordinates;
    assert_eq!(coordinates("gemini/gemini-2.5-pro"), Coordinates::Permille);
    assert_eq!(
        coordinates("openrouter/qwen/qwen2.5-vl-72b-instruct"),
        Coordinates::Pixels
    );
    assert_eq!(coordinates("ollama/qwen3-vl:8b"), Coordinates::Thousandths);
    assert_eq!(
        coordinates("vllm/ByteDance-Seed/UI-TARS-1.5-7B"),
        Coordinates::Pixels
    );
    assert_eq!(
        coordinates("vllm/ui-tars-72b-dpo"),
        Coordinates::Thousandths
    );

    for blind in [
        "deepseek/deepseek-chat",
        "ollama/llama3.1:8b",
        "openai-compatible/x",
        "nonsense",
        "",
    ] {
        assert!(!Profile::lookup(blind).vision, "{blind}");
    }
    assert!(Profile::lookup("ollama/llava:13b").vision);
    assert_eq!(Profile::lookup("openai-compatible/x").price, None);
    assert_eq!(Profile::lookup("aihubmix/gpt-4o").price, None);
}

/// A person's values replace ours one by one.
#[test]
fn every_value_can_be_overridden() {
    let overrides: Overrides = serde_json::from_value(serde_json::json!({
        "vision": true, "max_edge": 1000, "max_patches": 900, "max_edge_many": 800, "many": 5,
        "max_images": 7, "max_request_bytes": 11_000_000, "max_image_bytes": 1_000_000,
        "coordinates": "permille", "context_tokens": 9000,
        "hosted_computer": {"tool": "computer_20251124", "beta": "b"},
        "price": {"input": 1.0, "output": 2.0, "cache_read": 0.1, "cache_write": 1.5}
    }))
    .unwrap();
    let profile = Profile::lookup("vllm/own").with(&overrides);
    assert_eq!(
        profile,
        Profile {
            name: "vllm/own".into(),
            vision: true,
            images: ImageLimits {
                max_edge: 1000,
                max_patches: 900,
                max_edge_many: 800,
                many: 5,
                max_images: 7,
                max_request_bytes: 11_000_000,
                max_image_bytes: 1_000_000,
            },
            coordinates: Coordinates::Permille,
            hosted_computer: Some(("computer_20251124".into(), "b".into())),
            context_tokens: 9000,
            price: Some(Price {
                input: 1.0,
                output: 2.0,
                cache_read: 0.1,
                cache_write: 1.5
            }),
            as_of: profile.as_of.clone(),
        }
    );
    let none = Overrides {
        hosted_computer: Some(HostedOverride::default()),
        ..Overrides::default()
    };
    assert_eq!(
        Profile::lookup("anthropic/claude-sonnet-4-6")
            .with(&none)
            .hosted_computer,
        None
    );
    assert!(serde_json::from_str::<Overrides>(r#"{"visoin": true}"#).is_err());
}

/// Money is tokens times price, cached ones at their own.
#[test]
fn price_counts_each_kind_of_token() {
    let price = Profile::lookup("anthropic/claude-sonnet-4-6")
        .price
        .unwrap();
    let usage = Usage {
        input: 1_000_000,
        output: 100_000,
        cache_read: 2_000_000,
        cache_write: 400_000,
        images: 3,
    };
    assert!((price.of(&usage) - (3.0 + 1.5 + 0.6 + 1.5)).abs() < 1e-9);
}

/// A price that depends on the length of the prompt, or that nobody confirmed, is not known.
#[test]
fn an_unconfirmed_price_is_none() {
    for unknown in [
        "anthropic/claude-haiku-5-5",
        "openai/gpt-5.4",
        "openai/gpt-5.1",
        "openai/gpt-5-nano",
        "openai/o3",
        "gemini/gemini-2.5-pro",
    ] {
        assert_eq!(Profile::lookup(unknown).price, None, "{unknown}");
    }
    let price = |name: &str| Profile::lookup(name).price.map(|it| (it.input, it.output));
    assert_eq!(price("anthropic/claude-opus-5-5"), Some((4.0, 20.0)));
    assert_eq!(price("openai/gpt-5"), Some((1.25, 10.0)));
    assert_eq!(price("ollama/gpt-oss:20b"), Some((0.0, 0.0)));
}
