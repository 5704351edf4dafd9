//! What holds for every sequence of events, and the rules one by one.

use proptest::prelude::*;

use super::*;
use crate::model::{By, Origin};

/// A moment so many seconds after the beginning.
fn at(second: i64) -> Timestamp {
    Timestamp::new(1_787_061_840_000 + second * 1000, 180).expect("it is in this century")
}

fn by(name: &str) -> By {
    By { agent: None, agent_session: None, identity: name.into() }
}

fn handoff() -> EventId {
    EventId::of(b"handoff")
}

fn actor(name: &str, second: i64) -> Actor {
    Actor { name: Some(name.into()), default: name.into(), by: by(name), now: at(second) }
}

fn item_id(number: usize) -> EventId {
    EventId::of(format!("item {number}").as_bytes())
}

fn new_item(name: &str, after: Vec<Prerequisite>) -> NewItem {
    NewItem {
        handoff: handoff(),
        topic: "topic".parse().expect("a topic"),
        name: name.parse().ok(),
        agent: None,
        after,
        accepted: Accepted::default(),
        copy: 0,
    }
}

fn event(number: i64, action: Action) -> QueueEvent {
    let id = EventId::of(format!("event {number}").as_bytes());
    QueueEvent { id, effective: number, origin: Origin { created: at(number), by: by("kim") }, action }
}

/// A queue that is told what happens, one event after another.
#[derive(Default)]
struct Told {
    queue: Queue,
    events: Vec<QueueEvent>,
}

impl Told {
    fn tell(&mut self, action: Action) -> EventId {
        let event = event(self.events.len() as i64, action);
        self.events.push(event.clone());
        let id = event.id;
        self.queue.extend([event]).expect("it is the latest");
        id
    }

    fn add(&mut self, name: &str, after: &[Prerequisite]) -> At {
        let addition = Addition { new: new_item(name, after.to_vec()), called: Some(name.into()) };
        let action = self.queue.add(addition).expect("it may be added");
        let id = self.tell(action);
        self.queue.find(&id).expect("it is there")
    }

    fn on(&self, at: At) -> Prerequisite {
        Prerequisite::Continuation(self.queue.item(at).id)
    }

    fn finish(&mut self, at: At, ending: Ending) {
        let facts = self.queue.start_facts(at, None, Lease::default(), None);
        let now = self.events.len() as i64;
        let action = self.queue.finish(at, &actor("kim", now), ending, None, facts).expect("it may be finished");
        self.tell(action);
    }

    fn retry(&mut self, at: At) {
        let action = self.queue.retry(at).expect("it may be retried");
        action.map(|action| self.tell(action));
    }

    fn op(&mut self, name: &str, ending: Option<Ending>) {
        let name: Label = name.parse().expect("a name");
        let action = match ending {
            None => self.queue.begin_operation(&name),
            Some(ending) => self.queue.end_operation(&name, ending, None),
        };
        self.tell(action.expect("it may be said"));
    }

    fn states(&self) -> Vec<State> {
        self.queue.items().iter().map(|item| self.queue.state(item)).collect()
    }
}

fn disk() -> Prerequisite {
    Prerequisite::Operation("disk".parse().expect("a name"))
}

#[test]
fn a_chain_is_ready_one_after_another() {
    let mut told = Told::default();
    let one = told.add("1", &[]);
    let two = told.add("2", &[told.on(one)]);
    told.add("3", &[told.on(two)]);
    assert_eq!(told.states(), [State::Ready, State::Waiting, State::Waiting]);
    told.finish(one, Ending::Succeeded);
    assert_eq!(told.states(), [State::Succeeded, State::Ready, State::Waiting]);
    told.finish(two, Ending::Succeeded);
    assert_eq!(told.states(), [State::Succeeded, State::Succeeded, State::Ready]);
}

