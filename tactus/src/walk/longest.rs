//! The longest ways through functions.
//!
//! A function is a graph of pieces. Its strongly connected parts are its loops; a loop's ways are those of the graph
//! without the edges back to its head, and these are taken as often as its stated count says. What a call adds is the
//! longest way through the callee, so that functions are done after those that they call.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::flow::{Function, Piece, Then};
use super::program::Program;
use super::{Bound, Costs, End, Start, loops};

/// What a way takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way {
    run: u64,
    code: u64,
    data: u64,
}

impl Way {
    fn and(self, other: Self) -> Self {
        Self {
            run: self.run + other.run,
            code: self.code + other.code,
            data: self.data + other.data,
        }
    }

    fn times(self, count: u64) -> Self {
        Self {
            run: self.run * count,
            code: self.code * count,
            data: self.data * count,
        }
    }

    fn cycles(&self, line: u64) -> u64 {
        self.run + (self.code + self.data) * line
    }
}

/// The longest ways of a function.
#[derive(Clone, Debug, Default)]
struct Summary {
    /// From its entry to its return.
    through: Option<Way>,
    /// From its entry to the end of the stretch.
    to: BTreeMap<End, Way>,
    /// From where a stretch begins in it, or in what it calls, to its return.
    from: BTreeMap<Start, Way>,
    /// From where a stretch begins to where it ends, in it or in what it calls.
    within: BTreeMap<(Start, End), Way>,
    /// Lines of code of all of it and of what it calls.
    lines: BTreeSet<u64>,
    /// Bytes of stack.
    stack: u64,
}

/// Finds lengths.
pub struct Lengths<'a> {
    program: &'a Program,
    functions: &'a BTreeMap<u64, Function>,
    costs: &'a Costs,
    vcpus: u64,
    /// By function, and whether lines of code count.
    done: RefCell<BTreeMap<(u64, bool), Summary>>,
    /// Functions whose callees are being done.
    under_way: RefCell<Vec<u64>>,
    /// Functions with a loop whose count is not stated.
    pub unbounded: RefCell<BTreeMap<String, Vec<u64>>>,
}

impl<'a> Lengths<'a> {
    /// For these functions.
    pub fn new(
        program: &'a Program,
        functions: &'a BTreeMap<u64, Function>,
        costs: &'a Costs,
        vcpus: u64,
    ) -> Self {
        Self {
            program,
            functions,
            costs,
            vcpus,
            done: RefCell::default(),
            under_way: RefCell::default(),
            unbounded: RefCell::default(),
        }
    }

    /// The bounds of stretches that begin with a trap, whose way in is the function at `entry`; it calls none of these.
    ///
    /// # Errors
    /// As for [`Bounds::of`](super::Bounds::of).
    pub fn from_entry(
        &mut self,
        entry: u64,
        not: &BTreeSet<u64>,
    ) -> Result<Vec<(End, Bound)>, String> {
        let summaries = [false, true].map(|code| self.summary_of(entry, code, not));
        let [without, with] = summaries;
        let (without, with) = (without?, with?);
        self.fail()?;
        let ends = with.to.iter();
        Ok(ends
            .map(|(end, way)| {
                let other = without.to.get(end).copied().unwrap_or_default();
                (*end, self.bound(way, &other, &with, true))
            })
            .collect())
    }

    /// The bounds of stretches that begin with a look or the end of a wait, anywhere in what the function at `entry`
    /// calls.
    ///
    /// # Errors
    /// As for [`Bounds::of`](super::Bounds::of).
    pub fn from_cuts(&mut self, entry: u64) -> Result<Vec<(Start, End, Bound)>, String> {
        let none = BTreeSet::new();
        let without = self.summary_of(entry, false, &none)?;
        let with = self.summary_of(entry, true, &none)?;
        self.fail()?;
        let within = with.within.iter();
        Ok(within
            .map(|((start, end), way)| {
                let other = without
                    .within
                    .get(&(*start, *end))
                    .copied()
                    .unwrap_or_default();
                (*start, *end, self.bound(way, &other, &with, false))
            })
            .collect())
    }

