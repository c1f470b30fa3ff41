//! Embeds the kernel in a program: registers a tool, calls it, and prints the journal.
//!
//! ```console
//! $ cargo run -p toolroom --example embed
//! ```

use std::error::Error;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::Toolroom;
use toolroom::call::CallRequest;
use toolroom::ledger::{CallFilter, Journal};
use toolroom::scope::Scope;
use toolroom::testing::MemoryLedger;
use toolroom::tool::{Effect, ToolError, tool_fn};

#[derive(Deserialize, JsonSchema)]
struct Stay {
    /// City to stay in
    city: String,
    /// Nights to stay
    #[schemars(range(min = 1, max = 30))]
    nights: u32,
}

#[derive(Serialize)]
struct Offer {
    hotel: String,
    price: u32,
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example prints its results")]
async fn main() -> Result<(), Box<dyn Error>> {
    let ledger = Arc::new(MemoryLedger::new());
    let room = Toolroom::builder(Arc::clone(&ledger)).build();
    room.catalog().register(
        tool_fn("hotel:find", "Find a hotel", |_context, stay: Stay| async move {
            Ok::<_, ToolError>(Offer { hotel: format!("Grand Hotel {}", stay.city), price: 90 * stay.nights })
        })?
        .with(|spec| spec.effect(Effect::Read).capabilities(&[])),
    )?;

    // As a model calls it: a name, and arguments as text.
    for arguments in [r#"{"city": "Rome", "nights": 2}"#, r#"{"city": "Rome", "nights": 99}"#, ""] {
        let request = CallRequest::new("find").arguments_text(arguments).scope(Scope::user("local", "ann"));
        println!("{arguments:32} -> {}", room.call(request).await.for_model().unwrap_or_default());
    }
    for call in ledger.calls(&Scope::default(), CallFilter::default()).await? {
        println!("{} {} {}", call.id, call.tool, call.status);
    }
    Ok(())
}
