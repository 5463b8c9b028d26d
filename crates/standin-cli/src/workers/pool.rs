//! Worker processes: a driver that crashes, hangs or eats memory takes one of them with it,
//! not the run.
//!
//! Each worker has a few requests in flight and answers them in order, so the first one
//! without an answer is the one at fault when a worker goes. It is retried once, alone in a
//! fresh process, after everything else is done; the others are given to other workers.

use crate::workers::machine;
use crate::workers::signals::StopSignal;
use crate::workers::wire::{self, Answer, Made, Order, Ready, Reply, Request};
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Requests that a worker holds: the one it is at and the next ones, so that it never waits
/// for the command.
const DEPTH: usize = 3;

/// How often limits are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long a worker may take to open its device.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A worker that the driver took down this often before its first answer means that the
/// device itself is broken.
const STARTS_THAT_FAIL: u32 = 3;

/// What a worker may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Workers at once.
    pub(crate) workers: usize,
    /// Resident bytes a worker.
    pub(crate) memory: u64,
    /// Resident bytes of one that is alone.
    pub(crate) memory_alone: u64,
    /// Time for one pipeline.
    pub(crate) time: Duration,
}

/// What took a worker down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fault {
    /// The process ended by itself.
    Crash,
    /// It was still at the pipeline when its time was over.
    Hang,
    /// It held more memory than it may.
    Memory,
}

/// How one request ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The worker answered.
    Answered(Made),
    /// It took its worker down twice, the second time alone.
    Fault { kind: Fault, detail: String },
}

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PoolError {
    /// A process could not be started or spoken to.
    #[error("worker process: {0}")]
    Process(#[from] io::Error),
    /// The worker has no device.
    #[error("{0}")]
    Unusable(String),
    /// The driver goes down before it is asked for anything.
    #[error("the driver fails while the device is opened: {0}")]
    Start(String),
    /// A worker answered what it was not asked.
    #[error("a worker answered a request that it was not given")]
    Protocol,
}

/// What a run needs from outside.
pub(crate) trait Desk {
    /// Why this side cannot go on.
    type Error: From<PoolError>;
    /// The next pipeline to build.
    fn next(&mut self) -> Result<Option<Request>, Self::Error>;
    /// A request took its worker down. It will be tried once more, alone.
    fn suspect(&mut self, request: &Request, kind: Fault, detail: &str) -> Result<(), Self::Error>;
    /// One request came to its end.
    fn ended(&mut self, request: Request, ended: Ended) -> Result<(), Self::Error>;
    /// Requests are done together: they are in one segment, with the driver's time for each in
    /// nanoseconds. Without a blob the driver keeps nothing of them.
    fn sealed(
        &mut self,
        requests: Vec<(Request, u64)>,
        blob: Option<Vec<u8>>,
    ) -> Result<(), Self::Error>;
    /// Called at least every [`TICK`].
    fn tick(&mut self) -> Result<(), Self::Error>;
}

struct Worker {
    child: Child,
    stream: UnixStream,
    incarnation: u64,
    /// Index of the journal page.
    place: usize,
    state: State,
    held: VecDeque<Request>,
    /// Built, and in a segment that the worker has not handed over.
    unsealed: Vec<(Request, u64)>,
    seal: Seal,
    since: Instant,
    condemned: Option<Fault>,
}

/// Whether the worker was asked for its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seal {
    NotAsked,
    Asked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Starting,
    Ready,
}

struct Event {
    incarnation: u64,
    what: Incoming,
}

enum Incoming {
    Reply(Reply),
    Gone,
}

/// The worker processes of one run.
pub(crate) struct Pool<'a> {
    launch: &'a dyn Fn(usize) -> Command,
    limits: Limits,
    crew: Vec<Worker>,
    events: Receiver<Event>,
    sender: Sender<Event>,
    incarnations: u64,
    failed_starts: u32,
    busy: Duration,
    most: usize,
}

impl<'a> Pool<'a> {
    /// `launch` makes the command line of the worker at a place; its standard input will be
    /// the socket.
    pub(crate) fn new(launch: &'a dyn Fn(usize) -> Command, limits: Limits) -> Self {
        let (sender, events) = mpsc::channel();
        Self {
            launch,
            limits,
            crew: Vec::new(),
            events,
            sender,
            incarnations: 0,
            failed_starts: 0,
            busy: Duration::ZERO,
            most: 0,
        }
    }