#[test]
fn a_failure_stops_all_that_waits_and_retrying_it_frees_them() {
    let mut told = Told::default();
    let one = told.add("1", &[]);
    let two = told.add("2", &[told.on(one)]);
    let three = told.add("3", &[told.on(two)]);
    told.finish(one, Ending::Failed);
    assert_eq!(told.states(), [State::Failed, State::Stopped, State::Stopped]);
    let refused = told.queue.retry(three).expect_err("what stopped it is still stopped");
    assert_eq!(refused.to_string(), "3 cannot be tried again: continuation:2 is stopped");
    told.retry(one);
    assert_eq!(told.states(), [State::Ready, State::Waiting, State::Waiting]);
}

#[test]
fn what_an_operation_stopped_stays_so_until_a_retry() {
    let mut told = Told::default();
    let item = told.add("copy", &[disk()]);
    told.op("disk", None);
    told.op("disk", Some(Ending::Failed));
    assert_eq!(told.states(), [State::Stopped]);
    assert!(told.queue.retry(item).is_err());
    told.op("disk", None);
    told.op("disk", Some(Ending::Succeeded));
    assert_eq!(told.states(), [State::Stopped]);
    told.retry(item);
    assert_eq!(told.states(), [State::Ready]);
}

#[test]
fn a_success_that_is_taken_back_stops_what_stands_on_it() {
    let mut told = Told::default();
    let one = told.add("1", &[]);
    let two = told.add("2", &[told.on(one)]);
    let three = told.add("3", &[told.on(two)]);
    let four = told.add("4", &[told.on(three)]);
    for item in [one, two, three] {
        told.finish(item, Ending::Succeeded);
    }
    told.finish(two, Ending::Failed);
    assert_eq!(told.states(), [State::Succeeded, State::Failed, State::Succeeded, State::Stopped]);
    assert!(told.queue.retry(four).is_err());
    told.retry(two);
    assert_eq!(told.states(), [State::Succeeded, State::Ready, State::Succeeded, State::Ready]);
}

#[test]
fn finishing_twice_and_finishing_what_is_not_ones_own_are_refused() {
    let mut told = Told::default();
    let one = told.add("1", &[]);
    told.finish(one, Ending::Succeeded);
    let facts = || told.queue.start_facts(one, None, Lease::default(), None);
    let finish = |who: &str, ending| told.queue.finish(one, &actor(who, 9), ending, None, facts()).map(|_| ());
    assert_eq!(
        finish("kim", Ending::Succeeded).expect_err("it has ended").to_string(),
        "1 is succeeded; finish needs one that is started, claimed or ready"
    );
    assert!(matches!(finish("lee", Ending::Failed), Err(Refusal::NotHolder { holder, .. }) if holder == "kim"));
}

fn claim(told: &Told, item: At, who: &str, second: i64, mode: ClaimMode) -> Result<Action, Refusal> {
    told.queue.claim(item, &actor(who, second), Claiming { lease: Lease::default(), mode, nonce: None })
}

#[test]
fn a_claim_holds_until_its_lease_ends() {
    let mut told = Told::default();
    let item = told.add("1", &[]);
    let action = claim(&told, item, "kim", 1, ClaimMode::Offline).expect("it is free");
    told.tell(action);
    let others = |second| claim(&told, item, "lee", second, ClaimMode::Offline).map(|_| ());
    assert!(matches!(others(4 * 3600), Err(Refusal::NotHolder { .. })));
    assert_eq!(others(4 * 3600 + 1), Ok(()));
    let shown = told.queue.item(item);
    assert_eq!(
        [4 * 3600, 4 * 3600 + 1].map(|second| told.queue.state_at(shown, at(second))),
        [State::Claimed, State::Ready]
    );
}

#[test]
fn whoever_made_a_claim_under_a_name_need_not_repeat_it() {
    let mut told = Told::default();
    let item = told.add("1", &[]);
    let action = claim(&told, item, "kim", 1, ClaimMode::Offline).expect("it is free");
    told.tell(action);
    let nameless = |who: &str| Actor { name: None, ..actor(who, 2) };
    assert!(told.queue.cancel(item, &nameless("kim")).is_ok());
    assert!(told.queue.cancel(item, &nameless("lee")).is_err());
}

