//! JSON documents shared by the command line and HTTP.

mod call;
mod failure;
mod judged;
mod key;
mod memory_export;
mod offer;
mod question;
mod remedy;
mod run;
mod switch;
mod tool;
mod vendor;
mod whole_number;

pub(crate) use call::{CallDocument, Surface, what_to_do};
pub(crate) use failure::Failure;
pub(crate) use judged::Judged;
pub(crate) use key::{KeyDocument, MadeKey, MadeToken};
pub(crate) use memory_export::memories_as_markdown;
pub(crate) use offer::{OfferDocument, percent_encoded, told as offer_told};
pub(crate) use question::{
    AnswerDocument, EditDocument, ListedQuestion, QuestionDocument, ReachDocument, question_status_text,
    state, why_unreadable,
};
pub(crate) use remedy::remedy;
pub(crate) use run::{EventDocument, SnapshotDocument, StreamedEvent};
pub(crate) use switch::{FeatureDocument, FeatureState, ToggleState, features};
pub(crate) use tool::{ToggleNameError, ToolDocument, toggle_name};
pub(crate) use vendor::{ListedModel, ListedVendor, ModelsDocument};
pub(crate) use whole_number::whole_number;
