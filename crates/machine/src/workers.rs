//! Independent pieces of work side by side.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Does all pieces of `work`, begun in their order, on up to `workers` threads. A thread whose piece
/// fails begins no other, the other threads go on; the failure is given once all have come to an end.
pub fn each<T: Sync, E: Send>(
    work: &[T],
    workers: usize,
    one: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(piece) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            one(piece)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers = workers.clamp(1, work.len().max(1));
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        // All are waited for before the first failure is looked for.
        let ends: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        ends.into_iter()
            .try_for_each(|end| end.unwrap_or_else(|why| std::panic::resume_unwind(why)))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn each_piece_is_done_once_whatever_the_number_of_threads() {
        for workers in [0, 1, 3, 1000] {
            let work: Vec<usize> = (0..100).collect();
            let done = Mutex::new(Vec::new());
            let all = each(&work, workers, |&piece| {
                done.lock().expect("no holder panics").push(piece);
                Ok::<(), ()>(())
            });
            let mut done = done.into_inner().expect("no holder panics");
            done.sort_unstable();
            assert_eq!((all, done), (Ok(()), work));
        }
        assert_eq!(each(&[] as &[u8], 4, |_| Err("there is nothing")), Ok(()));
    }

    #[test]
    fn a_failure_ends_its_thread_and_is_told() {
        let done = AtomicUsize::new(0);
        let one = |&piece: &usize| {
            done.fetch_add(1, Ordering::Relaxed);
            if piece == 2 { Err(piece) } else { Ok(()) }
        };
        let work: Vec<usize> = (0..10).collect();
        assert_eq!(each(&work, 1, one), Err(2));
        assert_eq!(done.swap(0, Ordering::Relaxed), 3);
        assert_eq!(each(&work, 2, one), Err(2));
        assert_eq!(done.into_inner(), 10, "the other thread goes on");
    }
}