#[test]
fn an_exclusive_claim_beats_a_concurrent_offline_one_and_what_was_done_under_it() {
    let mut told = Told::default();
    let item = told.add("1", &[]);
    let behind = told.add("2", &[told.on(item)]);
    let exclusive = claim(&told, item, "lee", 1, ClaimMode::Exclusive).expect("it is free");
    let offline = claim(&told, item, "kim", 1, ClaimMode::Offline).expect("it is free");
    told.tell(offline);
    told.finish(item, Ending::Failed);
    assert_eq!(told.queue.state(told.queue.item(behind)), State::Stopped);
    told.tell(exclusive);
    let shown = told.queue.item(item);
    assert_eq!(shown.claim.as_ref().map(|claim| claim.holder.as_str()), Some("lee"));
    assert_eq!(told.states(), [State::Claimed, State::Waiting]);
    let lost: Vec<(&str, &str)> = shown.conflicts.iter().map(|lost| (lost.verb.as_str(), lost.by.as_str())).collect();
    assert_eq!(lost, [("claim", "kim"), ("start", "kim")]);
    assert!(shown.conflicts.iter().all(|lost| lost.lost_to.as_deref() == Some("lee")));
}

#[test]
fn of_two_offline_claims_the_first_in_the_order_holds_and_the_other_is_kept() {
    let mut told = Told::default();
    let item = told.add("1", &[]);
    let [kim, lee] = ["kim", "lee"].map(|who| claim(&told, item, who, 1, ClaimMode::Offline).expect("it is free"));
    told.tell(kim);
    told.tell(lee);
    let shown = told.queue.item(item);
    assert_eq!(shown.claim.as_ref().map(|claim| claim.holder.as_str()), Some("kim"));
    assert_eq!(shown.conflicts.len(), 1);
    assert_eq!((&*shown.conflicts[0].by, shown.conflicts[0].lost_to.as_deref()), ("lee", Some("kim")));
}

#[test]
fn a_loop_is_refused_with_its_path_and_a_joined_one_blocks_only_its_members() {
    let mut told = Told::default();
    let x = told.add("x", &[]);
    let y = told.add("y", &[]);
    let free = told.add("free", &[]);
    let behind = told.add("behind", &[told.on(y)]);
    let link = |told: &Told, one: At, other: At| told.queue.link(one, vec![told.on(other)], Vec::new());
    assert_eq!(
        link(&told, x, x).expect_err("it is a loop").to_string(),
        "a continuation cannot wait for itself: x after x"
    );
    let (there, here) = (link(&told, x, y).expect("no loop yet"), link(&told, y, x).expect("no loop yet"));
    told.tell(there);
    assert_eq!(
        link(&told, y, x).expect_err("it is a loop").to_string(),
        "a continuation cannot wait for itself: y after x after y"
    );
    told.tell(here);
    assert_eq!(told.queue.cycles(), [vec![x, y]]);
    assert_eq!(told.states(), [State::Waiting, State::Waiting, State::Ready, State::Waiting]);
    told.finish(free, Ending::Succeeded);
    let drop = told.queue.link(y, Vec::new(), vec![told.on(x)]).expect("an edge can be dropped");
    told.tell(drop);
    assert_eq!(told.queue.cycles(), Vec::<Vec<At>>::new());
    assert_eq!(told.states()[..2], [State::Waiting, State::Ready]);
    assert_eq!(told.queue.open_ancestors(behind), [y]);
}

