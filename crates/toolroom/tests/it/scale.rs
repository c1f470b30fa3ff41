//! How much is tried: a little in `make test`, a multiple of it in `make test-long` and `make fuzz`.

use proptest::test_runner::Config;

/// `base`, times the `TOOLROOM_SCALE` of this run.
#[expect(clippy::disallowed_methods, reason = "tests read their scale from the environment")]
pub(crate) fn scaled(base: u32) -> u32 {
    let scale = std::env::var("TOOLROOM_SCALE").ok().and_then(|scale| scale.parse().ok()).unwrap_or(1);
    base.saturating_mul(scale)
}

/// A property test with `base` cases, scaled.
pub(crate) fn cases(base: u32) -> Config {
    Config { cases: scaled(base), failure_persistence: None, ..Config::default() }
}