    fn fail(&self) -> Result<(), String> {
        let unbounded = self.unbounded.borrow();
        if unbounded.is_empty() {
            return Ok(());
        }
        let each = unbounded.iter().map(|(name, heads)| {
            let heads: Vec<String> = heads.iter().map(|head| format!("{head:#x}")).collect();
            format!("{name} ({})", heads.join(", "))
        });
        let each: Vec<String> = each.collect();
        Err(format!("loops without a stated count: {}", each.join("; ")))
    }

    /// The lesser of two: the way with its lines of code, and one without with all lines of code that there are.
    fn bound(&self, with: &Way, without: &Way, all: &Summary, trap: bool) -> Bound {
        let line = self.costs.worst.line;
        let lines = all.lines.len() as u64;
        let capped = Way {
            code: lines,
            ..*without
        };
        let way = if capped.cycles(line) < with.cycles(line) {
            capped
        } else {
            *with
        };
        let stack = all.stack / self.costs.line_bytes + 1;
        let worst = &self.costs.worst;
        let begin = worst.under_way + if trap { worst.trap } else { 0 };
        let data = way.data + stack;
        Bound {
            run: way.run,
            code: way.code,
            data,
            begin,
            cycles: Way { data, ..way }.cycles(line) + begin,
        }
    }

    /// The summary of a function, with or without lines of code.
    fn summary(&self, address: u64, code: bool) -> Result<Summary, String> {
        if let Some(known) = self.done.borrow().get(&(address, code)) {
            return Ok(known.clone());
        }
        if self.under_way.borrow().contains(&address) {
            let under_way = self.under_way.borrow();
            let all = under_way.iter().chain([&address]);
            let names: Vec<&str> = all.map(|address| self.program.place(*address)).collect();
            return Err(format!("it calls itself: {}", names.join(" > ")));
        }
        self.under_way.borrow_mut().push(address);
        let summary = self.summary_of(address, code, &BTreeSet::new())?;
        self.under_way.borrow_mut().pop();
        self.done
            .borrow_mut()
            .insert((address, code), summary.clone());
        Ok(summary)
    }

    /// The summary of a function, with or without lines of code, that calls none of `not`.
    fn summary_of(&self, address: u64, code: bool, not: &BTreeSet<u64>) -> Result<Summary, String> {
        let function = &self.functions[&address];
        let callees = |code| -> Result<BTreeMap<u64, Summary>, String> {
            let calls = function.pieces.iter().flat_map(|piece| &piece.calls);
            let calls: BTreeSet<u64> = calls
                .copied()
                .filter(|callee| !not.contains(callee) && self.functions.contains_key(callee))
                .collect();
            let mut summaries = BTreeMap::new();
            for callee in calls {
                summaries.insert(callee, self.summary(callee, code)?);
            }
            Ok(summaries)
        };
        let name = self.program.place(address);
        let without = Graph::new(self, name, function, callees(false)?, None);
        let with;
        let graph = if code {
            with = Graph::new(self, name, function, callees(true)?, Some(&without));
            &with
        } else {
            &without
        };
        let mut summary = Summary::default();
        let mut frame = function.frame;
        for (callee, known) in &graph.callees {
            if self.program.place(*callee).starts_with("OUTLINED") {
                // It takes it for its caller.
                frame += self.functions[callee].frame;
            }
            summary.stack = summary.stack.max(known.stack);
            summary.lines.extend(&known.lines);
            for (key, way) in &known.within {
                longer(summary.within.entry(*key).or_default(), *way, graph.line);
            }
        }
        summary.stack += frame;
        let lines = function
            .pieces
            .iter()
            .flat_map(|piece| piece.lines.0..=piece.lines.1);
        summary.lines.extend(lines);
        // From the entry.
        let begin = Ways::from([(0, graph.enter(0))]);
        let ends = graph.ends(&graph.reach(&begin, &Ways::new())?);
        summary.through = ends.0;
        summary.to = ends.1;
        // From where stretches begin.
        for start in [Start::Look, Start::Wake] {
            let (arrivals, leavings) = graph.sources(start);
            if arrivals.is_empty() && leavings.is_empty() {
                continue;
            }
            let (through, to) = graph.ends(&graph.reach(&arrivals, &leavings)?);
            if let Some(way) = through {
                summary.from.insert(start, way);
            }
            for (end, way) in to {
                longer(
                    summary.within.entry((start, end)).or_default(),
                    way,
                    graph.line,
                );
            }
        }
        Ok(summary)
    }
}

