use std::sync::atomic::{AtomicUsize, Ordering};

use toolroom_host::net::{BoxFuture, NetError, Request, Response};

use super::*;

/// Nobody to ask; counts who tries.
#[derive(Default)]
struct Nobody(AtomicUsize);

impl Http for Nobody {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, NetError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        drop(request);
        Box::pin(async { Err(NetError::BadMethod("nobody is there".to_owned())) })
    }
}

/// One grant, whoever asks.
struct One(Grant);

impl Grants for One {
    fn kept(&self) -> BoxFuture<'_, Result<Option<Grant>, McpError>> {
        Box::pin(async { Ok(Some(self.0.clone())) })
    }

    fn keep<'a>(&'a self, _: &'a Grant) -> BoxFuture<'a, Result<(), McpError>> {
        Box::pin(async { Ok(()) })
    }

    fn turn(&self) -> BoxFuture<'_, Result<Turn, McpError>> {
        Box::pin(async { Ok(Box::new(()) as Turn) })
    }
}

#[tokio::test]
async fn a_token_is_renewed_by_who_was_refused_with_it_and_by_nobody_who_showed_an_older_one() {
    let url = "https://server.example/mcp".to_owned();
    let client = Registered { id: "us".to_owned(), secret: None, method: "none".to_owned(), redirect: None };
    let grant = Grant {
        server: url.clone(),
        issuer: "https://issuer.example".to_owned(),
        token_endpoint: "https://issuer.example/token".to_owned(),
        client,
        access_token: "new".to_owned(),
        refresh_token: Some("again".to_owned()),
        scope: None,
    };
    let (http, site) = (Arc::new(Nobody::default()), Site { url, is_internal: false });
    let opened = OAuthDoor::open(
        Arc::clone(&http) as Arc<dyn Http>,
        site,
        Known::default(),
        Arc::new(One(grant)),
        None,
    );
    let door = opened.await.unwrap();
    let challenge = Challenge { status: 401, ..Challenge::default() };
    let shown = |text: &str| Secret::new("token", text.to_owned());
    // Even while somebody is asked.
    let asking = door.asking.lock().await;
    assert!(door.challenged(&challenge, Some(&shown("old"))).await.unwrap());
    assert!(door.challenged(&challenge, None).await.unwrap(), "it was asked before anything was granted");
    drop(asking);
    assert_eq!(http.0.load(Ordering::Relaxed), 0);
    assert!(door.challenged(&challenge, Some(&shown("new"))).await.is_err());
    assert!(http.0.load(Ordering::Relaxed) > 0, "who gives out tokens is asked");
}
