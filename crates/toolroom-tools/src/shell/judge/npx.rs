//! `npx` and the like run a program of the project, or else download one of that name.

use super::call::Call;

/// Programs that projects bring, and whose packages have the name that people expect.
const LOCAL_TOOLS: &str = "tsc vue-tsc eslint prettier stylelint biome oxlint jest vitest mocha ava playwright cypress \
    webpack rollup esbuild vite next nuxt astro ng swc babel tsx ts-node nx turbo typedoc tsup svelte-check knip \
    depcheck madge c8 nyc tailwindcss sass postcss";

/// The argument that names a program which is there, or is a known tool.
pub(super) fn local_tool(call: &Call) -> Option<usize> {
    let text = |at: usize| call.arguments().get(at).and_then(|value| value.known());
    let mut at = match call.name() {
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
