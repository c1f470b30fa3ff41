//! Random trees, written as text and evaluated twice: by the language, and by an interpreter that shares nothing
//! with it but the documented rules and computes ints in 128 bits.

use std::cmp::Ordering;

use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

use super::super::{Value, evaluate};
use super::cases;

#[derive(Clone, Debug)]
enum Tree {
    Int(i64),
    Float(f64),
    Bool(bool),
    Text(&'static str),
    Null,
    Negative(Box<Tree>),
    Not(Box<Tree>),
    If(Box<[Tree; 3]>),
    Pair(Operator, Box<[Tree; 2]>),
}

/// Spellings, and how tight it binds.
type Operator = &'static (&'static [&'static str], u8);

const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARISON: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const SIGN: u8 = 7;
const POWER: u8 = 8;
const VALUE: u8 = 9;

static ARITHMETIC: [(&[&str], u8); 7] = [
    (&["+"], SUM),
    (&["-", "−"], SUM),
    (&["*", "×"], PRODUCT),
    (&["/", "÷"], PRODUCT),
    (&["//"], PRODUCT),
    (&["%"], PRODUCT),
    (&["^", "**"], POWER),
];

static COMPARISONS: [(&[&str], u8); 6] = [
    (&["==", "="], COMPARISON),
    (&["!=", "≠"], COMPARISON),
    (&["<"], COMPARISON),
    (&["<=", "≤"], COMPARISON),
    (&[">"], COMPARISON),
    (&[">=", "≥"], COMPARISON),
];

static LOGIC: [(&[&str], u8); 2] = [(&["or", "||"], OR), (&["and", "&&"], AND)];

fn leaves() -> BoxedStrategy<Tree> {
    let edges = [i64::MAX, i64::MAX - 1, 1 << 53, (1 << 53) + 1, (1 << 62) + 1, 3_037_000_500];
    let floats =
        [0.0, 0.5, 1.0, 2.5, 1e-7, 9_007_199_254_740_992.0, 9_223_372_036_854_775_808.0, 1e200, 1e308];
    prop_oneof![
        12 => (0_i64..12).prop_map(Tree::Int),
        2 => select(edges.to_vec()).prop_map(Tree::Int),
        1 => (0..=i64::MAX).prop_map(Tree::Int),
        4 => select(floats.to_vec()).prop_map(Tree::Float),
        1 => (0.0..1e6).prop_map(Tree::Float),
    ]
    .boxed()
}

fn other_kinds() -> BoxedStrategy<Tree> {
    prop_oneof![
        any::<bool>().prop_map(Tree::Bool),
        select(vec!["", "a", "b"]).prop_map(Tree::Text),
        Just(Tree::Null),
    ]
    .boxed()
}

fn pair(operators: &'static [(&[&str], u8)], side: &BoxedStrategy<Tree>) -> BoxedStrategy<Tree> {
    let operator = (0..operators.len()).prop_map(|index| &operators[index]);
    (operator, side.clone(), side.clone())
        .prop_map(|(operator, left, right)| Tree::Pair(operator, Box::new([left, right])))
        .boxed()
}

fn choice(condition: &BoxedStrategy<Tree>, branch: &BoxedStrategy<Tree>) -> BoxedStrategy<Tree> {
    (condition.clone(), branch.clone(), branch.clone())
        .prop_map(|(condition, then, otherwise)| Tree::If(Box::new([condition, then, otherwise])))
        .boxed()
}

/// Mostly numbers and, in the second strategy, mostly bools: errors of kind stay possible but do not rule.
fn trees(depth: u32) -> (BoxedStrategy<Tree>, BoxedStrategy<Tree>) {
    if depth == 0 {
        return (leaves(), any::<bool>().prop_map(Tree::Bool).boxed());
    }
    let (numbers, bools) = trees(depth - 1);
    let number = prop_oneof![
        20 => leaves(),
        40 => pair(&ARITHMETIC, &numbers),
        8 => numbers.clone().prop_map(|tree| Tree::Negative(Box::new(tree))),
        6 => choice(&bools, &numbers),
        1 => other_kinds(),
    ];
    let truth = prop_oneof![
        20 => pair(&COMPARISONS, &numbers),
        2 => pair(&COMPARISONS, &other_kinds()),
        20 => pair(&LOGIC, &bools),
        8 => bools.clone().prop_map(|tree| Tree::Not(Box::new(tree))),
        4 => choice(&bools, &bools),
        1 => leaves(),
    ];
    (number.boxed(), truth.boxed())
}

/// Writes trees with the parentheses they need and, as the noise wants it, spaces and parentheses they do not.
struct Writer<'a> {
    noise: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    text: String,
}

impl Writer<'_> {
    fn noise(&mut self, below: usize) -> usize {
        usize::from(*self.noise.next().unwrap()) % below
    }

