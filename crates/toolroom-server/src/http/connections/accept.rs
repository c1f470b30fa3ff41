//! Accepts connections and serves HTTP/1 on them.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolroom_host::listen::Listener;
use tower_service::Service as _;

use crate::http::connections::runtime::ConnectionTimers;
use crate::http::connections::write_timeout::WriteTimeout;

/// Open connections. Further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 4096;

/// The longest a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(15);

/// The largest head of a request.
const HEAD_BYTES: usize = 64 * 1024;

/// Pause after a connection could not be accepted.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// How long open requests may take after shutdown begins.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Serves connections until `ending`, then finishes the open ones.
pub(crate) async fn serve(
    listener: Listener,
    router: Router,
    timers: ConnectionTimers,
    ending: CancellationToken,
) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let open = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = ending.cancelled() => break,
            accepted = async {
                let permit = Arc::clone(&permits).acquire_owned().await;
                (permit, listener.accept().await)
            } => accepted,
        };
        let (permit, (stream, peer)) = match accepted {
            (Ok(permit), Ok(connection)) => (permit, connection),
            (Ok(_), Err(error)) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            }
            (Err(_), _) => break,
        };
        let (router, timer, ending) = (router.clone(), timers.timer(), ending.clone());
        open.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let mut request = request.map(Body::new);
                request.extensions_mut().insert(ConnectInfo(peer));
                router.clone().call(request)
            });
            let mut builder = http1::Builder::new();
            builder.timer(timer).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES);
            let stream = TokioIo::new(WriteTimeout::new(stream));
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
            drop(permit);
        });
    }
    open.close();
    if tokio::time::timeout(SHUTDOWN_GRACE, open.wait()).await.is_err() {
        tracing::warn!("closed {} connections that were still open", open.len());
    }
}
