//! Work that waits for the file system, in the midst of what must not wait.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does such work while the other sessions go on that share the runtime's threads: a disk that
/// is slow to answer, or a workspace of many files, holds up its own session alone. Not for what
/// is polled in a `LocalSet`: tokio allows it nowhere there.
pub(super) fn while_others_go_on<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // There are no other threads that could go on.
        _ => work(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;
    use tokio::runtime::Builder;

    #[test]
    fn a_task_that_waits_for_the_disk_holds_up_no_other_on_the_only_thread() {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap();
        let (sender, receiver) = mpsc::channel();
        let waiting = move || receiver.recv_timeout(Duration::from_secs(30));
        let waiting = runtime.spawn(async move { while_others_go_on(waiting) });
        // Sent by a task of the thread that waits.
        runtime.spawn(async move { sender.send(7) });
        assert_eq!(runtime.block_on(waiting).unwrap(), Ok(7));
    }

    #[test]
    fn without_threads_to_go_on_it_is_simply_done() {
        assert_eq!(while_others_go_on(|| 7), 7);
        let runtime = Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(async { while_others_go_on(|| 7) }), 7);
    }
}
