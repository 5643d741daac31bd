//! Telling people what goes on while the agent works.

use crate::contract::events::{Level, Observer, RunEvent};
use crate::contract::observed::{Phase, TokenUsage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Not at all.
    Quiet,
    /// One line for each thing that happens: a log file, a pipe, a CI.
    Lines,
    /// One line that changes.
    Live,
}

impl Style {
    /// What suits standard error.
    pub fn of_stderr(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Self::Quiet,
            (false, true) if !dumb => Self::Live,
            (false, _) => Self::Lines,
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    phase: Option<Phase>,
    turns: u32,
    tools: u32,
    tokens: Option<u64>,
    last: String,
}

/// Watches a run.
pub struct Progress {
    style: Style,
    started: Instant,
    counts: Mutex<Counts>,
    bar: ProgressBar,
}

impl Progress {
    /// Begins to tell.
    pub fn new(style: Style) -> Self {
        let bar = match style {
            Style::Live => {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
                // indicatif leaves colours out by itself where NO_COLOR is set.
                if let Ok(template) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
                    bar.set_style(template);
                }
                bar.enable_steady_tick(Duration::from_millis(120));
                bar
            }
            Style::Quiet | Style::Lines => ProgressBar::hidden(),
        };
        Self {
            style,
            started: Instant::now(),
            counts: Mutex::default(),
            bar,
        }
    }

    /// Clears the line that changes.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, text: &str) {
        if self.style == Style::Lines {
            eprintln!("{:>7.1}s  {text}", self.started.elapsed().as_secs_f32());
        }
    }
}

impl Observer for Progress {
    fn observe(&self, event: &RunEvent) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = take(&mut counts, event) {
            self.line(&text);
        }
        if self.style == Style::Live {
            self.bar.set_message(live(&counts));
        }
    }
}

/// Counts an event; returns the line that a log deserves.
fn take(counts: &mut Counts, event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::Phase { phase } => {
            counts.phase = Some(*phase);
            Some(phase_name(*phase).to_owned())
        }
        RunEvent::AgentVersion { version } => Some(format!("agent version {version}")),
        RunEvent::TurnStarted => {
            counts.turns += 1;
            Some(format!("turn {}", counts.turns))
        }
        RunEvent::TurnFinished { usage } => {
            counts.tokens = usage.as_ref().and_then(total).or(counts.tokens);
            None
        }
        RunEvent::Usage { usage } => {
            counts.tokens = total(usage).or(counts.tokens);
            None
        }
        RunEvent::Message { text } => {
            counts.last = shorten(text);
            Some(format!("message: {}", counts.last))
        }
        RunEvent::ToolStarted { call } => {
            counts.tools += 1;
            counts.last.clone_from(&call.name);
            Some(format!("tool {}: {}", counts.tools, call.name))
        }
        RunEvent::ToolFinished { .. } | RunEvent::Other { .. } => None,
        RunEvent::Warning { text } => Some(format!("warning: {}", shorten(text))),
        RunEvent::Stopping { reason } => {
            counts.last = format!("stopping: {reason}");
            Some(counts.last.clone())
        }
        RunEvent::Log { level, text } if *level >= Level::Warn => {
            Some(format!("adapter: {}", shorten(text)))
        }
        RunEvent::Log { .. } => None,
    }
}

fn live(counts: &Counts) -> String {
    let phase = counts.phase.map_or("", phase_name);
    let mut parts = vec![phase.to_owned()];
    if counts.turns > 0 {
        parts.push(format!("turn {}", counts.turns));
        parts.push(format!("{} tool calls", counts.tools));
    }
    if let Some(tokens) = counts.tokens {
        parts.push(format!("{tokens} tokens"));
    }
    if !counts.last.is_empty() {
        parts.push(counts.last.clone());
    }
    parts.join(" · ")
}

fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Plan => "planning",
        Phase::Validate => "checking the environment",
        Phase::Start => "preparing the session",
        Phase::Work => "working",
        Phase::Cancel => "cancelling",
        Phase::Collect => "collecting observations",
        Phase::Close => "closing",
    }
}

fn total(usage: &TokenUsage) -> Option<u64> {
    usage
        .total_tokens
        .or(Some(usage.input_tokens? + usage.output_tokens?))
}

/// The first line, cut to what fits on a terminal, without control characters: the text may
/// be the model's, and must not move the cursor.
fn shorten(text: &str) -> String {
    const MOST: usize = 80;
    let line = text.lines().next().unwrap_or("");
    let clean: String = line
        .chars()
        .filter(|c| !c.is_control())
        .take(MOST + 1)
        .collect();
    if clean.chars().count() > MOST {
        let cut: String = clean.chars().take(MOST).collect();
        return format!("{cut}…");
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn a_models_text_cannot_move_the_cursor() {
        assert_eq!(shorten("a\u{1b}[2Jb\nsecond"), "a[2Jb");
        assert_eq!(shorten(&"x".repeat(100)).chars().count(), 81);
    }
}