#[test]
fn a_chain_of_ten_thousand_neither_overflows_nor_is_a_loop() {
    let mut told = Told::default();
    let mut last = told.add("0", &[]);
    let mut events = Vec::new();
    for number in 1..10_000 {
        let after =
            vec![Prerequisite::Continuation(if number == 1 { told.queue.item(last).id } else { item_id(number - 1) })];
        let action = Action::Add(Box::new(new_item(&number.to_string(), after)));
        events.push(QueueEvent { id: item_id(number), ..event(number as i64, action) });
    }
    told.queue.extend(events).expect("they are later");
    last += 9_999;
    assert_eq!((told.queue.cycles().len(), told.queue.open_ancestors(last).len()), (0, 9_999));
    let facts = told.queue.start_facts(0, None, Lease::default(), None);
    let fail = told.queue.finish(0, &actor("kim", 10_001), Ending::Failed, None, facts).expect("it is ready");
    told.queue.extend([event(10_001, fail)]).expect("it is later");
    assert_eq!(told.queue.state(told.queue.item(last)), State::Stopped);
}

/// Anything that somebody may say about five continuations and two operations, whether it fits or not.
fn steps() -> impl Strategy<Value = Vec<Action>> {
    let names = || prop::sample::select(vec!["kim", "lee"]).prop_map(str::to_owned);
    let facts = || {
        Just(StartFacts {
            handoff: handoff(),
            revision: None,
            lease: Lease::default(),
            evidence: Vec::new(),
            superseded_by: None,
        })
    };
    let prerequisite = || {
        prop_oneof![
            (0..5_usize).prop_map(|number| Prerequisite::Continuation(item_id(number))),
            Just(disk()),
            Just(Prerequisite::Approval),
            Just(Prerequisite::Handoff(handoff())),
        ]
    };
    let ending = || prop::sample::select(vec![Ending::Succeeded, Ending::Failed, Ending::Cancelled]);
    let mode = prop::sample::select(vec![ClaimMode::Exclusive, ClaimMode::Offline]);
    let step = prop_oneof![
        2 => (prerequisite(), prop::option::of(prerequisite())).prop_map(|(added, dropped)| Step::Link {
            added: vec![added],
            dropped: dropped.into_iter().collect(),
        }),
        3 => (names(), mode).prop_map(|(holder, mode)| Step::Claim { holder, lease: Lease::default(), mode, over: None, nonce: None }),
        1 => names().prop_map(|holder| Step::Release { holder, manner: Manner::Own }),
        3 => (names(), facts()).prop_map(|(holder, facts)| Step::Start { holder, facts }),
        4 => (names(), ending(), prop::option::of(facts())).prop_map(|(holder, ending, start)| {
            Step::Finish { holder, ending, exit_code: None, start }
        }),
        1 => names().prop_map(|holder| Step::Cancel { holder }),
        2 => Just(Step::Retry),
        1 => Just(Step::Approve),
    ];
    let item = (0..5_usize, step).prop_map(|(number, step)| Action::Item { item: item_id(number), seen: None, step });
    let run = prop_oneof![Just(RunStep::Start), ending().prop_map(|ending| RunStep::End { ending, run: None }),];
    let operation = run.prop_map(|step| Action::Operation { name: "disk".parse().expect("a name"), seen: None, step });
    prop::collection::vec(prop_oneof![6 => item, 1 => operation], 0..60)
}

/// Five continuations, then what is said about them, as events in a fixed order.
fn history(after: &[Vec<usize>], said: Vec<Action>) -> Vec<QueueEvent> {
    let mut events = Vec::new();
    for (number, after) in after.iter().enumerate() {
        let mut after: Vec<Prerequisite> =
            after.iter().map(|other| Prerequisite::Continuation(item_id(*other))).collect();
        if number == 1 {
            after.push(disk());
        }
        let action = Action::Add(Box::new(new_item(&format!("n{number}"), after)));
        events.push(QueueEvent { id: item_id(number), ..event(number as i64, action) });
    }
    events.extend(said.into_iter().enumerate().map(|(number, action)| event(100 + number as i64, action)));
    events
}

fn edges() -> impl Strategy<Value = Vec<Vec<usize>>> {
    prop::collection::vec(prop::collection::vec(0..5_usize, 0..3), 5)
}

