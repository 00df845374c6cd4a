//! The hosts. Paths, formats and entries are from the hosts' own documentation and sources; those
//! marked so were tried with the real program. A program whose name others have as well, such as
//! `goose` or `q`, gives no host away; its folder does. Clients' names are from the hosts' sources, or
//! seen; where two hosts share one, or nothing is known, there is none.

use crate::{
    Dialect,
    host::{Command, Fixed, Host, Lock, Passes, Shape, Signs},
    machine::{Place, Platform},
};

/// What most hosts take.
const PLAIN: Shape = Shape {
    first: &[],
    command: Command::Apart("command"),
    env: "env",
    last: &[],
};

/// A host about which nothing is unusual.
pub(crate) const USUAL: Host = Host {
    id: "",
    name: "",
    custom: false,
    clients: &[],
    signs: Signs {
        programs: &[],
        folders: &[],
    },
    moved: &[],
    files: &[],
    project: None,
    dialect: Dialect::Json,
    key: &["mcpServers"],
    other_key: None,
    shape: PLAIN,
    timeout: None,
    trust: None,
    lock: Lock::None,
    check: None,
    passes: Passes::Little(&[]),
    most_tools: None,
    skills: &[],
};

/// What clients of several hosts call themselves: what libraries call whoever names none, and programs
/// that come as two hosts.
pub(crate) const SHARED_NAMES: [&str; 7] = [
    "mcp",
    "mcp-client",
    "rmcp",
    "client",
    "example-client",
    "cline",
    "unknown",
];

const STDIO: &[(&str, Fixed)] = &[("type", Fixed::Text("stdio"))];

const VS_CODE: Host = Host {
    dialect: Dialect::Jsonc,
    key: &["servers"],
    shape: Shape {
        first: STDIO,
        ..PLAIN
    },
    passes: Passes::Everything,
    most_tools: Some(128),
    ..USUAL
};

/// Gemini and what came out of it.
const GEMINI: Host = Host {
    dialect: Dialect::CommentedJson,
    timeout: Some(("timeout", 600_000)),
    trust: Some(("trust", Fixed::Flag(true))),
    // Tried: passes what has no secret in its name.
    passes: Passes::Without(&["TOKEN", "SECRET", "PASSWORD", "KEY", "AUTH", "CREDENTIAL"]),
    ..USUAL
};

