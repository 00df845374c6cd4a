//! The providers by name: wire format, address, and the variables that hold key and address.

mod address;

pub use address::Endpoints;

use crate::{Error, Result};

/// How a provider wants to be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions API and everything that imitates it.
    ChatCompletions,
    /// No wire: a plan is played back (see [`crate::recorded`]).
    Recorded,
}

/// What the list of models of a provider proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListProves {
    /// Only who has a valid key gets the list.
    Key,
    /// Everybody gets the list, so a key needs another proof.
    NoKey,
}

/// A provider as it is known without any setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Provider {
    /// First part of a model's name.
    pub name: &'static str,
    /// How it is spoken to.
    pub wire: Wire,
    /// Address of its API with the version, where it has one of its own.
    pub base: Option<&'static str>,
    /// Environment variables that may hold the key, first set one wins.
    pub key_variables: &'static [&'static str],
    /// Environment variables that may hold another address, first set one wins.
    pub base_variables: &'static [&'static str],
    /// It runs on the person's machine and needs no key.
    pub local: bool,
    pub(crate) list: ListProves,
}

impl Provider {
    /// It cannot be used without a key at its own address.
    pub fn needs_key(&self) -> bool {
        self.base.is_some() && !self.local
    }
}

const HOSTED: Provider = Provider {
    name: "",
    wire: Wire::ChatCompletions,
    base: None,
    key_variables: &[],
    base_variables: &[],
    local: false,
    list: ListProves::Key,
};
const LOCAL: Provider = Provider {
    local: true,
    list: ListProves::NoKey,
    ..HOSTED
};

/// Every provider. The order of the first thirteen is that of the old system, which matters where
/// the keys found on a machine decide.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        name: "openrouter",
        base: Some("https://openrouter.ai/api/v1"),
        key_variables: &["OPENROUTER_API_KEY", "OR_API_KEY"],
        base_variables: &["OPENROUTER_API_BASE"],
        list: ListProves::NoKey,
        ..HOSTED
    },
    Provider {
        name: "aihubmix",
        base: Some("https://aihubmix.com/v1"),
        key_variables: &["AIHUBMIX_API_KEY"],
        base_variables: &["AIHUBMIX_API_BASE"],
        list: ListProves::NoKey,
        ..HOSTED
    },
    Provider {
        name: "siliconflow",
        base: Some("https://api.siliconflow.cn/v1"),
        key_variables: &["SILICONFLOW_API_KEY"],
        base_variables: &["SILICONFLOW_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "volcengine",
        base: Some("https://ark.cn-beijing.volces.com/api/v3"),
        key_variables: &["VOLCENGINE_API_KEY", "ARK_API_KEY"],
        base_variables: &["VOLCENGINE_API_BASE", "ARK_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "anthropic",
        wire: Wire::Anthropic,
        base: Some("https://api.anthropic.com/v1"),
        key_variables: &["ANTHROPIC_API_KEY"],
        base_variables: &["ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"],
        ..HOSTED
    },
    Provider {
        name: "openai",
        base: Some("https://api.openai.com/v1"),
        key_variables: &["OPENAI_API_KEY"],
        base_variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "deepseek",
        base: Some("https://api.deepseek.com/v1"),
        key_variables: &["DEEPSEEK_API_KEY"],
        base_variables: &["DEEPSEEK_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "gemini",
        base: Some("https://generativelanguage.googleapis.com/v1beta/openai"),
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base_variables: &["GEMINI_API_BASE", "GOOGLE_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "zhipu",
        base: Some("https://open.bigmodel.cn/api/paas/v4"),
        key_variables: &["ZHIPU_API_KEY"],
        base_variables: &["ZHIPU_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "dashscope",
        base: Some("https://dashscope.aliyuncs.com/compatible-mode/v1"),
        key_variables: &["DASHSCOPE_API_KEY"],
        base_variables: &["DASHSCOPE_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "moonshot",
        base: Some("https://api.moonshot.ai/v1"),
        key_variables: &["MOONSHOT_API_KEY"],
        base_variables: &["MOONSHOT_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "minimax",
        base: Some("https://api.minimaxi.com/v1"),
        key_variables: &["MINIMAX_API_KEY"],
        base_variables: &["MINIMAX_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "groq",
        base: Some("https://api.groq.com/openai/v1"),
        key_variables: &["GROQ_API_KEY"],
        base_variables: &["GROQ_API_BASE"],
        ..HOSTED
    },
    Provider {
        name: "ollama",
        base: Some("http://127.0.0.1:11434/v1"),
        key_variables: &["OLLAMA_API_KEY"],
        base_variables: &["OLLAMA_API_BASE", "OLLAMA_HOST"],
        ..LOCAL
    },
    Provider {
        name: "lmstudio",
        base: Some("http://127.0.0.1:1234/v1"),
        key_variables: &["LM_STUDIO_API_KEY"],
        base_variables: &["LM_STUDIO_API_BASE"],
        ..LOCAL
    },
    Provider {
        name: "llamacpp",
        base: Some("http://127.0.0.1:8080/v1"),
        key_variables: &["LLAMA_API_KEY"],
        base_variables: &["LLAMACPP_API_BASE"],
        ..LOCAL
    },
    Provider {
        name: "vllm",
        base: Some("http://127.0.0.1:8000/v1"),
        key_variables: &["VLLM_API_KEY"],
        base_variables: &["VLLM_API_BASE"],
        ..LOCAL
    },
    Provider {
        name: "openai-compatible",
        list: ListProves::NoKey,
        ..HOSTED
    },
    Provider {
        name: "recorded",
        wire: Wire::Recorded,
        local: true,
        ..HOSTED
    },
];

/// The provider of that name; case, `-` and `_` make no difference.
pub fn find(name: &str) -> Option<&'static Provider> {
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// A model as a person names it: `provider/model`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    /// Who serves it.
    pub provider: &'static Provider,
    /// What that provider calls it; may contain more slashes.
    pub model: String,
}

impl ModelName {
    /// Reads `provider/model`.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] that lists the providers when there is none or an unknown one.
    pub fn parse(name: &str) -> Result<Self> {
        let name = name.trim();
        let refuse = |what: String| {
            let names: Vec<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
            Err(Error::InvalidRequest {
                message: format!(
                    "{what}; name a model as `provider/model`, the provider being one of {}",
                    names.join(", ")
                ),
            })
        };
        let Some((provider, model)) = name.split_once('/') else {
            return refuse(format!("the model `{name}` names no provider"));
        };
        let Some(provider) = find(provider) else {
            return refuse(format!("there is no provider `{provider}`"));
        };
        let model = model.trim();
        if model.is_empty() || model.chars().any(char::is_control) {
            return refuse(format!("`{}` needs the name of a model", provider.name));
        }
        Ok(Self {
            provider,
            model: model.to_owned(),
        })
    }
}

impl std::fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.provider.name, self.model)
    }
}
