//! What the guarded client costs beside a plain one: the same server, the same run, turn by turn.

#![expect(
    clippy::disallowed_methods,
    reason = "a bench looks at the clock, listens, and needs a client without a guard"
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

/// How many ask at once in a crowd.
const CROWD: usize = 32;

/// Requests per round, of each client.
const REQUESTS: usize = 2_000;

type Done = Result<(), Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let measure = Measure::from_arguments();
    match judging(&measure).and_then(|()| sending(&measure)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(writeln!(std::io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

/// What is judged for every request, without the network.
fn judging(measure: &Measure) -> Done {
    let reach = EgressPolicy::public();
    for (case, url) in [
        ("name", "https://www.example.com/a/b/c?d=e"),
        ("address", "http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8080/"),
    ] {
        measure.time("net_judge", case, Bar::aim(5.0), || Target::judge(url, &reach));
    }
    Ok(())
}

fn sending(measure: &Measure) -> Done {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for (case, body) in [("small", 200), ("page", 200_000)] {
        let server = runtime.block_on(serve(body))?;
        let url = format!("http://{server}/");
        let guarded =
            Work::Guarded(Client::new(EgressPolicy::public().open(["127.0.0.1".parse()?])), url.clone());
        let plain = Work::Plain(reqwest::Client::builder().no_proxy().build()?, url);
        for crowd in [1, CROWD] {
            if measure.wants("net_send", case) {
                runtime.block_on(compare(case, crowd, &guarded, &plain))?;
            }
        }
    }
    Ok(())
}

/// A server that answers with that many bytes.
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
enum Work {
    Guarded(Client, String),
    Plain(reqwest::Client, String),
}

impl Work {
    async fn once(&self) -> Result<usize, Box<dyn Error + Send + Sync>> {
        Ok(match self {
            Self::Guarded(client, url) => {
                client.send(Request::get(url.as_str())).await?.body.bytes().await?.len()
            }
            Self::Plain(client, url) => client.get(url.as_str()).send().await?.bytes().await?.len(),
        })
    }

    /// The time of one request in microseconds, when so many ask at once.
    async fn round(&self, crowd: usize) -> Result<f64, Box<dyn Error + Send + Sync>> {
        let start = Instant::now();
        let mut askers = JoinSet::new();
        for _ in 0..crowd {
            let work = self.clone();
            askers.spawn(async move {
                for _ in 0..REQUESTS / crowd {
                    work.once().await?;
                }
                Ok::<(), Box<dyn Error + Send + Sync>>(())
            });
        }
        while let Some(asked) = askers.join_next().await {
            asked??;
        }
        Ok(start.elapsed().as_secs_f64() * 1e6 / REQUESTS as f64)
    }
}

async fn compare(case: &str, crowd: usize, guarded: &Work, plain: &Work) -> Done {
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up.
    for round in 0..=ROUNDS {
        let (guarded, plain) = (guarded.round(crowd).await?, plain.round(crowd).await?);
        if round > 0 {
            ours.push(guarded);
            theirs.push(plain);
            ratios.push(guarded / plain);
        }
    }
    let case = format!("{case}_{crowd}");
    let n = ROUNDS * REQUESTS;
    report("net_send", &format!("{case}_guarded"), median(&mut ours), "us", Bar::NONE, n);
    report("net_send", &format!("{case}_plain"), median(&mut theirs), "us", Bar::NONE, n);
    report("net_send", &format!("{case}_ratio"), median(&mut ratios), "x", Bar::floor_and_aim(1.5, 1.1), n);
    Ok(())
}
