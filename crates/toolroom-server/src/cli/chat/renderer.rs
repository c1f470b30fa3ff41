//! Shows a run on a thread of its own: a screen that is slow, or a pipe that nobody reads, keeps no run waiting.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use toolroom::agent::EventListener;
use toolroom::conversation::NumberedEvent;

use super::canvas::{Canvas, Painted};

/// Between two pictures of what moves.
const TICK: Duration = Duration::from_millis(100);

enum Told {
    Event(NumberedEvent),
    End,
}

/// Somebody who shows what happens.
pub(super) struct Painter {
    sender: Sender<Told>,
    task: JoinHandle<Painted>,
}

impl Painter {
    pub(super) fn start(canvas: Canvas) -> Self {
        let (sender, receiver) = mpsc::channel();
        let task = tokio::task::spawn_blocking(move || paint(canvas, &receiver));
        Self { sender, task }
    }

    /// Who watches for it.
    pub(super) fn listener(&self) -> EventListener {
        let sender = Mutex::new(self.sender.clone());
        Arc::new(move |event| {
            // Who has ended does not want to hear more: a tool may speak after its run.
            drop(sender.lock().unwrap_or_else(PoisonError::into_inner).send(Told::Event(event.clone())));
        })
    }

    /// Shows what is left, and ends.
    pub(super) async fn finish(self) -> anyhow::Result<Painted> {
        drop(self.sender.send(Told::End));
        Ok(self.task.await?)
    }
}

fn paint(mut canvas: Canvas, events: &Receiver<Told>) -> Painted {
    loop {
        let told = match canvas.is_lively() {
            true => events.recv_timeout(TICK),
            false => events.recv().map_err(RecvTimeoutError::from),
        };
        match told {
            Ok(Told::Event(event)) => canvas.take(&event),
            Err(RecvTimeoutError::Timeout) => canvas.tick(),
            Ok(Told::End) | Err(RecvTimeoutError::Disconnected) => return canvas.end(),
        }
    }
}
