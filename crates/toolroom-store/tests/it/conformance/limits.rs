//! Scopes of rate limits and artifacts.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::ledger::{
    Artifact, ArtifactId, Artifacts, BeginCall, BeginError, CallRecord, CloseCall, Ledger, RateKey, RateLimit,
};
use toolroom::scope::Scope;
use toolroom::testing::ManualClock;

use crate::database::{call, done};

pub(super) async fn limits_count_who_they_say(ledger: &impl Ledger, clock: &ManualClock) {
    let project = |max, per| RateLimit { max, per: Duration::from_secs(per), key: RateKey::Project };
    let attempt = async |scope: &Scope, tool: &str, limits: &[RateLimit]| {
        let record = CallRecord { tool: tool.into(), ..call(clock, scope) };
        ledger.begin(BeginCall { record, rates: limits.to_vec(), grant: None }).await
    };
    let limited_for = |result: Result<(), BeginError>| match result {
        Err(BeginError::RateLimited { retry_after, .. }) => Some(retry_after.as_secs()),
        other => panic!("not limited: {other:?}"),
    };
    let (ana, ben, nobody) =
        (Scope::user("rates", "ana"), Scope::user("rates", "ben"), Scope::project("rates"));
    let two = [RateLimit::per_minute(2)];
    attempt(&ana, "t", &two).await.unwrap();
    clock.advance(Duration::from_secs(10));
    attempt(&ana, "t", &two).await.unwrap();
    assert_eq!(limited_for(attempt(&ana, "t", &two).await), Some(50));
    attempt(&ben, "t", &two).await.unwrap();
    attempt(&nobody, "t", &two).await.unwrap();
    attempt(&nobody, "t", &two).await.unwrap();
    assert_eq!(
        limited_for(attempt(&nobody, "t", &two).await),
        Some(60),
        "calls without a user count together"
    );
    attempt(&ana, "other", &two).await.unwrap();
    attempt(&Scope::user("other rates", "ana"), "t", &two).await.unwrap();
    // Five have begun in the project: two by ana, one by ben, two without a user.
    attempt(&ben, "t", &[project(6, 60)]).await.unwrap();
    assert_eq!(limited_for(attempt(&ben, "t", &[project(6, 60)]).await), Some(50));
    assert_eq!(limited_for(attempt(&ben, "t", &[project(100, 60), project(0, 7)]).await), Some(7));
    clock.advance(Duration::from_secs(50));
    attempt(&ana, "t", &two).await.unwrap();
}

pub(super) async fn artifacts_belong_to_their_scope(ledger: &(impl Ledger + Artifacts), clock: &ManualClock) {
    let ana = Scope::user("artifacts", "ana");
    let keep = async |scope: &Scope, media_type: &'static str, bytes: &[u8]| {
        let record = call(clock, scope);
        let artifact = Artifact {
            id: ArtifactId::fresh(clock),
            call: record.id.clone(),
            scope: scope.clone(),
            media_type: media_type.into(),
            bytes: bytes.to_vec().into(),
            kept_at: clock.now(),
        };
        let close = CloseCall { artifacts: vec![artifact.clone()], ..done(&record) };
        ledger.close(close).await.unwrap();
        artifact
    };
    let text = keep(&ana, Artifact::TEXT, b"whole\0text").await;
    let picture = keep(&ana, "image/png", b"\x89PNG\xff").await;
    let found = ledger.artifact(&ana, &picture.id).await.unwrap().unwrap();
    assert_eq!((found.media_type.as_ref(), &found.bytes), ("image/png", &picture.bytes));
    let json = keep(&ana, Artifact::JSON, b"[1,2,3]").await;
    let same = keep(&Scope::user("artifacts", "ben"), Artifact::JSON, b"[1,2,3]").await;
    let empty = keep(&ana, Artifact::TEXT, b"").await;
    for artifact in [&text, &json, &same, &empty] {
        let whole = Scope::project("artifacts");
        assert_eq!(ledger.artifact(&artifact.scope, &artifact.id).await.unwrap().as_ref(), Some(artifact));
        assert_eq!(ledger.artifact(&whole, &artifact.id).await.unwrap().as_ref(), Some(artifact));
    }
    assert_eq!(ledger.artifact(&ana, &same.id).await.unwrap(), None, "another user's");
    assert_eq!(ledger.artifact(&Scope::project("other"), &json.id).await.unwrap(), None, "another project's");
    assert_eq!(ledger.artifact(&ana, &ArtifactId::new("art_of_nobody")).await.unwrap(), None);
}
