//! Connections: so many at a time, and none for longer than its request takes.
//!
//! Whoever sends a request slowly, or nothing, or does not take the answer, keeps a file open and maybe a
//! page in memory. So a connection that waits is closed after a while, and the one that has waited
//! longest at once where another comes and there is no room.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Request, Response};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// How long the head of a request may take, and a connection may wait for the next one.
const TO_ASK: Duration = Duration::from_secs(15);
/// How long a request may take from its head to the last byte of its answer.
const TO_ANSWER: Duration = Duration::from_secs(120);
/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Most connections, where there are files for them.
const MOST: usize = 1024;
/// Files that are kept for all else: databases, reviews, pages.
pub(super) const OTHER_FILES: usize = 64;
/// A connection that cannot be taken is tried again after this.
const PAUSE: Duration = Duration::from_millis(20);

/// What a connection is doing, since when.
#[derive(Clone, Copy, Debug)]
enum Doing {
    Waiting(Instant),
    Answering(Instant),
}

#[derive(Debug)]
struct Connection {
    doing: Mutex<Doing>,
    close: Notify,
}

impl Connection {
    fn doing(&self) -> Doing {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, doing: Doing) {
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing;
    }

    fn is_late(&self) -> bool {
        match self.doing() {
            Doing::Waiting(since) => since.elapsed() > TO_ASK,
            Doing::Answering(since) => since.elapsed() > TO_ANSWER,
        }
    }
}

/// The connections that are open.
#[derive(Debug, Default)]
struct Connections(Mutex<Vec<Arc<Connection>>>);

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes those that take too long.
    fn close_late(&self) {
        self.lock().iter().filter(|it| it.is_late()).for_each(|late| late.close.notify_one());
    }

    /// Takes one more; the one that has waited longest makes room for it. `None` where none waits.
    fn one_more(&self, most: usize) -> Option<Arc<Connection>> {
        let mut open = self.lock();
        if open.len() >= most {
            let waiting = |it: &Arc<Connection>| match it.doing() {
                Doing::Waiting(since) => Some((since, Arc::clone(it))),
                Doing::Answering(_) => None,
            };
            let (_, longest) = open.iter().filter_map(waiting).min_by_key(|(since, _)| *since)?;
            longest.close.notify_one();
            // It is gone in a moment; there are files for both until then.
            open.retain(|it| !Arc::ptr_eq(it, &longest));
        }
        let doing = Mutex::new(Doing::Waiting(Instant::now()));
        let connection = Arc::new(Connection { doing, close: Notify::new() });
        open.push(Arc::clone(&connection));
        Some(connection)
    }

    fn remove(&self, connection: &Arc<Connection>) {
        self.lock().retain(|it| !Arc::ptr_eq(it, connection));
    }
}

/// Serves for ever.
pub(super) async fn serve(listener: TcpListener, router: Router) -> Infallible {
    let open = Arc::new(Connections::default());
    let most = most_connections();
    let looked = Arc::clone(&open);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(LOOK).await;
            looked.close_late();
        }
    });
    loop {
        match listener.accept().await {
            Ok((stream, _)) => match open.one_more(most) {
                Some(connection) => {
                    tokio::spawn(answer(stream, router.clone(), Arc::clone(&open), connection));
                }
                None => turn_away(&stream),
            },
            // No file is left, or the other side has gone by now.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// As many as there are files for.
fn most_connections() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(files).unwrap_or(usize::MAX).saturating_sub(OTHER_FILES).clamp(1, MOST)
}

/// Says that all connections are busy, as far as that can be said at once.
fn turn_away(stream: &TcpStream) {
    const BUSY: &[u8] =
        b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
                          Content-Length: 0\r\n\r\n";
    // Who does not take it in gets nothing.
    let _ = stream.try_write(BUSY);
}

async fn answer(
    stream: TcpStream,
    router: Router,
    open: Arc<Connections>,
    connection: Arc<Connection>,
) {
    let router = TowerToHyperService::new(router);
    let own = &connection;
    let service = service_fn(move |request: Request<Incoming>| {
        own.set(Doing::Answering(Instant::now()));
        let (answered, asker) = (router.call(request.map(Body::new)), Arc::clone(own));
        async move {
            let answer: Response<Body> = match answered.await {
                Ok(answer) => answer,
                Err(never) => match never {},
            };
            Ok::<_, Infallible>(answer.map(|body| Held::new(body, Answered(asker))))
        }
    });
    tokio::select! {
        // Whoever breaks off or speaks something else is of no interest.
        _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service) => {}
        () = connection.close.notified() => {}
    }
    open.remove(&connection);
}

/// Says that the connection waits again once its answer is sent.
struct Answered(Arc<Connection>);

impl Drop for Answered {
    fn drop(&mut self) {
        self.0.set(Doing::Waiting(Instant::now()));
    }
}

/// Bytes of an answer that are handed over at a time: who is handed all of a page keeps it in memory until it
/// is taken, and nobody could tell.
const PIECE: usize = 64 << 10;

/// The content of an answer, with what is to be kept until nearly all of it is sent.
pub(super) struct Held<T> {
    body: Body,
    /// What the body gave and is not handed over yet.
    rest: Bytes,
    _held: T,
}

impl<T> Held<T> {
    pub(super) fn new(body: Body, held: T) -> Held<T> {
        Held { body, rest: Bytes::new(), _held: held }
    }
}

impl<T: Unpin> HttpBody for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                end => return Poll::Ready(end),
            }
        }
        let piece = self.rest.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (body, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_waited_longest_makes_room_and_no_other() {
        let open = Connections::default();
        let [first, second] = [(); 2].map(|()| open.one_more(2).expect("there is room"));
        first.set(Doing::Answering(Instant::now()));
        let third = open.one_more(2).expect("the second waits");
        assert!(open.lock().iter().all(|it| !Arc::ptr_eq(it, &second)));
        third.set(Doing::Answering(Instant::now()));
        assert!(open.one_more(2).is_none(), "both are answering");
        open.remove(&first);
        assert!(open.one_more(2).is_some());
    }

    #[test]
    fn who_takes_too_long_is_late_and_nobody_else() {
        let doing = |doing| Connection { doing: Mutex::new(doing), close: Notify::new() };
        let ago = |time| Instant::now().checked_sub(time).expect("this machine runs for minutes");
        let longer = TO_ASK + LOOK;
        assert!(doing(Doing::Waiting(ago(longer))).is_late());
        assert!(!doing(Doing::Waiting(ago(LOOK))).is_late());
        assert!(!doing(Doing::Answering(ago(longer))).is_late());
        assert!(doing(Doing::Answering(ago(TO_ANSWER + LOOK))).is_late());
    }
}
