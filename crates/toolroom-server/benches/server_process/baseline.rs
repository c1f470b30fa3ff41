//! Minimal servers, as the baseline for Toolroom's.

use std::convert::Infallible;
use std::io::{BufRead, Write};

use bytes::Bytes;
use http_body_util::{BodyExt, Collected, Full};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::Done;

/// Computes the response to a message.
type Handler = fn(&Value) -> Value;

/// An HTTP server on hyper and serde_json.
pub(crate) fn over_http(handler: Handler) -> Done {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(std::io::stdout(), "{}", json!({"url": format!("http://{}", listener.local_addr()?)}))?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = service_fn(move |request| respond(request, handler));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}

async fn respond(request: Request<Incoming>, handler: Handler) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(Collected::to_bytes);
    let message: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from(handler(&message).to_string())));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Reads lines of JSON from standard input and answers all buffered lines with one write.
pub(crate) fn over_stdio(handler: Handler) -> Done {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut responses = Vec::new();
    loop {
        let buffered = input.fill_buf()?;
        let Some(end) = buffered.iter().rposition(|byte| *byte == b'\n') else {
            return match buffered {
                [] => Ok(()),
                _ => Err("a line is longer than the buffer".into()),
            };
        };
        for line in buffered.get(..end).unwrap_or_default().split(|byte| *byte == b'\n') {
            let message: Value = serde_json::from_slice(line)?;
            // Notifications have no id.
            if message.get("id").is_some() {
                serde_json::to_writer(&mut responses, &handler(&message))?;
                responses.push(b'\n');
            }
        }
        input.consume(end + 1);
        output.write_all(&responses)?;
        output.flush()?;
        responses.clear();
    }
}
