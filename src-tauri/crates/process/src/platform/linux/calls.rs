//! The system calls a sandboxed command may not make, and the privileges it loses.

use std::{collections::BTreeMap, io};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use crate::Error;

/// Refused with "operation not permitted", whatever the arguments.
const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // The file system's shape; a way around paths.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_acct,
    // Namespaces.
    libc::SYS_setns,
    // The kernel and the clock.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Keys of the session.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Memory and queues shared by number instead of by path: the pictures of other programs.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_mq_open,
];
/// Answered "not implemented": programs then take an older way that can be judged.
/// `clone3` hides its flags in memory; `io_uring` does everything the filter refuses.
const MISSING: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];
/// Calls of a network that is refused altogether. `socket` alone would do; the others make a
/// socket useless that came from elsewhere.
const NETWORK: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
];
/// Every `CLONE_NEW…` (clone(2), unshare(2), `CLONE_NEWTIME` from time_namespaces(7)): a new user
/// namespace brings back every privilege.
const NAMESPACES: &[u64] = &[
    0x80,
    0x0002_0000,
    0x0200_0000,
    0x0400_0000,
    0x0800_0000,
    0x1000_0000,
    0x2000_0000,
    0x4000_0000,
];
/// Puts characters into a terminal as if typed (`TIOCSTI`, `TIOCLINUX`; ioctl_tty(2)).
const TYPING: &[u64] = &[0x5412, 0x541C];
/// `RLIMIT_LOCKS`, which carries the mark.
const MARKED_LIMIT: u64 = 10;

/// A filter, ready to be entered.
pub(super) struct Program(BpfProgram);

impl Program {
    /// Async-signal-safe: one system call on memory prepared before.
    pub(super) fn enter(&self) -> io::Result<()> {
        let filter = libc::sock_fprog {
            len: self.0.len() as libc::c_ushort,
            // seccompiler's `sock_filter` is the kernel's, field for field.
            filter: self.0.as_ptr().cast_mut().cast(),
        };
        // SAFETY: `filter` points at `len` instructions that live as long as `self`; the kernel
        // copies them.
        let result = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                0,
                &raw const filter,
            )
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

/// The filters of a sandbox. `abi` is Landlock's: what it does not cover is refused here.
pub(super) fn programs(network: bool, abi: u32) -> Result<Vec<Program>, Error> {
    let build = || -> Result<Vec<Program>, seccompiler::BackendError> {
        let refused = compile(refused(network, abi)?, libc::EPERM)?;
        let missing = compile(unconditional(MISSING), libc::ENOSYS)?;
        Ok(vec![Program(refused), Program(missing)])
    };
    build().map_err(|error| Error::SandboxUnavailable {
        reason: format!("the system call filter could not be built: {error}"),
    })
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn unconditional(calls: &[i64]) -> Rules {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn refused(network: bool, abi: u32) -> Result<Rules, seccompiler::BackendError> {
    let mut rules = unconditional(REFUSED);
    if abi < 3 {
        // Before its third version Landlock lets everything be cut to nothing by path.
        rules.insert(libc::SYS_truncate, Vec::new());
    }
    let flags: Vec<_> = NAMESPACES
        .iter()
        .map(|flag| when(&[(0, SeccompCmpOp::MaskedEq(*flag), *flag)]))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_unshare, flags.clone());
    // The first argument on x86-64, arm64 and RISC-V alike. 0x80 is no flag there but part of the
    // signal number's byte.
    rules.insert(libc::SYS_clone, flags[1..].to_vec());
    let typing = TYPING
        .iter()
        .map(|request| when(&[(1, SeccompCmpOp::Eq, *request)]))
        .collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_ioctl, typing);
    rules.insert(
        libc::SYS_prlimit64,
        vec![
            when(&[(0, SeccompCmpOp::Ne, 0)])?,
            SeccompRule::new(vec![
                condition(1, SeccompCmpOp::Eq, MARKED_LIMIT)?,
                // Reading it (no new value) is everybody's right.
                SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?,
            ])?,
        ],
    );
    rules.insert(
        libc::SYS_setrlimit,
        vec![when(&[(0, SeccompCmpOp::Eq, MARKED_LIMIT)])?],
    );
    // A connected pair of datagram sockets can be pointed at any other socket afterwards.
    rules.insert(
        libc::SYS_socketpair,
        vec![when(&[(
            1,
            SeccompCmpOp::MaskedEq(0xF),
            libc::SOCK_DGRAM as u64,
        )])?],
    );
    if network {
        // No AF_UNIX: X11, D-Bus, Docker and key agents listen there, outside the sandbox.
        // Netlink only for routes, which is how libraries ask for the machine's addresses.
        rules.insert(
            libc::SYS_socket,
            vec![
                when(&[
                    (0, SeccompCmpOp::Ne, libc::AF_INET as u64),
                    (0, SeccompCmpOp::Ne, libc::AF_INET6 as u64),
                    (0, SeccompCmpOp::Ne, libc::AF_NETLINK as u64),
                ])?,
                when(&[
                    (0, SeccompCmpOp::Eq, libc::AF_NETLINK as u64),
                    (2, SeccompCmpOp::Ne, libc::NETLINK_ROUTE as u64),
                ])?,
            ],
        );
    } else {
        rules.extend(unconditional(NETWORK));
    }
    Ok(rules)
}

fn when(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(
        conditions
            .iter()
            .map(|(argument, operator, value)| condition(*argument, operator.clone(), *value))
            .collect::<Result<_, _>>()?,
    )
}

/// Compares the lower half of an argument: the kernel ignores the upper half of what it takes for
/// an `int`, so a filter that looked at it could be led astray.
fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

fn compile(rules: Rules, errno: i32) -> Result<BpfProgram, seccompiler::BackendError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let program: BpfProgram = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno.cast_unsigned()),
        architecture,
    )?
    .try_into()?;
    Ok(if cfg!(target_arch = "x86_64") {
        refuse_x32().into_iter().chain(program).collect()
    } else {
        program
    })
}

