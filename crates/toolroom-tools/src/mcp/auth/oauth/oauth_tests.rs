use std::sync::atomic::{AtomicUsize, Ordering};

use toolroom_host::net::{BoxFuture, NetError, Request, Response};

use super::*;

/// An unreachable network; counts requests.
#[derive(Default)]
struct Unreachable(AtomicUsize);

impl Http for Unreachable {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, NetError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        drop(request);
        Box::pin(async { Err(NetError::BadMethod("unreachable".to_owned())) })
    }
}

/// A store that always returns this grant.
struct FixedGrant(Grant);

impl GrantStore for FixedGrant {
    fn load(&self) -> BoxFuture<'_, Result<Option<Grant>, McpError>> {
        Box::pin(async { Ok(Some(self.0.clone())) })
    }

    fn save<'a>(&'a self, _: &'a Grant) -> BoxFuture<'a, Result<(), McpError>> {
        Box::pin(async { Ok(()) })
    }

    fn lock_refresh(&self) -> BoxFuture<'_, Result<RefreshLock, McpError>> {
        Box::pin(async { Ok(Box::new(()) as RefreshLock) })
    }
}

struct Silent;

impl Http for Silent {
    fn send(&self, _request: Request) -> BoxFuture<'_, Result<Response, NetError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_authorization_server_times_out() {
    let began = tokio::time::Instant::now();
    let late = fetch_bounded(&Silent, Request::get("https://issuer.example/x"), 1).await.unwrap_err();
    assert!(late.to_string().contains("within 30 s"), "{late}");
    assert_eq!(began.elapsed(), REQUEST_TIMEOUT);
}

#[tokio::test]
async fn a_token_is_refreshed_only_for_a_request_that_was_rejected_with_it() {
    let url = "https://server.example/mcp".to_owned();
    let client =
        ClientRegistration { id: "us".to_owned(), secret: None, method: "none".to_owned(), redirect: None };
    let grant = Grant {
        server: url.clone(),
        issuer: "https://issuer.example".to_owned(),
        token_endpoint: "https://issuer.example/token".to_owned(),
        client,
        access_token: "new".to_owned(),
        refresh_token: Some("again".to_owned()),
        scope: None,
    };
    let (http, address) = (Arc::new(Unreachable::default()), ServerAddress { url, is_internal: false });
    let opened = OAuthCredentials::open(
        Arc::clone(&http) as Arc<dyn Http>,
        address,
        OAuthClientConfig::default(),
        Arc::new(FixedGrant(grant)),
        None,
    );
    let credentials = opened.await.unwrap();
    let challenge = Challenge { status: 401, ..Challenge::default() };
    let token = |text: &str| Secret::new("token", text.to_owned());
    // Even during a sign-in.
    let signing_in = credentials.signing_in.lock().await;
    assert!(credentials.handle_challenge(&challenge, Some(&token("old"))).await.unwrap());
    assert!(
        credentials.handle_challenge(&challenge, None).await.unwrap(),
        "the request was sent before the grant"
    );
    drop(signing_in);
    assert_eq!(http.0.load(Ordering::Relaxed), 0);
    assert!(credentials.handle_challenge(&challenge, Some(&token("new"))).await.is_err());
    assert!(http.0.load(Ordering::Relaxed) > 0, "the authorization server is asked");
}