    /// Time that workers spent on requests they answered, summed over them.
    pub(crate) fn busy(&self) -> Duration {
        self.busy
    }

    /// The most workers at once.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Starts the first worker and waits for what it says of the device.
    pub(crate) fn meet(&mut self) -> Result<Ready, PoolError> {
        loop {
            if self.crew.is_empty() {
                self.hire(0)?;
            }
            match self.events.recv_timeout(START_LIMIT) {
                Ok(event) => match event.what {
                    Incoming::Reply(Reply::Ready(ready)) => {
                        if let Some(worker) = self.worker(event.incarnation) {
                            worker.state = State::Ready;
                        }
                        return Ok(ready);
                    }
                    Incoming::Reply(Reply::Unusable(reason)) => {
                        return Err(PoolError::Unusable(reason));
                    }
                    Incoming::Reply(Reply::Answer(_) | Reply::Sealed(_)) => {}
                    Incoming::Gone => {
                        self.bury(event.incarnation)?;
                    }
                },
                Err(_) => return Err(PoolError::Start("no answer in time".into())),
            }
        }
    }

    /// Hands out the desk's requests until there are no more or `stop` was asked for.
    /// Requests that were in flight when it stopped are neither answered nor at fault.
    pub(crate) fn run<D: Desk>(
        &mut self,
        desk: &mut D,
        suspects: Vec<Request>,
        stop: &StopSignal,
    ) -> Result<(), D::Error> {
        let mut alone = suspects;
        let width = self.limits.workers;
        let memory = self.limits.memory;
        alone.extend(self.phase(desk, Phase::many(width, memory), stop)?);
        for request in alone {
            if stop.received().is_some() {
                break;
            }
            self.dismiss();
            let memory = self.limits.memory_alone;
            self.phase(desk, Phase::alone(request, memory), stop)?;
        }
        self.dismiss();
        Ok(())
    }

