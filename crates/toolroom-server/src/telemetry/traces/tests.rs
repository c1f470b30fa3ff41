//! Spans that cannot be exported.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::Arc;

use toolroom::redact::Secret;

use super::settings::Collector;
use super::tracer::{RequestEnd, Tracer};
use crate::metrics::Metrics;

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test listens for connections")]
async fn a_collector_without_an_egress_rule_gets_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let metrics = Metrics::new();
    let collector = Collector {
        url: format!("http://{}/v1/traces", listener.local_addr().unwrap()),
        opening: None,
        headers: vec![("authorization".to_owned(), Secret::new("key", "unused"))],
        service: "toolroom".to_owned(),
    };
    let (tracer, task) = Tracer::start(collector, Arc::clone(&metrics), |text| text.into());
    let started = toolroom::clock::Timestamp::from_micros(1);
    let end = RequestEnd {
        method: "GET",
        route: None,
        started,
        took: std::time::Duration::ZERO,
        status: Some(200),
    };
    tracer.request(Tracer::receive(&axum::http::HeaderMap::new()), end);
    tracer.finish(task).await;
    assert!(metrics.page(0, 0).contains("trace_spans_total{fate=\"lost\"} 1"), "{}", metrics.page(0, 0));
    let knocked = listener.accept().map(|(mut stream, _)| stream.read(&mut [0; 64]));
    assert!(knocked.is_err(), "{knocked:?}");
}
