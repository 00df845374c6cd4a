//! The list itself.

use super::{
    Status::{Direct, NotYet, Provider, Replaced, Setting},
    Variable,
};

const fn variable(name: &'static str, about: &'static str, status: super::Status) -> Variable {
    Variable {
        name,
        about,
        status,
    }
}

const CHANNELS: super::Status = NotYet("the chat gateway");
const COMMUNITY: super::Status = NotYet("the skill community");
const SERVERS: super::Status = NotYet("the MCP client");
const SKILLS: super::Status = NotYet("skills");
const BRIDGE: super::Status = Replaced("the WhatsApp bridge is no process of its own any more");
const EMBEDDINGS: super::Status = NotYet("search by embeddings");

/// Every variable, grouped by purpose.
pub const VARIABLES: &[Variable] = &[
    // This system's own.
    variable(
        "OPENSPACE_HOME",
        "the folder of everything: data, settings, cache",
        Direct,
    ),
    variable(
        "OPENSPACE_HOST_ID",
        "set in the entry of a host, so that it is known whose entry started `openspace mcp`",
        Direct,
    ),
    variable(
        "OPENSPACE_RUN_ID",
        "set for what a run starts, so that it cannot approve itself",
        Direct,
    ),
    variable(
        "OPENSPACE_SECRETS_PLAINTEXT",
        "with `1`, keys may be kept in a file in plain text",
        Direct,
    ),
    // The model.
    variable("OPENSPACE_MODEL", "the model", Setting("model.name")),
    variable(
        "OPENSPACE_LLM_API_KEY",
        "key for the model, before any other",
        Provider("model"),
    ),
    variable(
        "OPENSPACE_LLM_API_BASE",
        "address of the model's API",
        Setting("model.base_url"),
    ),
    variable(
        "OPENSPACE_LLM_EXTRA_HEADERS",
        "HTTP headers for the model's API, a JSON object",
        Setting("model.headers"),
    ),
    variable(
        "OPENSPACE_LLM_CONFIG",
        "further arguments of the model call, a JSON object",
        Replaced("use the settings under `model`"),
    ),
    variable("OPENROUTER_API_KEY", "key", Provider("openrouter")),
    variable("OR_API_KEY", "key", Provider("openrouter")),
    variable("AIHUBMIX_API_KEY", "key", Provider("aihubmix")),
    variable("SILICONFLOW_API_KEY", "key", Provider("siliconflow")),
    variable("VOLCENGINE_API_KEY", "key", Provider("volcengine")),
    variable("ARK_API_KEY", "key", Provider("volcengine")),
    variable("ANTHROPIC_API_KEY", "key", Provider("anthropic")),
    variable(
        "ANTHROPIC_API_KEY_BACKUP",
        "second key after a rate limit",
        Replaced("rate limits are waited for"),
    ),
    variable("OPENAI_API_KEY", "key", Provider("openai")),
    variable("OPENAI_BASE_URL", "address", Provider("openai")),
    variable("DEEPSEEK_API_KEY", "key", Provider("deepseek")),
    variable("GEMINI_API_KEY", "key", Provider("gemini")),
    variable("GOOGLE_API_KEY", "key", Provider("gemini")),
    variable("ZHIPU_API_KEY", "key", Provider("zhipu")),
    variable("DASHSCOPE_API_KEY", "key", Provider("dashscope")),
    variable("MOONSHOT_API_KEY", "key", Provider("moonshot")),
    variable("MINIMAX_API_KEY", "key", Provider("minimax")),
    variable("MINIMAX_API_BASE", "address", Provider("minimax")),
    variable("GROQ_API_KEY", "key", Provider("groq")),
    variable("OLLAMA_API_KEY", "key", Provider("ollama")),
    variable("OLLAMA_API_BASE", "address", Provider("ollama")),
    variable(
        "OPENROUTER_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "AIHUBMIX_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "SILICONFLOW_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "VOLCENGINE_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "ARK_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "ANTHROPIC_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "OPENAI_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "DEEPSEEK_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "GEMINI_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "GOOGLE_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "ZHIPU_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "DASHSCOPE_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "MOONSHOT_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    variable(
        "GROQ_API_BASE",
        "address, here or in openclaw's configuration",
        Direct,
    ),
    // Runs.
    variable(
        "OPENSPACE_WORKSPACE",
        "the folder a run works in",
        Setting("run.workspace"),
    ),
    variable(
        "OPENSPACE_MAX_ITERATIONS",
        "how many steps a run may take",
        Setting("run.max_steps"),
    ),
    variable(
        "OPENSPACE_BACKEND_SCOPE",
        "what a run may act with, separated by commas",
        Setting("run.backends"),
    ),
    variable(
        "OPENSPACE_ENABLE_RECORDING",
        "whether runs are recorded",
        Replaced("runs are always recorded; `storage.frames_days` says for how long"),
    ),
    variable(
        "OPENSPACE_CONFIG_PATH",
        "the configuration file",
        Replaced("set `OPENSPACE_HOME`; the settings are `settings.toml` in it"),
    ),
    variable(
        "OPENSPACE_CONFIG_JSON",
        "configuration as JSON",
        Replaced("use `openspace config set`"),
    ),
    variable(
        "OPENSPACE_SHELL_CONDA_ENV",
        "the conda environment of commands",
        Replaced("put `conda run -n NAME` before the command"),
    ),
    variable(
        "OPENSPACE_SHELL_WORKING_DIR",
        "the folder commands run in",
        Replaced("set `OPENSPACE_WORKSPACE`"),
    ),
    variable(
        "OPENSPACE_LOG_LEVEL",
        "how much is logged",
        Setting("log.level"),
    ),
    variable(
        "OPENSPACE_DEBUG",
        "how much is logged",
        Replaced("set `OPENSPACE_LOG_LEVEL`"),
    ),
    variable(
        "DEBUG",
        "how much is logged",
        Replaced("set `OPENSPACE_LOG_LEVEL`"),
    ),
    variable("NO_COLOR", "no colours in the terminal", Direct),
    variable("HTTP_PROXY", "proxy for `http` addresses", Direct),
    variable("HTTPS_PROXY", "proxy for `https` addresses", Direct),
    variable("ALL_PROXY", "proxy for all addresses", Direct),
    variable(
        "NO_PROXY",
        "what is reached without a proxy; loopback always is",
        Direct,
    ),
    variable("XDG_CACHE_HOME", "the folder for caches, on Linux", Direct),
    variable(
        "XDG_CONFIG_HOME",
        "the folder for settings, on Linux",
        Direct,
    ),
    variable("XDG_DATA_HOME", "the folder for data, on Linux", Direct),
    variable(
        "XDG_RUNTIME_DIR",
        "the folder of the login session, on Linux",
        Direct,
    ),
    variable(
        "LOCALAPPDATA",
        "the folder for data and caches, on Windows",
        Direct,
    ),
    variable("APPDATA", "the folder for settings, on Windows", Direct),
    variable(
        "E2B_API_KEY",
        "key of the remote sandbox",
        NotYet("the remote sandbox"),
    ),
    variable(
        "LOCAL_SERVER_URL",
        "address of the remote shell",
        NotYet("the remote runner"),
    ),
    // Skills, servers, the community.
    variable(
        "OPENSPACE_HOST_SKILL_DIRS",
        "skill folders of the host agent",
        SKILLS,
    ),
    variable("OPENSPACE_SKILLS_DIRS", "further skill folders", SKILLS),
    variable(
        "OPENSPACE_MCP_SERVERS_JSON",
        "MCP servers to connect to, as JSON",
        SERVERS,
    ),
    variable(
        "OPENSPACE_MCP_TRANSPORT",
        "how hosts reach `openspace mcp`: `stdio`, `sse` or `streamable-http`",
        Direct,
    ),
    variable(
        "OPENSPACE_MCP_HOST",
        "loopback address `openspace mcp` listens on",
        Direct,
    ),
    variable(
        "OPENSPACE_MCP_PORT",
        "port `openspace mcp` listens on",
        Direct,
    ),
    variable("OPENSPACE_API_KEY", "key of the skill community", COMMUNITY),
    variable(
        "OPENSPACE_API_BASE",
        "address of the skill community",
        COMMUNITY,
    ),
    variable(
        "EMBEDDING_BASE_URL",
        "address of the embedding model",
        EMBEDDINGS,
    ),
    variable(
        "EMBEDDING_API_KEY",
        "key of the embedding model",
        EMBEDDINGS,
    ),
    variable("EMBEDDING_MODEL", "the embedding model", EMBEDDINGS),
    variable(
        "NANOBOT_CONFIG_PATH",
        "nanobot's configuration, which may lend a key",
        Direct,
    ),
    variable("NANOBOT_STATE_DIR", "nanobot's folder", Direct),
    variable("NANOBOT_WORKSPACE", "nanobot's workspace", SKILLS),
    variable(
        "OPENCLAW_CONFIG_PATH",
        "openclaw's configuration, which may lend a key",
        Direct,
    ),
    variable("OPENCLAW_STATE_DIR", "openclaw's folder", Direct),
    // Chat channels.
    variable("WHATSAPP_ENABLED", "switches the channel on", CHANNELS),
    variable("WHATSAPP_ALLOW_ALL_USERS", "answers everybody", CHANNELS),
    variable("WHATSAPP_ALLOWED_USERS", "who is answered", CHANNELS),
    variable("WHATSAPP_ALLOW_DM", "answers direct messages", CHANNELS),
    variable("WHATSAPP_ALLOW_GROUPS", "answers in groups", CHANNELS),
    variable(
        "WHATSAPP_GROUP_POLICY",
        "when it answers in groups",
        CHANNELS,
    ),
    variable("WHATSAPP_BRIDGE_HOST", "address of the bridge", CHANNELS),
    variable("WHATSAPP_BRIDGE_PORT", "port of the bridge", CHANNELS),
    variable("WHATSAPP_BRIDGE_SCRIPT", "the bridge program", CHANNELS),
    variable("WHATSAPP_SESSION_DIR", "folder of the login", CHANNELS),
    variable("WHATSAPP_MODE", "own account or a separate one", CHANNELS),
    variable(
        "WHATSAPP_BRIDGE_TOKEN",
        "shared secret with the bridge",
        CHANNELS,
    ),
    variable(
        "WHATSAPP_BRIDGE_ENFORCE_LOOPBACK",
        "keeps the bridge on this machine",
        CHANNELS,
    ),
    variable("WHATSAPP_REPLY_PREFIX", "text before each answer", CHANNELS),
    variable("BRIDGE_TOKEN", "shared secret, inside the bridge", BRIDGE),
    variable(
        "BRIDGE_MEDIA_ROOT",
        "folder of received files, inside the bridge",
        BRIDGE,
    ),
    variable("FEISHU_ENABLED", "switches the channel on", CHANNELS),
    variable("FEISHU_ALLOW_ALL_USERS", "answers everybody", CHANNELS),
    variable("FEISHU_ALLOWED_USERS", "who is answered", CHANNELS),
    variable("FEISHU_ALLOW_DM", "answers direct messages", CHANNELS),
    variable("FEISHU_ALLOW_GROUPS", "answers in groups", CHANNELS),
    variable("FEISHU_GROUP_POLICY", "when it answers in groups", CHANNELS),
    variable("FEISHU_APP_ID", "id of the app", CHANNELS),
    variable("FEISHU_APP_SECRET", "secret of the app", CHANNELS),
    variable(
        "FEISHU_VERIFICATION_TOKEN",
        "token of the webhook",
        CHANNELS,
    ),
    variable("FEISHU_ENCRYPT_KEY", "key of the webhook", CHANNELS),
    variable("FEISHU_BOT_OPEN_ID", "id of the bot", CHANNELS),
    variable("FEISHU_DOMAIN", "Feishu or Lark", CHANNELS),
    variable(
        "FEISHU_CONNECTION_MODE",
        "webhook or long connection",
        CHANNELS,
    ),
    variable("FEISHU_WEBHOOK_PATH", "path of the webhook", CHANNELS),
    variable(
        "OPENSPACE_COMMUNICATION_CONFIG",
        "configuration of the gateway",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_DATA_DIR",
        "folder of the gateway",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_HOST",
        "address to listen on",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_PORT",
        "port to listen on",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_MAX_ITERATIONS",
        "steps of a run from a chat",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_ENABLE_RECORDING",
        "records runs from chats",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_RECORDING_BACKENDS",
        "what is recorded",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_BACKEND_SCOPE",
        "what runs from chats act with",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_GROUNDING_CONFIG_PATH",
        "configuration of runs",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_WORKSPACE_ROOT",
        "folder of the workspaces",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_LLM_TIMEOUT",
        "seconds for a model call",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_HISTORY_TURNS",
        "turns that are remembered",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_MAX_PARALLEL",
        "chats answered at a time",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_IDLE_TTL",
        "seconds until a session ends",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_QUEUE_SIZE",
        "messages that may wait",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_MAX_ATTACHMENT_BYTES",
        "size of one file",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_MAX_SESSION_ATTACHMENT_BYTES",
        "size of all files",
        CHANNELS,
    ),
    variable(
        "OPENSPACE_COMMUNICATION_WHATSAPP_POLL_INTERVAL",
        "seconds between looks",
        CHANNELS,
    ),
    // What only development and measuring used.
    variable(
        "MCP_USE_ANONYMIZED_TELEMETRY",
        "switches telemetry off",
        Replaced("there is no telemetry"),
    ),
    variable(
        "EVALUATION_API_KEY",
        "key of the benchmark's judge",
        Replaced("there is no such judge"),
    ),
];
