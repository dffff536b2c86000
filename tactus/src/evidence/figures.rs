//! Each figure with its formula, where the formula comes from, and where the book derives it.

use serde_json::{Value, json};

/// The page that derives most of them.
const BOOK: &str = "explanation/guaranteed-time.md";

/// A figure of the report.
pub(super) struct Figure {
    /// What the report calls it.
    pub(super) name: &'static str,
    /// As on the book's page.
    pub(super) formula: &'static str,
    /// Who found it.
    pub(super) source: &'static str,
    /// The section of the book's page.
    pub(super) section: &'static str,
}

impl Figure {
    /// Page and section.
    pub(super) fn place(&self) -> String {
        format!("{BOOK}, \"{}\"", self.section)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "figure": self.name,
            "formula": self.formula,
            "source": self.source,
            "book": self.place(),
        })
    }
}

/// All of them, in the order of the report.
pub(super) const FIGURES: [Figure; 18] = [
    Figure {
        name: "is there enough time at all",
        formula: "sum of cost / period                              <=  1 - be_reserve\n\
                  sum of cost / period  +  service / service_period <=  1",
        source: "Liu and Layland, Journal of the ACM 20(1), 1973, with the hypervisor's own time",
        section: "By deadlines",
    },
    Figure {
        name: "what holds up a vCPU at a time",
        formula: "held = blocking + (vCPUs - 1) * interrupt",
        source: "derived in the book; tested against every schedule of small sets",
        section: "By deadlines",
    },
    Figure {
        name: "is there enough before every deadline",
        formula: "H(L) = held + (floor(L / service_period) + 1) * service + sum of due(L)",
        source: "Baruah, Rosier and Howell, Real-Time Systems 2, 1990; searched as by Zhang and Burns, IEEE Transactions on Computers 58(9), 2009",
        section: "By deadlines",
    },
    Figure {
        name: "what a server may ask for",
        formula: "server:    due(L) = L * cost / deadline                        if L < deadline\n           \
                  due(L) = cost + (L - deadline) * cost / period      otherwise",
        source: "Abeni and Buttazzo, RTSS 1998",
        section: "By deadlines",
    },
    Figure {
        name: "what a server has asked for",
        formula: "server:    asked(L) = n * cost + min(L - n * period, deadline) * cost / deadline     with n = floor(L / period)",
        source: "derived in the book; compared with every schedule of small sets and with an independent analysis",
        section: "When it has its budget",
    },
    Figure {
        name: "what can have run",
        formula: "periodic:  run(t) = ceil(t / period) * cost\n\
                  server:    run(t) = asked(max(t, cost) - cost + deadline)",
        source: "periodic: Spuri, INRIA RR-2772, 1996; server: derived in the book",
        section: "When it has its budget",
    },
    Figure {
        name: "has it within, by deadlines",
        formula: "t = held + (floor(t / service_period) + 1) * service + sum of min(asked(a + deadline), run(t))",
        source: "Spuri, INRIA RR-2772, 1996, with servers",
        section: "When it has its budget",
    },
    Figure {
        name: "has it within, by priorities",
        formula: "t = held + (floor(t / service_period) + 1) * service + w * cost / deadline + cost + others(t)\n\
                  R = t                              if w = 0\n    \
                  t - (w + period - deadline)    otherwise",
        source: "Joseph and Pandya, The Computer Journal 29(5), 1986; Bernat and Burns, RTSS 1999",
        section: "By priorities",
    },
    Figure {
        name: "what several servers of a higher priority can have run",
        formula: "together(t) = sum of cost + max(0, t - ahead) * cost / period",
        source: "derived in the book; compared with every schedule of small sets and with an independent analysis",
        section: "By priorities",
    },
    Figure {
        name: "has it within, by priorities, in the high mode",
        formula: "t = held + (floor(t / service_period) + 1) * service + budget_high + 2 * job + others_high(t) + low(t of the low mode) + dropped(t) * job",
        source: "Baruah, Burns and Davis, RTSS 2011 (AMC-rtb); compared with random schedules",
        section: "By priorities",
    },
    Figure {
        name: "from an interrupt to the release",
        formula: "from an interrupt to the release = held + service",
        source: "derived in the book",
        section: "When it has its budget",
    },
    Figure {
        name: "begins within",
        formula: "t = held + (floor(t / service_period) + 1) * service + sum of min(asked(a + deadline), run(t)) - (budget - 1 tick)\n\
                  begins within = the greatest t - a of all a, less 1 tick",
        source: "as \"has it within\", of the first tick of the budget; derived in the book, tested against every schedule of small sets",
        section: "How much starts and ends vary",
    },
    Figure {
        name: "ends vary by",
        formula: "finish jitter = has it within - budget",
        source: "definition: no job spends its budget sooner than a budget after its release",
        section: "How much starts and ends vary",
    },
    Figure {
        name: "best effort waits",
        formula: "t = blocking + (floor(t / service_period) + 1) * service + sum of run(t)",
        source: "the longest busy period: Spuri, INRIA RR-2772, 1996",
        section: "What best effort has",
    },
    Figure {
        name: "best effort has at least",
        formula: "least(L) = min over y >= L of y - blocking - (floor(y / service_period) + 1) * service - sum of (cost + y * cost / period)",
        source: "the same, for windows that begin within a busy period; derived in the book",
        section: "What best effort has",
    },
    Figure {
        name: "what a vCPU has at least for the tasks of its VM",
        formula: "supply(t) = 0                                                                            if t <= begin\n\
                  supply(t) = floor((t - begin) / period) * budget + min(budget, (t - begin) mod period)   otherwise\n\n\
                  begin = period + W - budget - max(0, budget - k * job - held)",
        source: "Shin and Lee, RTSS 2003; Easwaran, Anand and Lee, RTSS 2007, with wakings; derived in the book",
        section: "What runs inside a VM",
    },
    Figure {
        name: "what of a budget is left when caches are reloaded",
        formula: "left = budget - (1 + sum of preemptions by the others of the hart) * reload",
        source: "preemptions: counted in the book, compared with simulated schedules; `reload`: measured on the board with `tactus run`, and a margin, no bound; what it is: Lee et al., IEEE Transactions on Computers 47(6), 1998",
        section: "What runs inside a VM",
    },
    Figure {
        name: "a task is done within",
        formula: "supply(t) >= wcet + sum over those of the same or a higher priority of ceil((t + jitter) / period) * wcet",
        source: "Audsley et al., Software Engineering Journal 8(5), 1993, with the supply in place of the time",
        section: "What runs inside a VM",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/src/explanation/guaranteed-time.md");

    /// The formulas are those of the page, in the section that is named.
    #[test]
    fn formulas_are_the_books() {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for figure in &FIGURES {
            let heading = format!("\n## {}\n", figure.section);
            let (_, section) = PAGE.split_once(&heading).expect("the section");
            let section = section.split("\n## ").next().expect("its text");
            assert!(
                words(section).contains(&words(figure.formula)),
                "{}: {} is not in {}",
                figure.name,
                figure.formula,
                figure.section
            );
        }
    }
}
