//! Programs in the background.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolroom_host::background::{Background, BackgroundError, NewProgram, ProgramStatus};
use toolroom_host::process::{Cause, Status};

use super::{BOUND, Bench, until};

const OWNER: &str = "local";

struct Backstage {
    bench: Bench,
    programs: Background,
    last: AtomicU64,
}

impl Backstage {
    fn new() -> Self {
        let bench = Bench::new();
        let programs = Background::new(bench.supervisor.clone());
        Self { bench, programs, last: AtomicU64::new(0) }
    }

    fn commission(&self, conversation: Option<&str>) -> NewProgram {
        NewProgram {
            id: self.last.fetch_add(1, Ordering::Relaxed) + 1,
            owner: OWNER.to_owned(),
            conversation: conversation.map(str::to_owned),
            command: String::new(),
        }
    }

    async fn start(&self, script: &str) -> u64 {
        let mut order = self.bench.shell(script);
        order.kept_bytes = 1_000;
        let commission = self.commission(None);
        let id = commission.id;
        self.programs.start(commission, order).await.unwrap();
        id
    }

    fn status(&self, id: u64) -> ProgramStatus {
        self.programs.list(OWNER).into_iter().find(|status| status.id == id).unwrap()
    }

    async fn ended(&self, id: u64) -> (Status, Cause) {
        until(BOUND, || self.status(id).end.is_some()).await;
        let end = self.status(id).end.unwrap();
        let ended = Result::as_ref(&end).unwrap();
        (ended.status, ended.cause)
    }

    fn lines(&self, id: u64, offset: u64, limit: u64) -> (String, u64) {
        let page = self.programs.log(OWNER, id, offset, limit).unwrap().stdout;
        (page.text, page.total_lines)
    }
}

#[tokio::test]
async fn what_is_printed_can_be_read_while_it_runs_and_afterwards() {
    let stage = Backstage::new();
    let id = stage
        .start("echo one; echo two; echo no >&2; until [ -e go ]; do sleep 0.01; done; echo three; exit 4")
        .await;
    until(BOUND, || stage.lines(id, 0, 9) == ("one\ntwo\n".to_owned(), 2)).await;
    assert_eq!(stage.lines(id, 1, 1), ("two\n".to_owned(), 2));
    let status = stage.status(id);
    assert!(status.end.is_none() && status.stdout_bytes == 8, "{status:?}");
    assert!(matches!(stage.programs.remove(OWNER, id), Err(BackgroundError::Running { .. })));
    std::fs::write(stage.bench.path().join("go"), "").unwrap();
    assert_eq!(stage.ended(id).await, (Status::Exited(4), Cause::Itself));
    assert_eq!(stage.lines(id, 0, 9), ("one\ntwo\nthree\n".to_owned(), 3));
    assert_eq!(stage.programs.log(OWNER, id, 0, 9).unwrap().stderr.text(99), "no\n");
    stage.programs.remove(OWNER, id).unwrap();
    assert!(stage.programs.list(OWNER).is_empty());
}

#[tokio::test]
async fn lines_keep_their_numbers_when_some_are_not_kept() {
    let stage = Backstage::new();
    let id = stage.start("seq 100000").await;
    stage.ended(id).await;
    assert_eq!(stage.lines(id, 1, 2), ("2\n3\n".to_owned(), 100_000));
    assert_eq!(stage.lines(id, 99_998, 5), ("99999\n100000\n".to_owned(), 100_000));
    let (gap, _) = stage.lines(id, 5_000, 5);
    assert!(gap.contains("bytes left out"), "{gap}");
    assert_eq!(stage.status(id).stdout_bytes, 588_895);
}

#[tokio::test]
async fn killing_one_ends_its_whole_tree() {
    let stage = Backstage::new();
    let id =
        stage.start("sleep 600 & setsid sh -c 'trap \"\" TERM; sleep 600 & sleep 600' & sleep 600").await;
    stage.bench.until_alive(6).await;
    let status = stage.programs.stop(OWNER, id).await.unwrap();
    let end = status.end.unwrap();
    assert_eq!(Result::as_ref(&end).unwrap().cause, Cause::Stopped);
    assert_eq!(stage.bench.alive(), Vec::<String>::new());
    // Once more does no harm.
    stage.programs.stop(OWNER, id).await.unwrap();
}