/// On x86-64 every call exists a second time with bit 30 set (the x32 ABI), under the same
/// architecture value, so a list of refused numbers would be half a list.
fn refuse_x32() -> [sock_filter; 3] {
    let instruction = |code: u32, jt, jf, k| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    [
        // Offset 0 of `seccomp_data` is the number.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(
            libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K,
            0,
            1,
            0x4000_0000,
        ),
        instruction(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned(),
        ),
    ]
}

/// What root keeps in the sandbox (capabilities(7)): owning files and changing users. Everything
/// that reaches the kernel, devices, other processes or the network goes.
const KEPT: u64 = 1 << 0 // CAP_CHOWN
    | 1 << 1 // CAP_DAC_OVERRIDE
    | 1 << 3 // CAP_FOWNER
    | 1 << 4 // CAP_FSETID
    | 1 << 6 // CAP_SETGID
    | 1 << 7; // CAP_SETUID

/// Async-signal-safe.
pub(super) fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Data {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    for capability in 0..64 {
        if KEPT & 1 << capability == 0 {
            // SAFETY: prctl with integers. Unknown numbers are answered with EINVAL, which ends
            // nothing: there is nothing to drop then.
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        }
    }
    // `_LINUX_CAPABILITY_VERSION_3` of capget(2).
    let mut header = Header {
        version: 0x2008_0522,
        pid: 0,
    };
    let none = Data {
        effective: 0,
        permitted: 0,
        inheritable: 0,
    };
    let mut data = [none; 2];
    // SAFETY: header and data have the layout of capget(2) for this version (two words).
    let result = unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    for (word, data) in data.iter_mut().enumerate() {
        let kept = (KEPT >> (32 * word)) as u32;
        data.effective &= kept;
        data.permitted &= kept;
        data.inheritable = 0;
    }
    // SAFETY: as above.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw mut header, data.as_ptr()) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
