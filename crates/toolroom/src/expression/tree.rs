//! The parsed form of an expression.

use std::collections::BTreeSet;
use std::f64::consts;

use super::functions::Function;
use super::number::Number;

/// A part of an expression and the character it starts at, or that of its operator.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) position: usize,
    pub(super) kind: NodeKind,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    Literal(Literal),
    Name(String),
    List(Vec<Node>),
    /// A value and the keys that lead into it: `args.items[0]`.
    Path {
        base: Box<Node>,
        keys: Vec<Key>,
    },
    Prefix {
        operator: Prefix,
        operand: Box<Node>,
    },
    /// A value and the operators applied to it from left to right.
    ///
    /// A flat list and not a tree of pairs: a sum of thousands of terms then is no deeper than one of two.
    Chain {
        first: Box<Node>,
        links: Vec<Link>,
    },
    Call {
        function: &'static Function,
        arguments: Vec<Node>,
    },
    /// The condition, the value if it holds, the value if not.
    If(Box<[Node; 3]>),
}

impl Node {
    /// Adds the keys that are asked of `root` itself. Goes as deep as the parser let the expression nest.
    pub(super) fn collect_keys<'a>(&'a self, root: &str, found: &mut BTreeSet<&'a str>) {
        match &self.kind {
            NodeKind::Literal(_) | NodeKind::Name(_) => {}
            NodeKind::List(nodes) | NodeKind::Call { arguments: nodes, .. } => {
                nodes.iter().for_each(|node| node.collect_keys(root, found));
            }
            NodeKind::If(branches) => branches.iter().for_each(|node| node.collect_keys(root, found)),
            NodeKind::Prefix { operand, .. } => operand.collect_keys(root, found),
            NodeKind::Chain { first, links } => {
                first.collect_keys(root, found);
                links.iter().for_each(|link| link.right.collect_keys(root, found));
            }
            NodeKind::Path { base, keys } => {
                if matches!(&base.kind, NodeKind::Name(name) if name == root) {
                    found.extend(keys.first().and_then(Key::text));
                }
                base.collect_keys(root, found);
                for key in keys {
                    if let Key::Index(node) = key {
                        node.collect_keys(root, found);
                    }
                }
            }
        }
    }
}

impl Key {
    /// The key, if it is written down rather than worked out.
    fn text(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Index(Node { kind: NodeKind::Literal(Literal::Text(text)), .. }) => Some(text),
            Self::Index(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
}

/// The names with a fixed value, which variables cannot replace.
pub(super) const CONSTANTS: [(&str, Literal); 6] = [
    ("true", Literal::Bool(true)),
    ("false", Literal::Bool(false)),
    ("null", Literal::Null),
    ("pi", Literal::Number(Number::Float(consts::PI))),
    ("e", Literal::Number(Number::Float(consts::E))),
    ("tau", Literal::Number(Number::Float(consts::TAU))),
];

pub(super) fn constant(name: &str) -> Option<Literal> {
    let found = CONSTANTS.iter().find(|(constant, _)| *constant == name);
    found.map(|(_, literal)| literal.clone())
}

/// One operator of a chain with its right side.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) position: usize,
    pub(super) operator: Infix,
    pub(super) right: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Key {
    /// `.name`
    Name(String),
    /// `[index]`
    Index(Node),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    Not,
    Minus,
    Plus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Or,
    And,
    Comparison(Comparison),
    Arithmetic(Arithmetic),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
    Contains,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
}

impl Comparison {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
            Self::Contains => "contains",
        }
    }
}

impl Arithmetic {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::FloorDivide => "//",
            Self::Remainder => "%",
            Self::Power => "^",
        }
    }
}
