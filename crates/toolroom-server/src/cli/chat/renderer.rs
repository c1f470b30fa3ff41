//! Displays a run on its own thread, so that a slow terminal or an unread pipe does not block the run.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use toolroom::agent::EventListener;
use toolroom::conversation::NumberedEvent;

use super::canvas::{DisplayResult, RunDisplay};

/// Interval of the animation.
const TICK: Duration = Duration::from_millis(100);

enum RenderEvent {
    Event(NumberedEvent),
    End,
}

pub(super) struct Renderer {
    sender: Sender<RenderEvent>,
    task: JoinHandle<DisplayResult>,
}

impl Renderer {
    pub(super) fn start(display: RunDisplay) -> Self {
        let (sender, receiver) = mpsc::channel();
        let task = tokio::task::spawn_blocking(move || render(display, &receiver));
        Self { sender, task }
    }

    /// Sends events to the display.
    pub(super) fn listener(&self) -> EventListener {
        let sender = Mutex::new(self.sender.clone());
        Arc::new(move |event| {
            // A tool may still send progress after its run has ended.
            drop(
                sender.lock().unwrap_or_else(PoisonError::into_inner).send(RenderEvent::Event(event.clone())),
            );
        })
    }

    /// Displays the remaining events and ends.
    pub(super) async fn finish(self) -> anyhow::Result<DisplayResult> {
        drop(self.sender.send(RenderEvent::End));
        Ok(self.task.await?)
    }
}

fn render(mut display: RunDisplay, events: &Receiver<RenderEvent>) -> DisplayResult {
    loop {
        let received = match display.is_animated() {
            true => events.recv_timeout(TICK),
            false => events.recv().map_err(RecvTimeoutError::from),
        };
        match received {
            Ok(RenderEvent::Event(event)) => display.push(&event),
            Err(RecvTimeoutError::Timeout) => display.tick(),
            Ok(RenderEvent::End) | Err(RecvTimeoutError::Disconnected) => return display.end(),
        }
    }
}