    fn space(&mut self) {
        let spaces = ["", "", " ", "  ", "\n\t"];
        let space = spaces[self.noise(spaces.len())];
        self.text.push_str(space);
    }

    fn token(&mut self, token: &str) {
        self.space();
        let is_word = token.starts_with(|c: char| c.is_alphanumeric());
        if is_word && self.text.ends_with(|c: char| c.is_alphanumeric()) {
            self.text.push(' ');
        }
        self.text.push_str(token);
    }

    /// The tree where operators below the given binding need parentheses.
    fn tree(&mut self, tree: &Tree, least: u8) {
        let binding = match tree {
            Tree::Pair((_, binding), _) => *binding,
            Tree::Negative(_) => SIGN,
            Tree::Not(_) => NOT,
            _ => VALUE,
        };
        if binding < least || self.noise(8) == 0 {
            self.token("(");
            self.bare(tree);
            self.token(")");
        } else {
            self.bare(tree);
        }
    }

    fn bare(&mut self, tree: &Tree) {
        match tree {
            Tree::Int(int) => self.token(&int.to_string()),
            Tree::Float(float) => self.token(&format!("{float:?}")),
            Tree::Bool(truth) => self.token(&truth.to_string()),
            Tree::Text(text) => self.token(&format!("'{text}'")),
            Tree::Null => self.token("null"),
            Tree::Negative(tree) => {
                let sign = ["-", "−"][self.noise(2)];
                self.token(sign);
                self.tree(tree, SIGN);
            }
            Tree::Not(tree) => {
                let not = ["not", "!"][self.noise(2)];
                self.token(not);
                self.tree(tree, NOT);
            }
            Tree::If(branches) => {
                for (opening, branch) in ["if(", ",", ","].into_iter().zip(branches.iter()) {
                    self.token(opening);
                    self.tree(branch, OR);
                }
                self.token(")");
            }
            Tree::Pair((spellings, binding), sides) => {
                let (left, right) = match *binding {
                    POWER => (VALUE, SIGN),
                    COMPARISON => (SUM, SUM),
                    other => (other, other + 1),
                };
                self.tree(&sides[0], left);
                let spelling = spellings[self.noise(spellings.len())];
                self.token(spelling);
                self.tree(&sides[1], right);
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Known {
    Int(i128),
    Float(f64),
    Bool(bool),
    Text(String),
    Null,
}

/// `None` is any error.
fn interpret(tree: &Tree) -> Option<Known> {
    match tree {
        Tree::Int(int) => Some(Known::Int(i128::from(*int))),
        Tree::Float(float) => Some(Known::Float(*float)),
        Tree::Bool(truth) => Some(Known::Bool(*truth)),
        Tree::Text(text) => Some(Known::Text((*text).to_owned())),
        Tree::Null => Some(Known::Null),
        Tree::Negative(tree) => match interpret(tree)? {
            Known::Int(int) => fitting(-int),
            Known::Float(float) => Some(Known::Float(-float)),
            _ => None,
        },
        Tree::Not(tree) => Some(Known::Bool(!truth(tree)?)),
        Tree::If(branches) => interpret(if truth(&branches[0])? { &branches[1] } else { &branches[2] }),
        Tree::Pair((spellings, _), sides) => match spellings[0] {
            "or" => Some(Known::Bool(truth(&sides[0])? || truth(&sides[1])?)),
            "and" => Some(Known::Bool(truth(&sides[0])? && truth(&sides[1])?)),
            operator => pair_of(operator, interpret(&sides[0])?, interpret(&sides[1])?),
        },
    }
}

fn truth(tree: &Tree) -> Option<bool> {
    match interpret(tree)? {
        Known::Bool(truth) => Some(truth),
        _ => None,
    }
}

fn fitting(int: i128) -> Option<Known> {
    i64::try_from(int).ok().map(|_| Known::Int(int))
}

fn finite(float: f64) -> Option<Known> {
    float.is_finite().then_some(Known::Float(float))
}

fn pair_of(operator: &str, left: Known, right: Known) -> Option<Known> {
    if matches!(operator, "==" | "!=") {
        let equal = order(&left, &right).map_or(left == right, Ordering::is_eq);
        return Some(Known::Bool(equal == (operator == "==")));
    }
    if matches!(operator, "<" | "<=" | ">" | ">=") {
        let order = order(&left, &right)?;
        return Some(Known::Bool(match operator {
            "<" => order.is_lt(),
            "<=" => order.is_le(),
            ">" => order.is_gt(),
            _ => order.is_ge(),
        }));
    }
    match (left, right) {
        (Known::Int(left), Known::Int(right)) => ints(operator, left, right),
        (Known::Int(left), Known::Float(right)) => floats(operator, left as f64, right),
        (Known::Float(left), Known::Int(right)) => floats(operator, left, right as f64),
        (Known::Float(left), Known::Float(right)) => floats(operator, left, right),
        (Known::Text(left), Known::Text(right)) if operator == "+" => Some(Known::Text(left + &right)),
        _ => None,
    }
}

fn ints(operator: &str, left: i128, right: i128) -> Option<Known> {
    match operator {
        "+" => fitting(left + right),
        "-" => fitting(left - right),
        "*" => fitting(left * right),
        "/" | "//" | "%" if right == 0 => None,
        "/" if left % right == 0 => fitting(left / right),
        // Beyond 53 bits ints are no floats: the whole quotient and the rest are divided apart.
        "/" if left.abs().max(right.abs()) > 1 << 53 => {
            finite((left / right) as f64 + (left % right) as f64 / right as f64)
        }
        "/" => finite(left as f64 / right as f64),
        "//" if right < 0 => fitting((-left).div_euclid(-right)),
        "//" => fitting(left.div_euclid(right)),
        "%" => fitting(left % right),
        _ if right < 0 => floats(operator, left as f64, right as f64),
        _ => {
            let mut power = 1_i128;
            // Past 64 factors only the parity matters: anything but -1, 0 and 1 has left the range before.
            for _ in 0..right.min(64 + right % 2) {
                power = power.checked_mul(left).filter(|power| power.abs() <= 1 << 64)?;
            }
            fitting(power)
        }
    }
}

fn floats(operator: &str, left: f64, right: f64) -> Option<Known> {
    match operator {
        "+" => finite(left + right),
        "-" => finite(left - right),
        "*" => finite(left * right),
        "/" => finite(left / right),
        "//" => finite((left / right).floor()),
        "%" => finite(left % right),
        _ => finite(left.powf(right)),
    }
}

/// The order of two numbers or two texts; ints and floats are compared as fractions, never rounded.
fn order(left: &Known, right: &Known) -> Option<Ordering> {
    match (left, right) {
        (Known::Int(left), Known::Int(right)) => Some(left.cmp(right)),
        (Known::Float(left), Known::Float(right)) => left.partial_cmp(right),
        (Known::Int(int), Known::Float(float)) => Some(int_to_float(*int, *float)),
        (Known::Float(float), Known::Int(int)) => Some(int_to_float(*int, *float).reverse()),
        (Known::Text(left), Known::Text(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn int_to_float(int: i128, float: f64) -> Ordering {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, still beyond every int of 64 bits")]
    let below = float.floor() as i128;
    int.cmp(&below).then(if float > float.floor() { Ordering::Less } else { Ordering::Equal })
}

fn expected(known: Known) -> Value {
    match known {
        Known::Int(int) => Value::Int(i64::try_from(int).unwrap()),
        Known::Float(float) => Value::Float(float),
        Known::Bool(truth) => Value::Bool(truth),
        Known::Text(text) => Value::Text(text),
        Known::Null => Value::Null,
    }
}

fn agree(tree: &Tree, noise: &[u8]) {
    let mut writer = Writer { noise: noise.iter().cycle(), text: String::new() };
    writer.tree(tree, OR);
    let text = writer.text;
    let found = evaluate(&text, &());
    assert_eq!(found.clone().ok(), interpret(tree).map(expected), "of `{text}`: {found:?}");
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn numbers_agree_with_the_reference(
        tree in trees(4).0,
        noise in proptest::collection::vec(any::<u8>(), 1..50),
    ) {
        agree(&tree, &noise);
    }

    #[test]
    fn conditions_agree_with_the_reference(
        tree in trees(4).1,
        noise in proptest::collection::vec(any::<u8>(), 1..50),
    ) {
        agree(&tree, &noise);
    }
}
