//! Which files a sandboxed command reaches: Landlock rules.

use std::{
    fs, io,
    os::fd::{AsRawFd, OwnedFd},
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access, AccessFs, BitFlags, PathBeneath, PathFd, Ruleset as Builder, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};

use crate::{Error, Sandbox, Support, sandbox::Gap};

/// Newest version whose rights were tried with this code. Newer kernels enforce these, too.
const TRIED: ABI = ABI::V7;
/// Most siblings that are allowed one by one around something hidden.
const SIBLINGS: usize = 16_384;

/// Read and execute. What `/proc` shows of other processes' insides (environment, memory, files) is
/// refused by Landlock's rule about tracing, what it shows of the kernel's by missing privileges.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/proc",
    "/sys",
    "/var/cache/fontconfig",
    "/var/lib/dpkg/info",
    "/var/lib/dpkg/status",
];
/// Allowed child by child, without [`SECRETS`].
const GUARDED: &str = "/etc";
/// Secrets below [`GUARDED`] that root could read; other people cannot anyway.
const SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/security/opasswd",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/krb5.keytab",
    "/etc/docker/key.json",
    "/etc/cups/ssl",
    "/etc/letsencrypt",
    "/etc/polkit-1",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
];
/// Read and write, no control requests beyond those of terminals. No `/dev/pts`: the person's own
/// terminals are there, to be read and typed into. No `/dev/shm`: other programs' memory is there.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];
/// Where name servers are listed on systems with systemd-resolved; `/etc/resolv.conf` points there.
const NETWORK: &[&str] = &[
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
];

/// A ruleset in the kernel, ready to be entered.
pub(super) struct Ruleset {
    descriptor: OwnedFd,
    abi: u32,
}

impl Ruleset {
    pub(super) fn new(sandbox: &Sandbox) -> Result<Self, Error> {
        let unavailable = |reason: String| Error::SandboxUnavailable { reason };
        let abi = match support() {
            Support::Enforced { version, .. } => version,
            Support::None { reason } => return Err(unavailable(reason)),
        };
        let mut rules = rules(abi).map_err(|error| unavailable(error.to_string()))?;
        let known = ABI::from(abi.cast_signed()).min(TRIED);
        let read = AccessFs::from_read(known);
        // Device files are no files; IoctlDev belongs to devices alone.
        let write = (AccessFs::from_all(known) & !AccessFs::IoctlDev)
            & !(AccessFs::MakeChar | AccessFs::MakeBlock);
        let mut add = |path: &Path, access: BitFlags<AccessFs>| {
            allow(&mut rules, path, access).map_err(|error| unavailable(error.to_string()))
        };

        for path in SYSTEM {
            add(Path::new(path), read)?;
        }
        for path in DEVICES {
            let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
            add(Path::new(path), device & AccessFs::from_all(known))?;
        }
        if sandbox.network {
            for path in NETWORK {
                add(Path::new(path), read)?;
            }
        }
        let secrets: Vec<PathBuf> = SECRETS.iter().map(PathBuf::from).collect();
        // Names are no secret here, and `ls /etc` is worth having.
        add(Path::new(GUARDED), AccessFs::ReadDir.into())?;
        for part in around(Path::new(GUARDED), &secrets)? {
            add(&part, read)?;
        }
        let hidden: Vec<PathBuf> = sandbox.hidden.iter().map(|path| resolved(path)).collect();
        for (paths, access) in [(&sandbox.read_only, read), (&sandbox.read_write, write)] {
            for path in paths.iter().map(|path| resolved(path)) {
                // What is allowed inside something hidden was meant: the narrower one counts.
                let hidden: Vec<PathBuf> = hidden
                    .iter()
                    .filter(|hidden| hidden.starts_with(&path))
                    .cloned()
                    .collect();
                for part in around(&path, &hidden)? {
                    add(&part, access)?;
                }
            }
        }
        let descriptor = Option::<OwnedFd>::from(rules)
            .ok_or_else(|| unavailable("the kernel gave no ruleset".to_owned()))?;
        Ok(Self { descriptor, abi })
    }