#[tokio::test]
async fn an_owner_does_not_see_the_programs_of_another() {
    let stage = Backstage::new();
    let id = stage.start("sleep 600").await;
    assert!(stage.programs.list("other").is_empty());
    assert!(matches!(stage.programs.log("other", id, 0, 1), Err(BackgroundError::Unknown { .. })));
    assert!(matches!(stage.programs.stop("other", id).await, Err(BackgroundError::Unknown { .. })));
    assert!(matches!(stage.programs.remove("other", id), Err(BackgroundError::Unknown { .. })));
    assert!(stage.status(id).end.is_none());
}

#[tokio::test]
async fn the_table_is_bounded_and_goes_with_its_owner() {
    let stage = Arc::new(Backstage::new());
    let starts: Vec<_> = (0..20)
        .map(|_| {
            let stage = Arc::clone(&stage);
            tokio::spawn(async move {
                let order = stage.bench.shell("sleep 600 & sleep 600");
                stage.programs.start(stage.commission(None), order).await
            })
        })
        .collect();
    let mut refused = 0;
    for start in starts {
        match start.await.unwrap() {
            Ok(_) => {}
            Err(BackgroundError::Full { most: 16 }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((refused, stage.programs.list(OWNER).len()), (4, 16));
    for status in stage.programs.list(OWNER) {
        stage.programs.stop(OWNER, status.id).await.unwrap();
    }
    let mut last = 0;
    for _ in 0..40 {
        last = stage.start("true").await;
        stage.ended(last).await;
    }
    let ids: Vec<u64> = stage.programs.list(OWNER).iter().map(|status| status.id).collect();
    assert_eq!(ids, (last - 31..=last).collect::<Vec<u64>>());
    let missing = stage.bench.order("no-such-program", &[]);
    let missing = stage.programs.start(stage.commission(None), missing).await;
    assert!(matches!(missing, Err(BackgroundError::Process(_))), "{missing:?}");
    stage.start("sleep 600 & setsid sleep 600 & sleep 600").await;
    stage.bench.until_alive(3).await;
    let Backstage { bench, programs, .. } = Arc::into_inner(stage).unwrap();
    drop(programs);
    until(BOUND, || bench.alive().is_empty()).await;
}

#[tokio::test]
async fn programs_end_with_their_conversation_and_with_no_other() {
    let stage = Backstage::new();
    for conversation in [Some("talk"), Some("talk"), Some("other"), None] {
        let order = stage.bench.shell("setsid sleep 600 & sleep 600");
        stage.programs.start(stage.commission(conversation), order).await.unwrap();
    }
    stage.bench.until_alive(8).await;
    assert_eq!(stage.programs.conversations().into_iter().collect::<Vec<_>>(), ["other", "talk"]);
    assert_eq!(stage.programs.close("talk"), [1, 2]);
    stage.bench.until_alive(4).await;
    let left: Vec<u64> = stage.programs.list(OWNER).iter().map(|status| status.id).collect();
    assert_eq!(left, [3, 4]);
    assert!(stage.programs.close("talk").is_empty());
}

#[tokio::test]
async fn each_end_is_news_until_it_is_noted() {
    let stage = Backstage::new();
    let (long, short) = (stage.start("sleep 600").await, stage.start("exit 4").await);
    stage.ended(short).await;
    assert_eq!(stage.programs.news().iter().map(|news| news.id).collect::<Vec<_>>(), [short]);
    assert_eq!(stage.programs.news().len(), 1);
    stage.programs.note(short);
    assert!(stage.programs.news().is_empty());
    stage.programs.stop(OWNER, long).await.unwrap();
    assert_eq!(stage.programs.news().iter().map(|news| news.id).collect::<Vec<_>>(), [long]);
}