/// Keeps the longer one.
fn longer(known: &mut Way, way: Way, line: u64) {
    if way.cycles(line) > known.cycles(line) {
        *known = way;
    }
}

/// Ways by the place of a piece.
type Ways = BTreeMap<usize, Way>;

/// The longest ways up to pieces, before they run, and up to where they are left.
#[derive(Default)]
struct Reached {
    arrivals: Ways,
    leavings: Ways,
}

/// A function with what its calls take.
struct Graph<'a> {
    lengths: &'a Lengths<'a>,
    name: &'a str,
    pieces: &'a [Piece],
    callees: BTreeMap<u64, Summary>,
    /// The same without lines of code, where they count in this one.
    without: Option<&'a Self>,
    line: u64,
}

impl<'a> Graph<'a> {
    fn new(
        lengths: &'a Lengths<'a>,
        name: &'a str,
        function: &'a Function,
        callees: BTreeMap<u64, Summary>,
        without: Option<&'a Self>,
    ) -> Self {
        Self {
            lengths,
            name,
            pieces: &function.pieces,
            callees,
            without,
            line: lengths.costs.worst.line,
        }
    }

    /// The lines of a piece that is come to from nowhere.
    fn enter(&self, to: usize) -> Way {
        let (first, last) = self.pieces[to].lines;
        Way {
            code: if self.without.is_some() {
                (first..=last).count() as u64
            } else {
                0
            },
            ..Way::default()
        }
    }

    /// The lines of a piece that are not the piece's before it.
    fn go(&self, from: usize, to: usize) -> Way {
        let before = self.pieces[from].lines;
        let (first, last) = self.pieces[to].lines;
        let new = (first..=last).filter(|line| !(before.0..=before.1).contains(line));
        Way {
            code: if self.without.is_some() {
                new.count() as u64
            } else {
                0
            },
            ..Way::default()
        }
    }

    /// A piece itself.
    fn own(&self, place: usize) -> Way {
        let piece = &self.pieces[place];
        Way {
            run: piece.run,
            data: piece.data,
            ..Way::default()
        }
    }

    /// What leaving a piece takes from before it, with its calls. `None`: it is not left to another piece, or calls
    /// what never returns.
    fn pass(&self, place: usize, arrival: Way) -> Option<Way> {
        let piece = &self.pieces[place];
        let way = arrival.and(self.own(place));
        if matches!(piece.then, Then::Cut(..)) {
            return None;
        }
        if piece.calls.is_empty() {
            return Some(way);
        }
        let callees = piece
            .calls
            .iter()
            .filter_map(|callee| self.callees.get(callee));
        let mut longest = None;
        for through in callees.filter_map(|callee| callee.through) {
            longer(
                longest.get_or_insert(way.and(through)),
                way.and(through),
                self.line,
            );
        }
        longest
    }

    /// Where stretches of this kind begin: pieces that are come to, and pieces that are left behind a call.
    fn sources(&self, start: Start) -> (Ways, Ways) {
        let (mut arrivals, mut leavings) = (Ways::new(), Ways::new());
        for (place, piece) in self.pieces.iter().enumerate() {
            if matches!(piece.then, Then::Cut(_, begins) if begins == start) {
                for next in &piece.next {
                    arrivals.insert(*next, self.enter(*next));
                }
            }
            let callees = piece
                .calls
                .iter()
                .filter_map(|callee| self.callees.get(callee));
            for way in callees.filter_map(|callee| callee.from.get(&start)) {
                longer(leavings.entry(place).or_default(), *way, self.line);
            }
        }
        (arrivals, leavings)
    }

    /// From ways up to pieces: to the return, and to ends of the stretch.
    fn ends(&self, reached: &Reached) -> (Option<Way>, BTreeMap<End, Way>) {
        let mut through = None;
        let mut to = BTreeMap::new();
        for (place, leaving) in &reached.leavings {
            if self.pieces[*place].then == Then::Returns {
                longer(through.get_or_insert(*leaving), *leaving, self.line);
            }
        }
        for (place, arrival) in &reached.arrivals {
            let piece = &self.pieces[*place];
            let way = arrival.and(self.own(*place));
            if let Then::Cut(end, _) = piece.then {
                longer(to.entry(end).or_default(), way, self.line);
            }
            for callee in piece
                .calls
                .iter()
                .filter_map(|callee| self.callees.get(callee))
            {
                for (end, rest) in &callee.to {
                    longer(to.entry(*end).or_default(), way.and(*rest), self.line);
                }
            }
        }
        (through, to)
    }

