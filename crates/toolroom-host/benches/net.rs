//! Cost of the guarded HTTP client, compared with plain reqwest in alternating rounds against one server.

#![expect(
    clippy::disallowed_methods,
    reason = "a bench reads the clock, listens, and needs an unguarded client"
)]

#[path = "../../toolroom/benches/measure/mod.rs"]
mod measure;

use std::convert::Infallible;
use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Instant;

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use measure::{Bar, Measure, median, report};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use toolroom_host::net::{Client, EgressPolicy, Request, Target};

/// Rounds per figure; odd, so that there is a median round.
const ROUNDS: usize = 15;

/// Concurrent clients.
const CONCURRENCY: usize = 32;

/// Requests per round and kind of client.
const REQUESTS: usize = 2_000;

type Done = Result<(), Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let measure = Measure::from_arguments();
    match judge_urls(&measure).and_then(|()| send_requests(&measure)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

/// The URL check of every request, without the network.
fn judge_urls(measure: &Measure) -> Done {
    let policy = EgressPolicy::public();
    for (case, url) in [
        ("name", "https://www.example.com/a/b/c?d=e"),
        ("address", "http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8080/"),
    ] {
        measure.time("net_judge", case, Bar::aim(5.0), || Target::judge(url, &policy));
    }
    Ok(())
}

fn send_requests(measure: &Measure) -> Done {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for (case, body) in [("small", 200), ("page", 200_000)] {
        let server = runtime.block_on(serve(body))?;
        let url = format!("http://{server}/");
        let guarded = HttpClient::Guarded(
            Client::new(EgressPolicy::public().open(["127.0.0.1".parse()?])),
            url.clone(),
        );
        let plain = HttpClient::Plain(reqwest::Client::builder().no_proxy().build()?, url);
        for concurrency in [1, CONCURRENCY] {
            if measure.selects("net_send", case) {
                runtime.block_on(compare(case, concurrency, &guarded, &plain))?;
            }
        }
    }
    Ok(())
}

/// Serves responses of `length` bytes.
async fn serve(length: usize) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let body = Bytes::from(vec![b'x'; length]);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let body = body.clone();
            let service = service_fn(move |_| {
                let body = Full::new(body.clone());
                async { Ok::<_, Infallible>(http::Response::new(body)) }
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    Ok(address)
}

#[derive(Clone)]
enum HttpClient {
    Guarded(Client, String),
    Plain(reqwest::Client, String),
}

impl HttpClient {
    async fn send(&self) -> Result<usize, Box<dyn Error + Send + Sync>> {
        Ok(match self {
            Self::Guarded(client, url) => {
                client.send(Request::get(url.as_str())).await?.body.bytes().await?.len()
            }
            Self::Plain(client, url) => client.get(url.as_str()).send().await?.bytes().await?.len(),
        })
    }

    /// The mean time of a request in microseconds.
    async fn round(&self, concurrency: usize) -> Result<f64, Box<dyn Error + Send + Sync>> {
        let start = Instant::now();
        let mut tasks = JoinSet::new();
        for _ in 0..concurrency {
            let client = self.clone();
            tasks.spawn(async move {
                for _ in 0..REQUESTS / concurrency {
                    client.send().await?;
                }
                Ok::<(), Box<dyn Error + Send + Sync>>(())
            });
        }
        while let Some(result) = tasks.join_next().await {
            result??;
        }
        Ok(start.elapsed().as_secs_f64() * 1e6 / REQUESTS as f64)
    }
}

async fn compare(case: &str, concurrency: usize, guarded: &HttpClient, plain: &HttpClient) -> Done {
    let (mut guarded_times, mut plain_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=ROUNDS {
        let (guarded, plain) = (guarded.round(concurrency).await?, plain.round(concurrency).await?);
        if round > 0 {
            guarded_times.push(guarded);
            plain_times.push(plain);
            ratios.push(guarded / plain);
        }
    }
    let case = format!("{case}_{concurrency}");
    let n = ROUNDS * REQUESTS;
    report("net_send", &format!("{case}_guarded"), median(&mut guarded_times), "us", Bar::NONE, n);
    report("net_send", &format!("{case}_plain"), median(&mut plain_times), "us", Bar::NONE, n);
    report("net_send", &format!("{case}_ratio"), median(&mut ratios), "x", Bar::floor_and_aim(1.5, 1.1), n);
    Ok(())
}