    pub(super) fn abi(&self) -> u32 {
        self.abi
    }

    /// Async-signal-safe: one system call.
    pub(super) fn enter(&self) -> io::Result<()> {
        // SAFETY: landlock_restrict_self(2) takes a ruleset descriptor, which we own, and flags.
        let result = unsafe {
            libc::syscall(
                libc::SYS_landlock_restrict_self,
                self.descriptor.as_raw_fd(),
                0,
            )
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

/// Programs in `folder` can be started inside the sandbox.
pub(super) fn reaches(sandbox: &Sandbox, folder: &Path) -> bool {
    let folder = resolved(folder);
    let is_below = |path: &Path| folder.starts_with(resolved(path));
    let given = sandbox.read_write.iter().chain(&sandbox.read_only);
    let allowed = SYSTEM.iter().any(|path| is_below(Path::new(path)))
        || given.into_iter().any(|path| is_below(path));
    allowed && !sandbox.hidden.iter().any(|path| is_below(path))
}

/// What the running kernel can enforce.
pub(crate) fn support() -> Support {
    /// `LANDLOCK_CREATE_RULESET_VERSION` of landlock_create_ruleset(2).
    const VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no memory and returns a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    if version < 1 {
        let error = io::Error::last_os_error();
        return Support::None {
            reason: match error.raw_os_error() {
                Some(libc::ENOSYS) => {
                    "this kernel has no Landlock (Linux 5.13 or newer)".to_owned()
                }
                Some(libc::EOPNOTSUPP) => {
                    "Landlock is switched off in this kernel (boot option `lsm=`)".to_owned()
                }
                _ => format!("Landlock does not answer: {error}"),
            },
        };
    }
    if seccompiler::TargetArch::try_from(std::env::consts::ARCH).is_err() {
        return Support::None {
            reason: format!(
                "there is no system call filter for {}",
                std::env::consts::ARCH
            ),
        };
    }
    let version = u32::try_from(version).unwrap_or(1);
    let mut gaps = Vec::new();
    if version < 6 {
        gaps.push(Gap::Signals);
    }
    if version < 5 {
        gaps.push(Gap::DeviceControl);
    }
    Support::Enforced { version, gaps }
}

fn rules(abi: u32) -> Result<RulesetCreated, landlock::RulesetError> {
    let known = ABI::from(abi.cast_signed()).min(TRIED);
    let mut builder = Builder::default().handle_access(AccessFs::from_all(known))?;
    if known >= ABI::V6 {
        builder = builder.scope(Scope::from_all(known))?;
    }
    builder.create()
}

/// What does not exist, or not for this person, needs no rule.
fn allow(
    rules: &mut RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<(), landlock::RulesetError> {
    let Ok(descriptor) = PathFd::new(path) else {
        return Ok(());
    };
    let access = if path.is_dir() {
        access
    } else {
        access & AccessFs::from_file(TRIED)
    };
    rules.add_rule(PathBeneath::new(descriptor, access))?;
    Ok(())
}

/// `path` itself when nothing hidden lies below it; otherwise its children, without the hidden
/// ones, as deep as it takes: Landlock allows only, it cannot take away.
fn around(path: &Path, hidden: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    if hidden.iter().any(|hidden| path.starts_with(hidden)) {
        return Ok(Vec::new());
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        return Ok(vec![path.to_owned()]);
    }
    let mut parts = Vec::new();
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // A link is judged by where it leads; allowing it would allow its target.
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            continue;
        }
        parts.extend(around(&entry.path(), hidden)?);
        if parts.len() > SIBLINGS {
            return Err(Error::SandboxUnavailable {
                reason: format!(
                    "`{}` holds too many entries beside what must stay hidden; choose a folder \
                     further down as the workspace",
                    path.display()
                ),
            });
        }
    }
    Ok(parts)
}

fn resolved(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