    fn phase<D: Desk>(
        &mut self,
        desk: &mut D,
        mut phase: Phase,
        stop: &StopSignal,
    ) -> Result<Vec<Request>, D::Error> {
        let mut suspects = Vec::new();
        let mut next_tick = Instant::now() + TICK;
        loop {
            if stop.received().is_some() {
                return Ok(suspects);
            }
            self.fill(desk, &mut phase)?;
            let idle = self.crew.iter().all(|worker| worker.held.is_empty());
            if idle && !phase.has_more(desk)? && self.seal() {
                return Ok(suspects);
            }
            let wait = next_tick.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(wait) {
                Ok(event) => self.take(event, desk, &mut phase, &mut suspects)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PoolError::Start("no worker is left".into()).into());
                }
            }
            if Instant::now() >= next_tick {
                next_tick = Instant::now() + TICK;
                self.enforce(phase.memory);
                desk.tick()?;
            }
        }
    }

    /// Gives every ready worker what it may hold, and starts workers while there is work.
    fn fill<D: Desk>(&mut self, desk: &mut D, phase: &mut Phase) -> Result<(), D::Error> {
        // One round gives each worker one request, so that few requests spread over all.
        for depth in 1..=phase.depth {
            for index in 0..self.crew.len() {
                let worker = &self.crew[index];
                let busy = worker.held.len() >= depth || worker.condemned.is_some();
                if busy || worker.state == State::Starting {
                    continue;
                }
                let Some(request) = phase.draw(desk)? else {
                    return Ok(());
                };
                self.give(index, request);
            }
        }
        // Everybody has what he may hold and more is there: a bigger crew pays.
        if self.crew.len() < phase.width
            && self.crew.iter().all(|worker| worker.state == State::Ready)
            && phase.has_more(desk)?
        {
            let taken: Vec<usize> = self.crew.iter().map(|worker| worker.place).collect();
            let place = (0..).find(|place| !taken.contains(place)).unwrap_or(0);
            self.hire(place).map_err(D::Error::from)?;
        }
        Ok(())
    }

    /// Asks for the segments that are still open. True where none is.
    fn seal(&mut self) -> bool {
        for worker in &mut self.crew {
            if !worker.unsealed.is_empty() && worker.seal == Seal::NotAsked {
                worker.seal = Seal::Asked;
                worker.since = Instant::now();
                worker.say(&Order::Seal);
            }
        }
        self.crew.iter().all(|worker| worker.unsealed.is_empty())
    }

    fn give(&mut self, index: usize, request: Request) {
        let worker = &mut self.crew[index];
        if worker.held.is_empty() {
            worker.since = Instant::now();
        }
        let order = Order::Build(request);
        worker.say(&order);
        if let Order::Build(request) = order {
            worker.held.push_back(request);
        }
    }

    fn take<D: Desk>(
        &mut self,
        event: Event,
        desk: &mut D,
        phase: &mut Phase,
        suspects: &mut Vec<Request>,
    ) -> Result<(), D::Error> {
        match event.what {
            Incoming::Reply(Reply::Ready(_)) => {
                if let Some(worker) = self.worker(event.incarnation) {
                    worker.state = State::Ready;
                }
            }
            Incoming::Reply(Reply::Unusable(reason)) => {
                return Err(PoolError::Unusable(reason).into());
            }
            Incoming::Reply(Reply::Answer(Answer {
                ticket,
                busy,
                result,
            })) => {
                self.failed_starts = 0;
                self.busy += Duration::from_nanos(busy);
                let Some(worker) = self.worker(event.incarnation) else {
                    return Ok(());
                };
                let front = worker.held.front().map(|request| request.ticket);
                let Some(request) = worker.held.pop_front().filter(|_| front == Some(ticket))
                else {
                    return Err(PoolError::Protocol.into());
                };
                worker.since = Instant::now();
                if let Made::InSegment { cost } = result {
                    worker.unsealed.push((request, cost));
                    return Ok(());
                }
                desk.ended(request, Ended::Answered(result))?;
            }
            Incoming::Reply(Reply::Sealed(blob)) => {
                if let Some(worker) = self.worker(event.incarnation) {
                    worker.seal = Seal::NotAsked;
                    let requests = std::mem::take(&mut worker.unsealed);
                    desk.sealed(requests, blob)?;
                }
            }
            Incoming::Gone => {
                if let Some(Buried {
                    mut held,
                    unsealed,
                    kind,
                    detail,
                }) = self.bury(event.incarnation)?
                {
                    let front = held.pop_front();
                    phase.back.extend(held);
                    phase
                        .back
                        .extend(unsealed.into_iter().map(|(request, _)| request));
                    match (front, phase.last_chance) {
                        (Some(request), LastChance::Yes) => {
                            desk.ended(request, Ended::Fault { kind, detail })?;
                        }
                        (Some(request), LastChance::No) => {
                            desk.suspect(&request, kind, &detail)?;
                            suspects.push(request);
                        }
                        (None, _) => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Stops the workers that are over a limit; their readers tell when they are gone.
    fn enforce(&mut self, memory: u64) {
        let time = self.limits.time;
        for worker in &mut self.crew {
            let limit = match worker.state {
                State::Starting => START_LIMIT,
                State::Ready if worker.held.is_empty() && worker.seal == Seal::NotAsked => {
                    Duration::MAX
                }
                State::Ready => time,
            };
            if worker.condemned.is_some() {
            } else if worker.since.elapsed() > limit {
                worker.condemn(Fault::Hang);
            } else if machine::resident(worker.child.id()).is_some_and(|held| held > memory) {
                worker.condemn(Fault::Memory);
            }
        }
    }

    fn hire(&mut self, place: usize) -> Result<(), PoolError> {
        let (ours, theirs) = UnixStream::pair()?;
        // A worker that does not read any more must not stop the run.
        ours.set_write_timeout(Some(self.limits.time.max(Duration::from_secs(1))))?;
        let child = (self.launch)(place)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()?;
        self.incarnations += 1;
        let incarnation = self.incarnations;
        let mut incoming = ours.try_clone()?;
        let sender = self.sender.clone();
        std::thread::Builder::new()
            .name(format!("worker-{place}"))
            .spawn(move || {
                while let Ok(Some(reply)) = wire::receive(&mut incoming) {
                    let what = Incoming::Reply(reply);
                    if sender.send(Event { incarnation, what }).is_err() {
                        return;
                    }
                }
                let what = Incoming::Gone;
                // Nobody listens after the run: nothing is lost.
                let _ = sender.send(Event { incarnation, what });
            })?;
        self.crew.push(Worker {
            child,
            stream: ours,
            incarnation,
            place,
            state: State::Starting,
            held: VecDeque::new(),
            unsealed: Vec::new(),
            seal: Seal::NotAsked,
            since: Instant::now(),
            condemned: None,
        });
        self.most = self.most.max(self.crew.len());
        Ok(())
    }

    /// Takes a worker that is gone off the crew, with what it held and why it went.
    fn bury(&mut self, incarnation: u64) -> Result<Option<Buried>, PoolError> {
        let Some(index) = self
            .crew
            .iter()
            .position(|worker| worker.incarnation == incarnation)
        else {
            return Ok(None);
        };
        let mut worker = self.crew.swap_remove(index);
        // Its end of the socket is closed; where the process itself lingers it is of no use.
        let _ = worker.child.kill();
        let status = worker.child.wait()?;
        let kind = worker.condemned.unwrap_or(Fault::Crash);
        let detail = match kind {
            Fault::Crash => describe(status),
            Fault::Hang => format!("no answer after {} s", self.limits.time.as_secs()),
            Fault::Memory => "more memory than a worker may hold".to_owned(),
        };
        if worker.state == State::Starting {
            self.failed_starts += 1;
            if self.failed_starts >= STARTS_THAT_FAIL {
                return Err(PoolError::Start(detail));
            }
        }
        Ok(Some(Buried {
            held: worker.held,
            unsealed: worker.unsealed,
            kind,
            detail,
        }))
    }

    fn worker(&mut self, incarnation: u64) -> Option<&mut Worker> {
        self.crew
            .iter_mut()
            .find(|worker| worker.incarnation == incarnation)
    }

    /// Ends the crew. What it still held is forgotten.
    fn dismiss(&mut self) {
        for worker in &mut self.crew {
            let _ = worker.child.kill();
        }
        for worker in &mut self.crew {
            let _ = worker.child.wait();
        }
        self.crew.clear();
    }
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl Worker {
    /// A worker that is gone says so through its reader; what it held is taken back then.
    fn say(&mut self, order: &Order) {
        if let Err(error) = wire::send(&mut self.stream, order)
            && error.kind() == io::ErrorKind::WouldBlock
        {
            self.condemn(Fault::Hang);
        }
    }

    fn condemn(&mut self, fault: Fault) {
        self.condemned = Some(fault);
        // Where it is gone already, its reader says so just the same.
        let _ = self.child.kill();
    }
}

/// What is left of a worker.
struct Buried {
    held: VecDeque<Request>,
    unsealed: Vec<(Request, u64)>,
    kind: Fault,
    detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastChance {
    No,
    Yes,
}

/// One way of going through requests.
struct Phase {
    width: usize,
    depth: usize,
    memory: u64,
    last_chance: LastChance,
    /// Requests to hand out before the desk is asked.
    back: VecDeque<Request>,
}

impl Phase {
    fn many(width: usize, memory: u64) -> Self {
        Self {
            width,
            depth: DEPTH,
            memory,
            last_chance: LastChance::No,
            back: VecDeque::new(),
        }
    }

    fn alone(request: Request, memory: u64) -> Self {
        Self {
            width: 1,
            depth: 1,
            memory,
            last_chance: LastChance::Yes,
            back: VecDeque::from([request]),
        }
    }

    fn draw<D: Desk>(&mut self, desk: &mut D) -> Result<Option<Request>, D::Error> {
        match (self.back.pop_front(), self.last_chance) {
            (Some(request), _) => Ok(Some(request)),
            (None, LastChance::Yes) => Ok(None),
            (None, LastChance::No) => desk.next(),
        }
    }

    fn has_more<D: Desk>(&mut self, desk: &mut D) -> Result<bool, D::Error> {
        if let Some(request) = self.draw(desk)? {
            self.back.push_front(request);
        }
        Ok(!self.back.is_empty())
    }
}

/// `signal 6`, `exit status 3`.
fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("the worker was ended by signal {signal}"),
        (None, Some(code)) => format!("the worker left with exit status {code}"),
        (None, None) => "the worker is gone".to_owned(),
    }
}
