//! The Debian packages and what each is for.

/// What needs a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// `cargo xtask demo`, and everything else that has a screen.
    Demo,
    /// `cargo xtask test` as well.
    Test,
    /// Building the app with its window, and testing it.
    Desktop,
    /// `cargo xtask bench`, to compile what we are compared with.
    Bench,
}

/// A Debian package.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) purpose: Purpose,
    pub(crate) reason: &'static str,
    /// The program it brings, by which it is known elsewhere.
    pub(crate) program: Option<&'static str>,
}

const fn package(
    purpose: Purpose,
    name: &'static str,
    program: Option<&'static str>,
    reason: &'static str,
) -> Package {
    Package {
        name,
        purpose,
        reason,
        program,
    }
}

use Purpose::{Bench, Demo, Desktop, Test};

/// All of them.
pub(crate) const PACKAGES: &[Package] = &[
    package(Demo, "xvfb", Some("Xvfb"), "a screen of its own"),
    package(Demo, "openbox", Some("openbox"), "a window manager for it"),
    package(Demo, "x11-xkb-utils", Some("xkbcomp"), "its keyboard"),
    package(
        Demo,
        "mousepad",
        Some("mousepad"),
        "the program the demo types into",
    ),
    package(Demo, "at-spi2-core", None, "what is on the screen, by name"),
    package(
        Demo,
        "dbus",
        Some("dbus-daemon"),
        "the bus that programs with windows expect",
    ),
    package(Demo, "fonts-dejavu-core", None, "letters to look at"),
    package(
        Test,
        "x11-xserver-utils",
        Some("xrandr"),
        "several monitors on one screen",
    ),
    package(
        Test,
        "picom",
        Some("picom"),
        "a compositor, as desktops have one",
    ),
    package(Test, "zenity", Some("zenity"), "dialogs to answer"),
    package(
        Test,
        "xterm",
        Some("xterm"),
        "a terminal that must not be typed into unasked",
    ),
    package(
        Test,
        "chromium",
        Some("chromium"),
        "web pages on the screen",
    ),
    package(
        Test,
        "python3-gi",
        None,
        "the program that logs the clicks and keys it gets",
    ),
    package(Test, "gir1.2-gtk-3.0", None, "the same"),
    package(
        Test,
        "gir1.2-atspi-2.0",
        None,
        "a second opinion on the accessibility tree",
    ),
    package(Test, "fonts-noto-cjk", None, "Chinese letters to look at"),
    package(
        Test,
        "fonts-inter",
        None,
        "letters that look the same on every machine",
    ),
    package(
        Test,
        "libfaketime",
        None,
        "a clock that always says the same, for pictures of pages",
    ),
    package(
        Test,
        "tesseract-ocr",
        Some("tesseract"),
        "reads what is really on the screen",
    ),
    package(Test, "tesseract-ocr-eng", None, "the same, for English"),
    package(
        Test,
        "gnome-keyring",
        Some("gnome-keyring-daemon"),
        "a keychain to keep keys in",
    ),
    package(
        Test,
        "libsecret-tools",
        Some("secret-tool"),
        "another program that asks a keychain",
    ),
    package(Test, "i3lock", Some("i3lock"), "a locker of the screen"),
    package(
        Test,
        "xclip",
        Some("xclip"),
        "another program with the clipboard",
    ),
    package(Test, "procps", Some("ps"), "which processes are left"),
    package(
        Desktop,
        "libwebkit2gtk-4.1-dev",
        None,
        "the web view in the window",
    ),
    package(
        Desktop,
        "libayatana-appindicator3-dev",
        None,
        "the icon in the tray",
    ),
    package(
        Desktop,
        "webkit2gtk-driver",
        Some("WebKitWebDriver"),
        "looks into the page of the real window",
    ),
    package(
        Desktop,
        "xdotool",
        Some("xdotool"),
        "presses keys as a person does, and finds windows",
    ),
    package(
        Bench,
        "pkg-config",
        Some("pkg-config"),
        "finds the libraries below",
    ),
    package(Bench, "libclang-dev", None, "xcap: bindings to PipeWire"),
    package(
        Bench,
        "libpipewire-0.3-dev",
        None,
        "xcap: screens under Wayland",
    ),
    package(Bench, "libwayland-dev", None, "xcap: screens under Wayland"),
    package(Bench, "libegl-dev", None, "xcap: screens under Wayland"),
    package(Bench, "libgbm-dev", None, "xcap: screens under Wayland"),
    package(Bench, "libxcb1-dev", None, "xcap: screens under X11"),
    package(Bench, "libxcb-randr0-dev", None, "xcap: monitors under X11"),
];