    /// The longest ways from these on.
    fn reach(&self, arrivals: &Ways, leavings: &Ways) -> Result<Reached, String> {
        let all: Vec<usize> = (0..self.pieces.len()).collect();
        self.reach_within(&all, &BTreeSet::new(), arrivals, leavings)
    }

    /// The same within some pieces, and without edges to the heads of loops that are being done.
    fn reach_within(
        &self,
        pieces: &[usize],
        heads: &BTreeSet<usize>,
        arrivals: &Ways,
        leavings: &Ways,
    ) -> Result<Reached, String> {
        let within: BTreeSet<usize> = pieces.iter().copied().collect();
        let follows = |from: usize| {
            let cut = matches!(self.pieces[from].then, Then::Cut(..));
            let next = self.pieces[from].next.iter().copied().filter(move |_| !cut);
            next.filter(|to| within.contains(to) && !heads.contains(to))
        };
        let mut reached = Reached {
            arrivals: arrivals.clone(),
            leavings: BTreeMap::new(),
        };
        for part in parts(pieces, &follows) {
            let set: BTreeSet<usize> = part.iter().copied().collect();
            let of_part = |ways: &Ways| -> Ways {
                let own = ways.iter().filter(|(place, _)| set.contains(place));
                own.map(|(place, way)| (*place, *way)).collect()
            };
            let is_loop = part.len() > 1 || follows(part[0]).any(|to| to == part[0]);
            let (arrived, left) = (of_part(&reached.arrivals), of_part(leavings));
            if arrived.is_empty() && left.is_empty() {
                continue;
            }
            let found = if is_loop {
                self.turn(&part, heads, &arrived, &left)?
            } else {
                let mut found = Reached {
                    arrivals: arrived.clone(),
                    leavings: left,
                };
                for (place, arrival) in &arrived {
                    if let Some(way) = self.pass(*place, *arrival) {
                        longer(found.leavings.entry(*place).or_default(), way, self.line);
                    }
                }
                found
            };
            for (place, way) in &found.leavings {
                for to in follows(*place).filter(|to| !set.contains(to)) {
                    let way = way.and(self.go(*place, to));
                    longer(reached.arrivals.entry(to).or_default(), way, self.line);
                }
            }
            reached.arrivals.extend(found.arrivals);
            reached.leavings.extend(found.leavings);
        }
        Ok(reached)
    }

    /// Through a loop: what is come to, and left, in it.
    fn turn(
        &self,
        part: &[usize],
        heads: &BTreeSet<usize>,
        arrivals: &Ways,
        leavings: &Ways,
    ) -> Result<Reached, String> {
        let head = self.head(part);
        let most = match loops::most(self.name) {
            Some(most) => most.of(self.lengths.vcpus),
            None => {
                let mut unbounded = self.lengths.unbounded.borrow_mut();
                let known = unbounded.entry(self.name.to_owned()).or_default();
                let begin = self.pieces[head].begin;
                if !known.contains(&begin) {
                    known.push(begin);
                }
                1
            }
        };
        let mut inner = heads.clone();
        inner.insert(head);
        let mut first = self.reach_within(part, &inner, arrivals, leavings)?;
        let round = self.round(part, &inner, head)?;
        let without = self
            .without
            .map(|without| without.round(part, &inner, head));
        let without = without.transpose()?;
        // So many turns, with the lines of each, or with all lines of the loop once.
        let turns = |count: u64| {
            let each = round.times(count);
            let once = without.map(|round| Way {
                code: self.lines(part).len() as u64,
                ..round.times(count)
            });
            match once {
                Some(once) if once.cycles(self.line) < each.cycles(self.line) => once,
                _ => each,
            }
        };
        let mut begin = arrivals.get(&head).map(|way| way.and(turns(most)));
        if let (Some(back), Some(left)) = (self.back(part, head, &first), most.checked_sub(1)) {
            let way = back.and(turns(left));
            longer(begin.get_or_insert(way), way, self.line);
        }
        if let Some(begin) = begin {
            let again =
                self.reach_within(part, &inner, &Ways::from([(head, begin)]), &Ways::new())?;
            for (place, way) in again.arrivals {
                longer(first.arrivals.entry(place).or_default(), way, self.line);
            }
            for (place, way) in again.leavings {
                longer(first.leavings.entry(place).or_default(), way, self.line);
            }
        }
        Ok(first)
    }

