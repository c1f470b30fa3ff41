//! The limit: what a server cannot do without, and nothing else.

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

/// What is said to a message.
type Answer = fn(&Value) -> Value;

/// hyper reads a request, serde_json its body, and both write the answer.
pub(crate) fn over_http(answer: Answer) -> Done {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(std::io::stdout(), "{}", json!({"url": format!("http://{}", listener.local_addr()?)}))?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = service_fn(move |request| answered(request, answer));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    })
}

async fn answered(request: Request<Incoming>, answer: Answer) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(Collected::to_bytes);
    let said: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from(answer(&said).to_string())));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A line is read, serde_json reads it, and writes another one; what has come together is answered together.
pub(crate) fn over_stdio(answer: Answer) -> Done {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut answers = Vec::new();
    loop {
        let said = input.fill_buf()?;
        let Some(end) = said.iter().rposition(|byte| *byte == b'\n') else {
            return match said {
                [] => Ok(()),
                _ => Err("a line is longer than what is read at once".into()),
            };
        };
        for line in said.get(..end).unwrap_or_default().split(|byte| *byte == b'\n') {
            let said: Value = serde_json::from_slice(line)?;
            // What wants no answer has no id.
            if said.get("id").is_some() {
                serde_json::to_writer(&mut answers, &answer(&said))?;
                answers.push(b'\n');
            }
        }
        input.consume(end + 1);
        output.write_all(&answers)?;
        output.flush()?;
        answers.clear();
    }
}
