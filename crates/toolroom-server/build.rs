//! Tells the program what it was built for and by; `toolroom --version --json` shows it.

use std::env;

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build script hears from Cargo through the environment, and the compiler alone knows its version"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let told = |name: &str| env::var(name).unwrap_or_default();
    let rustc = std::process::Command::new(told("RUSTC")).arg("--version").output();
    let rustc = rustc.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    // Not called after us: Cargo shows them to tests as well, and what is called so is looked for in the configuration.
    println!("cargo::rustc-env=BUILD_TARGET={}", told("TARGET"));
    println!("cargo::rustc-env=BUILD_PROFILE={}", told("PROFILE"));
    println!("cargo::rustc-env=BUILD_RUSTC={}", rustc.unwrap_or_default());
}