    /// The longest way from the head of a loop back to it.
    fn round(&self, part: &[usize], heads: &BTreeSet<usize>, head: usize) -> Result<Way, String> {
        let begin = Ways::from([(head, Way::default())]);
        let round = self.reach_within(part, heads, &begin, &Ways::new())?;
        Ok(self.back(part, head, &round).unwrap_or_default())
    }

    /// The longest way to the head of a loop from pieces in it that are left.
    fn back(&self, part: &[usize], head: usize, reached: &Reached) -> Option<Way> {
        let mut longest = None;
        for place in part {
            let Some(way) = reached.leavings.get(place) else {
                continue;
            };
            if self.pieces[*place].next.contains(&head) {
                let way = way.and(self.go(*place, head));
                longer(longest.get_or_insert(way), way, self.line);
            }
        }
        longest
    }

    /// Where a loop is come to from outside: of several places, the first in the code.
    fn head(&self, part: &[usize]) -> usize {
        let entered = |place: &&usize| {
            let mut all = self.pieces.iter().enumerate();
            **place == 0
                || all.any(|(from, piece)| !part.contains(&from) && piece.next.contains(place))
        };
        let by_address = |place: &&usize| self.pieces[**place].begin;
        let entries = part.iter().filter(entered).min_by_key(by_address);
        *entries
            .or_else(|| part.iter().min_by_key(by_address))
            .unwrap_or(&part[0])
    }

    /// All lines of code of some pieces and of what they call.
    fn lines(&self, part: &[usize]) -> BTreeSet<u64> {
        let mut lines = BTreeSet::new();
        for place in part {
            let piece = &self.pieces[*place];
            lines.extend(piece.lines.0..=piece.lines.1);
            for callee in piece
                .calls
                .iter()
                .filter_map(|callee| self.callees.get(callee))
            {
                lines.extend(&callee.lines);
            }
        }
        lines
    }
}

/// The strongly connected parts of a graph (Tarjan), each before those that follow it.
fn parts<I: Iterator<Item = usize>>(
    pieces: &[usize],
    follows: &impl Fn(usize) -> I,
) -> Vec<Vec<usize>> {
    #[derive(Default)]
    struct Search {
        number: BTreeMap<usize, usize>,
        low: BTreeMap<usize, usize>,
        stack: Vec<usize>,
        parts: Vec<Vec<usize>>,
    }
    let mut search = Search::default();
    for root in pieces {
        if search.number.contains_key(root) {
            continue;
        }
        // Each with those that follow it and are not looked at yet.
        let mut calls: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut enter = Some(*root);
        loop {
            if let Some(place) = enter.take() {
                let number = search.number.len();
                search.number.insert(place, number);
                search.low.insert(place, number);
                search.stack.push(place);
                calls.push((place, follows(place).collect()));
            }
            let Some((place, left)) = calls.last_mut() else {
                break;
            };
            let place = *place;
            if let Some(next) = left.pop() {
                if !search.number.contains_key(&next) {
                    enter = Some(next);
                } else if search.stack.contains(&next) {
                    let low = search.low[&place].min(search.number[&next]);
                    search.low.insert(place, low);
                }
                continue;
            }
            calls.pop();
            if let Some((above, _)) = calls.last() {
                let low = search.low[above].min(search.low[&place]);
                search.low.insert(*above, low);
            }
            if search.low[&place] == search.number[&place] {
                let begin = search.stack.iter().position(|other| *other == place);
                let part = search.stack.split_off(begin.unwrap_or_default());
                search.parts.push(part);
            }
        }
    }
    search.parts.reverse();
    search.parts
}

#[cfg(test)]
mod tests {
    use tactus_board::profile::Profile;

    use super::*;

    /// A piece at a line of its own that takes so long.
    fn piece(line: u64, run: u64, next: &[usize], then: Then) -> Piece {
        Piece {
            begin: line * 32,
            run,
            data: 0,
            lines: (line, line),
            calls: Vec::new(),
            then,
            next: next.to_vec(),
        }
    }

