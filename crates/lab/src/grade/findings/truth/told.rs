//! What is so of a property, and whether the times of a drive can tell it.

/// By how many times writes at random are slower is known to so large a share.
pub(super) const KNOWN_TO: f64 = 1.02;

/// What is so.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Truth {
    /// A number, of which a finding may be off by this share.
    Number(f64, f64),
    /// A class.
    Class(&'static str),
    /// There is nothing of the kind: a number would be of something else.
    None,
    /// The closed forms do not say what is so: whatever is found is neither right nor wrong.
    Open,
}

impl Truth {
    /// In words.
    pub(crate) fn words(&self) -> String {
        match self {
            Truth::Number(value, _) => number(*value),
            Truth::Class(class) => (*class).into(),
            Truth::None => "none".into(),
            Truth::Open => "not known".into(),
        }
    }
}

/// A number as it is shown: whole, or with three digits.
pub(crate) fn number(value: f64) -> String {
    match value {
        whole if whole.fract() == 0.0 || whole >= 1000.0 => format!("{whole:.0}"),
        large if large >= 10.0 => format!("{large:.1}"),
        small => format!("{small:.3}"),
    }
}

/// Whether the times of a drive can tell a property, by closed forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    /// A detector that is undetermined misses it.
    Yes,
    /// A detector that says something guesses, even if it is right.
    No,
    /// The closed form is no more exact than that: a detector may say something, and has to be right.
    Perhaps,
}

impl From<bool> for Told {
    fn from(told: bool) -> Told {
        if told { Told::Yes } else { Told::No }
    }
}

impl Told {
    /// What needs both is told no better than the one that is told less.
    pub(super) fn and(self, other: Told) -> Told {
        match (self, other) {
            (Told::No, _) | (_, Told::No) => Told::No,
            (Told::Perhaps, _) | (_, Told::Perhaps) => Told::Perhaps,
            (Told::Yes, Told::Yes) => Told::Yes,
        }
    }

    /// That a number is more than another, of which the least and the most it may be are known.
    pub(super) fn is_more(least: f64, most: f64, than: f64) -> Told {
        match (least > than, most > than) {
            (true, _) => Told::Yes,
            (false, false) => Told::No,
            (false, true) => Told::Perhaps,
        }
    }
}
