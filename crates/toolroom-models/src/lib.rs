//! The model wire formats of Toolroom: OpenAI-compatible, Anthropic and Gemini, with vendors as data, and the
//! offline model.
//!
//! Nothing lives here yet: the crate holds its place in the house, so that its edges (kernel and host, never
//! tools or store) are tested from the first day. It will never run a tool.
