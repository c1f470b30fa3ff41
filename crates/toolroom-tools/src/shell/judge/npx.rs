//! `npx` and similar: they run a program of the project, or else download one of that name.

use super::invocation::Invocation;

/// Common project tools whose package has the expected name.
const LOCAL_TOOLS: &str = "tsc vue-tsc eslint prettier stylelint biome oxlint jest vitest mocha ava playwright cypress \
    webpack rollup esbuild vite next nuxt astro ng swc babel tsx ts-node nx turbo typedoc tsup svelte-check knip \
    depcheck madge c8 nyc tailwindcss sass postcss";

/// The index of the argument that names a local program or a known tool.
pub(super) fn local_tool(invocation: &Invocation) -> Option<usize> {
    let text = |at: usize| invocation.arguments().get(at).and_then(|value| value.known());
    let mut at = match invocation.name() {
        "npx" | "bunx" => 0,
        "npm" if matches!(text(0)?, "exec" | "x") => 1,
        _ => return None,
    };
    let mut is_there = false;
    while let Some(option @ ("--" | "--no" | "--no-install")) = text(at) {
        is_there |= option != "--";
        at += 1;
    }
    let name = text(at)?;
    let is_name = name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '-' || sign == '_');
    let is_tool = LOCAL_TOOLS.split_whitespace().any(|tool| tool == name);
    (is_tool || is_there && is_name && !name.starts_with('-')).then_some(at)
}
