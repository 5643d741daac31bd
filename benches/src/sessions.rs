//! Many sessions in one process, each a task of its own, against a bare loop that starts the
//! same programs in the same containment.

use crate::bare;
use crate::error::{Doing, Unmeasured};
use crate::live::Live;
use crate::program::{self, Waiting};
use crate::rig::{Parts, Rig};
use akbench::contract::events::Observer;
use akbench_recorded::peak;
use akbench_recorded::row::{Better, Goal, Row};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How many sessions run at the same time.
const CONCURRENCY: [usize; 4] = [1, 2, 8, 64];

/// Rate of sessions over the rate of the bare loop, at the highest concurrency.
const RATIO: f64 = 0.8;

/// Host memory of a live session, in MiB.
const LIVE: f64 = 1.0;

/// Sessions that are alive at once while memory is measured.
const AT_ONCE: usize = 64;

/// Sessions of each kind that are started in turns, so that both see the same machine.
const TURNS: usize = 5;

/// Sessions of the short and of the long process whose costs are compared.
const SHORT: usize = 100;

/// Measures; `count` sessions at each concurrency, `long` sessions for the cost in the long
/// run.
///
/// No run is removed in between: before an ext4 without a journal takes an inode, it passes over each
/// that was freed within the last minutes, and that would be measured instead.
///
/// # Errors
///
/// If a session fails.
pub async fn measure(parts: &Parts, count: usize, long: usize) -> Result<Vec<Row>, Unmeasured> {
    let rig = Arc::new(Rig::new(parts)?);
    let trivial = program::trivial(rig.folder()).doing("write a program")?;
    let bubblewrap = bare::bubblewrap();
    let mut rows = Vec::new();
    for concurrency in CONCURRENCY {
        let batch = (count / TURNS).max(concurrency.min(count)).max(1);
        let (mut sessions, mut bares, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        // Once unmeasured, with few.
        rates(&rig, &trivial, concurrency.min(8), concurrency.min(8)).await?;
        for _ in 0..TURNS {
            let one = bare_rate(bubblewrap.clone(), &trivial, batch, concurrency).await?;
            let other = rates(&rig, &trivial, batch, concurrency).await?;
            bares.push(one);
            sessions.push(other);
            ratios.push(other / one);
        }
        let row = |end: &str, words: &str, unit, samples: &[f64]| {
            let id = format!("sessions.{concurrency}.{end}");
            let words = format!("{concurrency} at a time: {words}");
            Row::of(id, words, unit, Better::Higher, samples)
        };
        rows.extend(row("rate", "sessions", "1/s", &sessions));
        rows.extend(row("bare", "bare loop", "1/s", &bares));
        let ratio = row("ratio", "sessions / bare loop", "", &ratios);
        let most = CONCURRENCY.iter().max() == Some(&concurrency);
        rows.extend(ratio.map(|row| match most {
            true => row.with_goal(Goal::AtLeast(RATIO)),
            false => row,
        }));
    }
    rows.extend(growth(&rig, &trivial, long).await?);
    rows.extend(memory(&rig).await?);
    Ok(rows)
}

/// Sessions per second.
async fn rates(
    rig: &Arc<Rig>,
    program: &std::path::Path,
    count: usize,
    concurrency: usize,
) -> Result<f64, Unmeasured> {
    let (rig, program) = (Arc::clone(rig), program.to_owned());
    let session = move || {
        let (rig, program) = (Arc::clone(&rig), program.clone());
        async move { rig.session(&program, None).await.map(drop) }
    };
    rate(count, concurrency, session).await
}

async fn bare_rate(
    bubblewrap: Option<PathBuf>,
    program: &std::path::Path,
    count: usize,
    concurrency: usize,
) -> Result<f64, Unmeasured> {
    let program = program.to_owned();
    let session = move || {
        let (bubblewrap, program) = (bubblewrap.clone(), program.clone());
        async move { bare::session(bubblewrap.as_deref(), &program).await }
    };
    rate(count, concurrency, session).await
}

async fn rate<F>(
    count: usize,
    concurrency: usize,
    session: impl Fn() -> F,
) -> Result<f64, Unmeasured>
where
    F: Future<Output = Result<(), Unmeasured>> + Send + 'static,
{
    let begin = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..count {
        if running.len() >= concurrency {
            finish_one(&mut running).await?;
        }
        running.spawn(session());
    }
    while !running.is_empty() {
        finish_one(&mut running).await?;
    }
    #[allow(clippy::cast_precision_loss)] // A few thousand.
    let count = count as f64;
    Ok(count / begin.elapsed().as_secs_f64())
}

async fn finish_one(running: &mut JoinSet<Result<(), Unmeasured>>) -> Result<(), Unmeasured> {
    match running.join_next().await {
        None => Ok(()),
        Some(joined) => joined.doing("wait for a session")?,
    }
}

/// Does a session cost more after many others, in time or in memory that stays?
async fn growth(
    rig: &Arc<Rig>,
    program: &std::path::Path,
    long: usize,
) -> Result<Vec<Row>, Unmeasured> {
    let mut costs = VecDeque::new();
    let mut after_short = 0;
    for begun in (0..long.max(2 * SHORT)).step_by(SHORT) {
        if begun == SHORT {
            after_short = peak::anonymous_bytes().doing("read the memory in use")?;
        }
        let rate = rates(rig, program, SHORT, 2).await?;
        costs.push_back(1e3 / rate);
    }
    let grown = peak::anonymous_bytes()
        .doing("read the memory in use")?
        .saturating_sub(after_short);
    let many = costs.len() * SHORT;
    let (Some(first), Some(last)) = (costs.front().copied(), costs.back().copied()) else {
        return Ok(Vec::new());
    };
    #[allow(clippy::cast_precision_loss)] // Kibibytes, to one decimal.
    let kept = grown as f64 / 1024.0 / (many - SHORT) as f64;
    let rows = [
        Row::of(
            "sessions.first",
            format!("the first {SHORT} of {many} sessions, 2 at a time: each"),
            "ms",
            Better::Lower,
            &[first],
        ),
        Row::of(
            "sessions.last",
            format!("the last {SHORT} of {many} sessions, 2 at a time: each"),
            "ms",
            Better::Lower,
            &[last],
        ),
        Row::of(
            "sessions.kept",
            "memory that a finished session leaves behind",
            "KiB",
            Better::Lower,
            &[kept],
        ),
    ];
    Ok(rows.into_iter().flatten().collect())
}

/// Host memory of a session whose agent is at work.
async fn memory(rig: &Arc<Rig>) -> Result<Vec<Row>, Unmeasured> {
    let waiting = Waiting::new(rig.folder()).doing("write a program that waits")?;
    let before = peak::anonymous_bytes().doing("read the memory in use")?;
    let live = Arc::new(Live::new());
    let mut running = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (rig, program) = (Arc::clone(rig), waiting.program.clone());
        let observer: Arc<dyn Observer> = Arc::clone(&live) as Arc<dyn Observer>;
        running.spawn(async move { rig.session(&program, Some(observer)).await.map(drop) });
    }
    let all = live.reached(AT_ONCE);
    if tokio::time::timeout(Duration::from_secs(60), all)
        .await
        .is_err()
    {
        // One that failed says why.
        let gate = waiting.open().doing("open the gate")?;
        while !running.is_empty() {
            finish_one(&mut running).await?;
        }
        drop(gate);
        return Err(Unmeasured(format!(
            "{AT_ONCE} sessions were not at work within a minute"
        )));
    }
    let during = peak::anonymous_bytes().doing("read the memory in use")?;
    let gate = waiting.open().doing("open the gate")?;
    while !running.is_empty() {
        finish_one(&mut running).await?;
    }
    drop(gate);
    #[allow(clippy::cast_precision_loss)] // Mebibytes, to two decimals.
    let each = during.saturating_sub(before) as f64 / f64::from(1 << 20) / AT_ONCE as f64;
    let row = Row::of(
        "sessions.memory",
        format!("host memory of a live session, {AT_ONCE} at once"),
        "MiB",
        Better::Lower,
        &[each],
    );
    Ok(row
        .map(|row| row.with_goal(Goal::AtMost(LIVE)))
        .into_iter()
        .collect())
}