/// Every host there is an entry for.
pub const HOSTS: &[Host] = &[
    // Tried: 2.1.197. Calls over standard input have no time limit of their own.
    Host {
        id: "claude-code",
        name: "Claude Code",
        clients: &["claude-code"],
        signs: Signs {
            programs: &["claude"],
            folders: &[Place::home(".claude")],
        },
        moved: &[Place::variable("CLAUDE_CONFIG_DIR", ".claude.json")],
        files: &[Place::home(".claude.json")],
        project: Some(".mcp.json"),
        shape: Shape {
            first: STDIO,
            ..PLAIN
        },
        lock: Lock::Folder,
        passes: Passes::Everything,
        skills: &[
            Place::variable("CLAUDE_CONFIG_DIR", "skills"),
            Place::home(".claude/skills"),
        ],
        ..USUAL
    },
    Host {
        id: "claude-desktop",
        name: "Claude Desktop",
        signs: Signs {
            programs: &[],
            folders: &[Place::support("Claude")],
        },
        files: &[Place::support("Claude/claude_desktop_config.json")],
        ..USUAL
    },
    // Tried: 0.171. Refuses tools that may change something unless the entry approves them.
    Host {
        id: "codex",
        name: "Codex",
        clients: &["codex-mcp-client"],
        signs: Signs {
            programs: &["codex"],
            folders: &[Place::home(".codex")],
        },
        moved: &[Place::variable("CODEX_HOME", "config.toml")],
        files: &[Place::home(".codex/config.toml")],
        project: Some(".codex/config.toml"),
        dialect: Dialect::Toml,
        key: &["mcp_servers"],
        timeout: Some(("tool_timeout_sec", 600)),
        trust: Some(("default_tools_approval_mode", Fixed::Text("approve"))),
        passes: Passes::Little(&["LANG", "LC_ALL", "TMPDIR", "TZ", "SSL_CERT_FILE"]),
        skills: &[
            Place::variable("CODEX_HOME", "skills"),
            Place::home(".codex/skills"),
        ],
        ..USUAL
    },
    Host {
        id: "cursor",
        name: "Cursor",
        clients: &["cursor-vscode"],
        signs: Signs {
            programs: &["cursor"],
            folders: &[Place::home(".cursor")],
        },
        files: &[Place::home(".cursor/mcp.json")],
        project: Some(".cursor/mcp.json"),
        passes: Passes::Everything,
        most_tools: Some(80),
        ..USUAL
    },
    Host {
        id: "vscode",
        name: "VS Code",
        clients: &["Visual Studio Code"],
        signs: Signs {
            programs: &["code"],
            folders: &[Place::support("Code/User")],
        },
        files: &[Place::support("Code/User/mcp.json")],
        project: Some(".vscode/mcp.json"),
        ..VS_CODE
    },
    Host {
        id: "vscode-insiders",
        name: "VS Code Insiders",
        clients: &["Visual Studio Code - Insiders"],
        signs: Signs {
            programs: &["code-insiders"],
            folders: &[Place::support("Code - Insiders/User")],
        },
        files: &[Place::support("Code - Insiders/User/mcp.json")],
        ..VS_CODE
    },
    Host {
        id: "copilot",
        name: "Copilot CLI",
        signs: Signs {
            programs: &[],
            folders: &[Place::home(".copilot")],
        },
        moved: &[Place::variable("COPILOT_HOME", "mcp-config.json")],
        files: &[
            Place::home(".copilot/mcp-config.json"),
            Place::variable("XDG_CONFIG_HOME", ".copilot/mcp-config.json"),
            Place::variable("XDG_CONFIG_HOME", "copilot/mcp-config.json"),
        ],
        shape: Shape {
            first: &[("type", Fixed::Text("local"))],
            last: &[("tools", Fixed::Texts(&["*"]))],
            ..PLAIN
        },
        ..USUAL
    },
    Host {
        id: "windsurf",
        name: "Windsurf",
        clients: &["windsurf-client"],
        signs: Signs {
            programs: &["windsurf"],
            folders: &[Place::home(".codeium/windsurf")],
        },
        files: &[
            Place::home(".codeium/windsurf/mcp_config.json"),
            Place::home(".codeium/mcp_config.json"),
        ],
        most_tools: Some(50),
        ..USUAL
    },
    Host {
        id: "zed",
        name: "Zed",
        clients: &["Zed"],
        signs: Signs {
            programs: &["zeditor"],
            folders: &[Place::home(".config/zed"), Place::config("Zed")],
        },
        files: &[
            Place::home(".config/zed/settings.json").only(Platform::MacOs),
            Place::config("zed/settings.json").only(Platform::Linux),
            Place::config("Zed/settings.json").only(Platform::Windows),
        ],
        dialect: Dialect::Jsonc,
        key: &["context_servers"],
        shape: Shape {
            first: &[("source", Fixed::Text("custom"))],
            ..PLAIN
        },
        passes: Passes::Everything,
        ..USUAL
    },
    // Tried: 0.61. In a folder it does not trust, it shows every server as disabled.
    Host {
        id: "gemini",
        name: "Gemini CLI",
        clients: &["gemini-cli-mcp-client"],
        signs: Signs {
            programs: &["gemini"],
            folders: &[Place::home(".gemini/settings.json")],
        },
        files: &[Place::home(".gemini/settings.json")],
        project: Some(".gemini/settings.json"),
        ..GEMINI
    },
    Host {
        id: "antigravity",
        name: "Antigravity",
        signs: Signs {
            programs: &["antigravity"],
            folders: &[Place::home(".gemini/antigravity")],
        },
        files: &[Place::home(".gemini/antigravity/mcp_config.json")],
        most_tools: Some(50),
        ..USUAL
    },
    // Tried: 1.18. Adds a `$schema` of its own to a file that has none.
    Host {
        id: "opencode",
        name: "opencode",
        clients: &["opencode"],
        signs: Signs {
            programs: &["opencode"],
            folders: &[
                Place::config("opencode").not(Platform::Windows),
                Place::home(".config/opencode"),
            ],
        },
        files: &[
            Place::config("opencode/opencode.json").not(Platform::Windows),
            Place::config("opencode/opencode.jsonc").not(Platform::Windows),
            Place::home(".config/opencode/opencode.json").only(Platform::Windows),
            Place::home(".config/opencode/opencode.jsonc").only(Platform::Windows),
        ],
        project: Some("opencode.json"),
        dialect: Dialect::Jsonc,
        key: &["mcp"],
        other_key: Some(&["mcp", "servers"]),
        shape: Shape {
            first: &[("type", Fixed::Text("local"))],
            command: Command::Together("command"),
            env: "environment",
            last: &[],
        },
        passes: Passes::Everything,
        skills: &[
            Place::config("opencode/skills").not(Platform::Windows),
            Place::home(".config/opencode/skills"),
        ],
        ..USUAL
    },
    Host {
        id: "cline",
        name: "Cline (VS Code)",
        signs: Signs {
            programs: &[],
            folders: &[Place::support(
                "Code/User/globalStorage/saoudrizwan.claude-dev",
            )],
        },
        files: &[Place::support(
            "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        )],
        shape: Shape {
            last: &[("disabled", Fixed::Flag(false))],
            ..PLAIN
        },
        timeout: Some(("timeout", 600)),
        ..USUAL
    },
    Host {
        id: "cline-cli",
        name: "Cline CLI",
        signs: Signs {
            programs: &["cline"],
            folders: &[Place::home(".cline")],
        },
        moved: &[Place::variable(
            "CLINE_DIR",
            "data/settings/cline_mcp_settings.json",
        )],
        files: &[Place::home(".cline/data/settings/cline_mcp_settings.json")],
        shape: Shape {
            last: &[("disabled", Fixed::Flag(false))],
            ..PLAIN
        },
        timeout: Some(("timeout", 600)),
        ..USUAL
    },
    Host {
        id: "goose",
        name: "Goose",
        clients: &["goose"],
        signs: Signs {
            programs: &[],
            folders: &[
                Place::config("goose").not(Platform::Windows),
                Place::config("Block/goose").only(Platform::Windows),
            ],
        },
        files: &[
            Place::config("goose/config.yaml").not(Platform::Windows),
            Place::config("Block/goose/config/config.yaml").only(Platform::Windows),
        ],
        dialect: Dialect::Yaml,
        key: &["extensions"],
        shape: Shape {
            first: &[
                ("name", Fixed::Text("openspace")),
                ("type", Fixed::Text("stdio")),
                ("enabled", Fixed::Flag(true)),
            ],
            command: Command::Apart("cmd"),
            env: "envs",
            last: &[],
        },
        timeout: Some(("timeout", 600)),
        passes: Passes::Everything,
        ..USUAL
    },
    // Tried: 0.3.5. Gives up on a call after 30 s unless told otherwise.
    Host {
        id: "nanobot",
        name: "nanobot",
        signs: Signs {
            programs: &["nanobot"],
            folders: &[Place::home(".nanobot")],
        },
        files: &[Place::home(".nanobot/config.json")],
        key: &["tools", "mcpServers"],
        timeout: Some(("toolTimeout", 1200)),
        skills: &[Place::home(".nanobot/workspace/skills")],
        ..USUAL
    },
    // Tried: 2026.9.6. An unknown key at the root keeps its gateway from starting. Its folder, its
    // file or both may still have an earlier name.
    Host {
        id: "openclaw",
        name: "openclaw",
        signs: Signs {
            programs: &["openclaw"],
            folders: &[
                Place::home(".openclaw"),
                Place::home(".clawdbot"),
                Place::home(".moldbot"),
                Place::home(".moltbot"),
            ],
        },
        moved: &[
            Place::variable("OPENCLAW_CONFIG_PATH", ""),
            Place::variable("OPENCLAW_STATE_DIR", "openclaw.json"),
            Place::variable("OPENCLAW_STATE_DIR", "clawdbot.json"),
            Place::variable("OPENCLAW_STATE_DIR", "moldbot.json"),
            Place::variable("OPENCLAW_STATE_DIR", "moltbot.json"),
        ],
        files: &[
            Place::home(".openclaw/openclaw.json"),
            Place::home(".openclaw/clawdbot.json"),
            Place::home(".openclaw/moldbot.json"),
            Place::home(".openclaw/moltbot.json"),
            Place::home(".clawdbot/openclaw.json"),
            Place::home(".clawdbot/clawdbot.json"),
            Place::home(".clawdbot/moldbot.json"),
            Place::home(".clawdbot/moltbot.json"),
            Place::home(".moldbot/openclaw.json"),
            Place::home(".moldbot/clawdbot.json"),
            Place::home(".moldbot/moldbot.json"),
            Place::home(".moldbot/moltbot.json"),
            Place::home(".moltbot/openclaw.json"),
            Place::home(".moltbot/clawdbot.json"),
            Place::home(".moltbot/moldbot.json"),
            Place::home(".moltbot/moltbot.json"),
        ],
        dialect: Dialect::Json5,
        key: &["mcp", "servers"],
        check: Some(&["openclaw", "config", "validate"]),
        skills: &[
            Place::variable("OPENCLAW_STATE_DIR", "skills"),
            Place::home(".openclaw/skills"),
        ],
        ..USUAL
    },
    Host {
        id: "mcporter",
        name: "mcporter",
        signs: Signs {
            programs: &["mcporter"],
            folders: &[Place::home(".mcporter")],
        },
        files: &[
            Place::home(".mcporter/mcporter.json"),
            Place::home(".mcporter/mcporter.jsonc"),
        ],
        dialect: Dialect::Jsonc,
        passes: Passes::Everything,
        ..USUAL
    },
    Host {
        id: "kiro",
        name: "Kiro",
        signs: Signs {
            programs: &["kiro", "kiro-cli"],
            folders: &[Place::home(".kiro")],
        },
        files: &[Place::home(".kiro/settings/mcp.json")],
        project: Some(".kiro/settings/mcp.json"),
        ..USUAL
    },
    Host {
        id: "amazon-q",
        name: "Amazon Q",
        signs: Signs {
            programs: &[],
            folders: &[Place::home(".aws/amazonq")],
        },
        files: &[Place::home(".aws/amazonq/mcp.json")],
        ..USUAL
    },
    Host {
        id: "qwen",
        name: "Qwen Code",
        signs: Signs {
            programs: &["qwen"],
            folders: &[Place::home(".qwen")],
        },
        files: &[Place::home(".qwen/settings.json")],
        project: Some(".qwen/settings.json"),
        ..GEMINI
    },
    Host {
        id: "lmstudio",
        name: "LM Studio",
        signs: Signs {
            programs: &[],
            folders: &[Place::home(".lmstudio"), Place::home(".cache/lm-studio")],
        },
        files: &[
            Place::pointer(".lmstudio-home-pointer", "mcp.json"),
            Place::home(".lmstudio/mcp.json"),
            Place::home(".cache/lm-studio/mcp.json"),
        ],
        ..USUAL
    },
    // Not tried; the folder can be moved in its settings.
    Host {
        id: "jan",
        name: "Jan",
        signs: Signs {
            programs: &[],
            folders: &[Place::data("Jan/data")],
        },
        files: &[Place::data("Jan/data/mcp_config.json")],
        shape: Shape {
            last: &[("active", Fixed::Flag(true))],
            ..PLAIN
        },
        ..USUAL
    },
    Host {
        id: "hermes",
        name: "Hermes",
        signs: Signs {
            programs: &[],
            folders: &[
                Place::home(".hermes"),
                Place::local("hermes").only(Platform::Windows),
            ],
        },
        moved: &[Place::variable("HERMES_HOME", "config.yaml")],
        files: &[
            Place::home(".hermes/config.yaml"),
            Place::local("hermes/config.yaml"),
        ],
        dialect: Dialect::Yaml,
        key: &["mcp_servers"],
        timeout: Some(("timeout", 600)),
        ..USUAL
    },
];