fn folded(events: &[QueueEvent]) -> Queue {
    let mut queue = Queue::default();
    queue.extend(events.to_vec()).expect("an empty queue takes everything");
    queue
}

proptest! {
    #[test]
    fn the_order_of_arrival_does_not_matter(edges in edges(), said in steps(), seed in any::<u64>(), cut in 0..60_usize) {
        let events = history(&edges, said);
        let whole = folded(&events);
        let mut shuffled = events.clone();
        shuffled.sort_by_key(|event| EventId::of(format!("{seed} {}", event.id).as_bytes()));
        prop_assert_eq!(&folded(&shuffled), &whole);
        let (first, rest) = events.split_at(cut.min(events.len()));
        let mut steps = folded(first);
        // As a process does that reads the snapshot of another.
        steps = Queue::from_parts(steps.parts());
        steps.extend(rest.to_vec()).expect("they are later");
        prop_assert_eq!(&steps, &whole);
    }

    #[test]
    fn nothing_starts_before_all_that_it_waits_for_has_succeeded(edges in edges(), said in steps()) {
        let events = history(&edges, said);
        let mut queue = Queue::default();
        for event in events {
            let before = queue.clone();
            queue.extend([event]).expect("in order");
            for (at, item) in queue.items().iter().enumerate() {
                let old = before.items().get(at);
                let starts = item.start.is_some() && old.is_some_and(|old| old.start != item.start);
                if let (true, Some(old)) = (starts, old) {
                    for prerequisite in &old.after {
                        prop_assert_eq!(before.outcome(old, prerequisite), Outcome::Succeeded);
                    }
                }
            }
        }
    }

    #[test]
    fn what_waits_for_something_bad_is_stopped_and_nothing_else_moves_it_but_a_retry(edges in edges(), said in steps()) {
        let events = history(&edges, said);
        let mut queue = Queue::default();
        for event in events {
            let before = queue.clone();
            let action = event.action.clone();
            queue.extend([event]).expect("in order");
            for (at, item) in queue.items().iter().enumerate() {
                let bad = item.after.iter().any(|each| queue.outcome(item, each).is_bad());
                prop_assert!(!(item.is_open() && bad) || item.stopped.is_some());
                let was_stopped = before.items().get(at).is_some_and(|old| old.stopped.is_some());
                if was_stopped && item.stopped.is_none() && item.end.is_none() {
                    // An exclusive claim takes back what was done under a claim that lost; that is no way forward.
                    let allowed = matches!(
                        &action,
                        Action::Item { step: Step::Retry | Step::Claim { mode: ClaimMode::Exclusive, .. }, .. }
                    );
                    prop_assert!(allowed, "{:?}", action);
                }
            }
        }
    }

    #[test]
    fn a_loop_blocks_its_members_and_no_others(edges in edges()) {
        let queue = folded(&history(&edges, Vec::new()));
        let members: Vec<At> = queue.cycles().into_iter().flatten().collect();
        for (at, item) in queue.items().iter().enumerate() {
            let ancestors = queue.open_ancestors(at);
            prop_assert_eq!(members.contains(&at), waits_for_itself(&queue, at));
            if members.contains(&at) {
                prop_assert_eq!(queue.state(item), State::Waiting);
            } else if ancestors.is_empty() && at != 1 {
                prop_assert_eq!(queue.state(item), State::Ready);
            }
        }
    }
}

/// Whether a continuation is upstream of itself, found the slow way.
fn waits_for_itself(queue: &Queue, at: At) -> bool {
    let mut found = std::collections::BTreeSet::new();
    let mut open = vec![at];
    while let Some(next) = open.pop() {
        for each in &queue.item(next).after {
            if let Prerequisite::Continuation(id) = each
                && let Some(upstream) = queue.find(id)
                && found.insert(upstream)
            {
                open.push(upstream);
            }
        }
    }
    found.contains(&at)
}
