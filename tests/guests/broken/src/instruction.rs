//! The breaks of the instruction on its way to the agent.

use crate::breaks::Break;

/// As many characters of a long instruction are kept.
const KEPT: usize = 100_000;

/// The instruction, as this break changes it.
pub fn changed(broken: Break, text: String) -> String {
    match broken {
        Break::EmptyFilled if text.is_empty() => "Say hello.".to_owned(),
        Break::LongCut => text.chars().take(KEPT).collect(),
        Break::DashStripped => text.trim_start_matches('-').to_owned(),
        Break::VariablesExpanded => text.replace("$HOME", "/home"),
        Break::LineEndsUnified => text.replace("\r\n", "\n"),
        Break::NulEnds => text.split('\0').next().unwrap_or_default().to_owned(),
        Break::BellDropped => text.replace('\u{7}', ""),
        Break::SeparatorsBecomeNewlines => text.replace(['\u{2028}', '\u{2029}'], "\n"),
        Break::MathFolded => text.replace(|c| ('\u{1d400}'..='\u{1d7ff}').contains(&c), "?"),
        Break::AccentsComposed => text.replace("e\u{301}", "é"),
        Break::MarkDropped => text.trim_start_matches('\u{feff}').to_owned(),
        _ => text,
    }
}