    /// The bounds of functions, the first of which is the entry, by their beginnings and ends.
    fn bounds(functions: Vec<(&str, Vec<Piece>)>) -> Result<Vec<(Start, End, u64, u64)>, String> {
        let names: Vec<(u64, &str)> = (1..)
            .zip(&functions)
            .map(|(at, (name, _))| (at * 0x1000, *name))
            .collect();
        let program = Program::named(&names);
        let functions = (1..).zip(functions).map(|(at, (_, pieces))| {
            let function = Function { pieces, frame: 0 };
            (at * 0x1000, function)
        });
        let functions = functions.collect();
        let profile = Profile::named("soc").expect("it comes with the board");
        let costs = Costs::of(&profile.timing, 2).expect("it has caches");
        let mut lengths = Lengths::new(&program, &functions, &costs, 4);
        let traps = lengths.from_entry(0x1000, &BTreeSet::new())?;
        let traps = traps
            .into_iter()
            .map(|(end, bound)| (Start::Trap("entry"), end, bound.run, bound.code));
        let cuts = lengths.from_cuts(0x1000)?;
        let cuts = cuts
            .into_iter()
            .map(|(start, end, bound)| (start, end, bound.run, bound.code));
        Ok(traps.chain(cuts).collect())
    }

    const GUEST: Then = Then::Cut(End::Guest, Start::Look);
    const LOOK: Then = Then::Cut(End::Look, Start::Look);
    /// A function with a stated count of 3.
    const LOOP: &str = "tactus_policy::ready::ListQueue<_>::highest_to";

    #[test]
    fn the_longer_branch_counts_and_a_look_divides_ways() {
        // 0 > 1 or 2 > 3; 3 looks > 4, a guest.
        let entry = vec![
            piece(0, 10, &[1, 2], Then::Goes),
            piece(1, 500, &[3], Then::Goes),
            piece(2, 20, &[3], Then::Goes),
            piece(3, 1, &[4], LOOK),
            piece(4, 7, &[], GUEST),
        ];
        let wanted = [
            (Start::Trap("entry"), End::Look, 511, 3),
            (Start::Look, End::Guest, 7, 1),
        ];
        assert_eq!(bounds(vec![("entry", entry)]), Ok(wanted.to_vec()));
    }

    #[test]
    fn a_loop_turns_as_often_as_is_stated_and_its_lines_come_once() {
        // 0 > 1 > 2 > 1, and 1 > 3.
        let turning = || {
            vec![
                piece(0, 1, &[1], Then::Goes),
                piece(1, 10, &[2, 3], Then::Goes),
                piece(2, 100, &[1], Then::Goes),
                piece(3, 1000, &[], GUEST),
            ]
        };
        // Its head once more than the loop turns; no line more often than there are lines.
        let found = bounds(vec![(LOOP, turning())]);
        assert_eq!(
            found,
            Ok(vec![(
                Start::Trap("entry"),
                End::Guest,
                1 + 4 * 10 + 3 * 100 + 1000,
                4
            )])
        );
        let unknown = bounds(vec![("entry", turning())]).expect_err("its count is not stated");
        assert_eq!(unknown, "loops without a stated count: entry (0x20)");
    }

    #[test]
    fn what_is_called_is_part_of_the_way() {
        let mut call = piece(0, 5, &[1], Then::Goes);
        call.calls = vec![0x2000];
        let entry = || vec![call.clone(), piece(1, 3, &[], GUEST)];
        let returns = vec![piece(8, 40, &[], Then::Returns)];
        let found = bounds(vec![("entry", entry()), ("callee", returns)]);
        assert_eq!(found, Ok(vec![(Start::Trap("entry"), End::Guest, 48, 3)]));
        // It looks, and then returns.
        let looks = vec![piece(8, 40, &[1], LOOK), piece(9, 60, &[], Then::Returns)];
        let found = bounds(vec![("entry", entry()), ("callee", looks)]);
        let wanted = [
            (Start::Trap("entry"), End::Look, 45, 2),
            (Start::Look, End::Guest, 63, 2),
        ];
        assert_eq!(found, Ok(wanted.to_vec()));
        let mut again = piece(8, 40, &[], Then::Returns);
        again.calls = vec![0x2000];
        let found = bounds(vec![("entry", entry()), ("callee", vec![again])]);
        assert_eq!(found, Err("it calls itself: callee > callee".to_owned()));
    }
}
