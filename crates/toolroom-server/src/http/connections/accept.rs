//! Taking connections, and letting go of them in order.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolroom_host::listen::Listener;

use crate::http::connections::runtime::Elsewhere;
use crate::http::connections::write_timeout::Outgoing;
use crate::http::reception::Reception;

/// Connections at the same time. Who comes later waits to be taken.
const CONNECTIONS: usize = 4096;

/// The longest somebody may take to say what they want.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// The largest head of a request.
const HEAD_BYTES: usize = 64 * 1024;

/// How long to wait when no connection can be taken.
const PAUSE: Duration = Duration::from_millis(100);

/// How long open requests may take once we are asked to end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Serves connections until `ending`, then finishes those that are open. How long somebody takes is measured elsewhere.
pub(crate) async fn serve(
    listener: Listener,
    reception: Reception,
    elsewhere: Elsewhere,
    ending: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let open = TaskTracker::new();
    loop {
        let taken = tokio::select! {
            () = ending.cancelled() => break,
            taken = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, listener.accept().await)
            } => taken,
        };
        let (place, (stream, peer)) = match taken {
            (Ok(place), Ok(connection)) => (place, connection),
            (Ok(_), Err(error)) => {
                tracing::warn!("no connection can be taken: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            (Err(_), _) => break,
        };
        let (reception, timer, ending) = (reception.clone(), elsewhere.of_connection(), ending.clone());
        open.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let received = reception.clone().receive(peer, request);
                async move { Ok::<_, Infallible>(received.await) }
            });
            let mut builder = http1::Builder::new();
            builder.timer(timer).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES);
            let stream = TokioIo::new(Outgoing::new(stream));
            let mut connection = std::pin::pin!(builder.serve_connection(stream, service));
            let served = tokio::select! {
                biased;
                served = connection.as_mut() => served,
                () = ending.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = served {
                tracing::debug!("a connection ended early: {error}");
            }
            drop(place);
        });
    }
    open.close();
    if tokio::time::timeout(PATIENCE, open.wait()).await.is_err() {
        tracing::warn!("{} connections were cut off", open.len());
    }
}
