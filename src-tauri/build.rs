//! Puts the window's configuration and capabilities into the program, when it is built with a window.

#![allow(clippy::print_stdout, reason = "that is how cargo is told something")]

fn main() {
    #[cfg(feature = "desktop")]
    {
        const CAPABILITIES: &str = "src-tauri/capabilities";
        const PERMISSIONS: &str = "src-tauri/permissions";
        for folder in [CAPABILITIES, PERMISSIONS] {
            println!("cargo::rerun-if-changed={folder}");
        }
        let attributes = tauri_build::Attributes::new()
            .capabilities_path_pattern("src-tauri/capabilities/*.json")
            .app_manifest(
                tauri_build::AppManifest::new()
                    .permissions_path_pattern("src-tauri/permissions/*.toml"),
            );
        if let Err(error) = tauri_build::try_build(attributes) {
            println!("cargo::error={error:#}");
        }
    }
    // Without this, cargo would run this file after every change of any file.
    println!("cargo::rerun-if-changed=src-tauri/build.rs");
}
