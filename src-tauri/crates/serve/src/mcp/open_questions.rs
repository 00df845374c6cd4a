//! Questions that a client is showing to the person just now. A call that meets one of them waits for
//! that one: a person is not asked the same thing twice.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use openspace_app::ApprovalId;
use tokio::sync::watch;

type Open = HashMap<ApprovalId, watch::Receiver<()>>;

/// What is shown over one connection.
#[derive(Clone, Default)]
pub(super) struct OpenQuestions(Arc<Mutex<Open>>);

impl OpenQuestions {
    /// Puts a question to the client with `ask`, unless it is shown already. It stays open when nobody
    /// waits for it any more: the person may still be reading, and their answer counts whenever it
    /// comes.
    pub(super) fn put<A: Future<Output = ()> + Send + 'static>(
        &self,
        question: &ApprovalId,
        ask: A,
    ) -> impl Future<Output = ()> + Send + use<A> {
        let mut open = self.open();
        let shown = open.get(question).cloned();
        let mut answered = shown.unwrap_or_else(|| {
            let (sender, answered) = watch::channel(());
            open.insert(question.clone(), answered.clone());
            let (questions, question) = (self.clone(), question.clone());
            tokio::spawn(async move {
                let _shown = Shown {
                    questions,
                    question,
                    _sender: sender,
                };
                ask.await;
            });
            answered
        });
        async move {
            // Nothing is ever sent: the end of the sender is the answer.
            let _answered = answered.changed().await;
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question is shown until this is dropped, however that comes.
struct Shown {
    questions: OpenQuestions,
    question: ApprovalId,
    _sender: watch::Sender<()>,
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.questions.open().remove(&self.question);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;

    /// However many calls meet a question, it is put once; once it was answered, it can be put again.
    #[tokio::test]
    async fn a_question_is_shown_once_at_a_time() {
        let questions = OpenQuestions::default();
        let question: ApprovalId = "kr8nwrb85q".parse().expect("an id");
        let (shown, press) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let put = || {
            let (shown, press) = (Arc::clone(&shown), Arc::clone(&press));
            questions.put(&question, async move {
                shown.fetch_add(1, Ordering::Relaxed);
                press.notified().await;
            })
        };
        drop(put());
        let (first, second) = (put(), put());
        press.notify_one();
        tokio::join!(first, second);
        assert_eq!(shown.load(Ordering::Relaxed), 1);
        press.notify_one();
        put().await;
        assert_eq!(shown.load(Ordering::Relaxed), 2);
    }
}
