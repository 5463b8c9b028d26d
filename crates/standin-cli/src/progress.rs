//! How far a long verb is: a bar with rate and time left on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Plain lines come at most this often, so that a log of an hour stays readable.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Progress on standard error; standard output is for results.
pub(crate) struct Progress {
    view: View,
    total: u64,
    done: u64,
    started: Instant,
}

enum View {
    Bar(ProgressBar),
    Lines { last: Instant, what: &'static str },
}

impl Progress {
    /// `what` names the things counted, in the plural.
    pub(crate) fn start(total: u64, what: &'static str) -> Self {
        let now = Instant::now();
        let view = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            let template = format!(
                "{{bar:30}} {{pos}}/{{len}} {what}  {{per_sec}}  {{eta}} left  {{wide_msg}}"
            );
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style);
            }
            View::Bar(bar)
        } else {
            View::Lines { last: now, what }
        };
        Self {
            view,
            total,
            done: 0,
            started: now,
        }
    }

    /// One more is done.
    pub(crate) fn advance(&mut self) {
        self.reach(self.done + 1);
    }

    /// This many are done.
    pub(crate) fn reach(&mut self, done: u64) {
        self.done = done;
        match &mut self.view {
            View::Bar(bar) => bar.set_position(done),
            View::Lines { last, what } => {
                if last.elapsed() >= LINE_INTERVAL {
                    *last = Instant::now();
                    let line = line(self.done, self.total, what, self.started.elapsed());
                    eprintln!("{line}");
                }
            }
        }
    }

    /// How many are done.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// Something that the user should see now.
    pub(crate) fn note(&self, text: &str) {
        match &self.view {
            View::Bar(bar) => bar.println(text),
            View::Lines { .. } => eprintln!("{text}"),
        }
    }

    /// Takes the bar off the screen; the summary says the rest.
    pub(crate) fn finish(&self) {
        if let View::Bar(bar) = &self.view {
            bar.finish_and_clear();
        }
    }
}

/// `120/600 pipelines, 60/s, 8 s left`.
fn line(done: u64, total: u64, what: &str, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(1e-9);
    let left = total.saturating_sub(done) as f64 / rate.max(1e-9);
    format!("{done}/{total} {what}, {rate:.0}/s, {left:.0} s left")
}

#[cfg(test)]
mod tests {
    use super::line;
    use std::time::Duration;

    #[test]
    fn a_plain_line_tells_count_rate_and_time_left() {
        // 120 in 2 s is 60 a second; the other 480 take 8 s.
        assert_eq!(
            line(120, 600, "pipelines", Duration::from_secs(2)),
            "120/600 pipelines, 60/s, 8 s left"
        );
    }
}
