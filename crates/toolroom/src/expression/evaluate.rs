//! A parsed expression and its evaluation.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::error::{ExpressionError, ExpressionProblem as Problem};
use super::functions::{Function, IF};
use super::limits::Budget;
use super::operand::Operand;
use super::operation::{arithmetic, at_index, compare, prefixed, truth};
use super::parser::parse;
use super::tree::{Arithmetic, Comparison, Infix, Key, Link, Literal, Node, NodeKind, Prefix};
use super::value::{Value, Variables};

/// An expression that was read once and can be evaluated any number of times.
///
/// ```
/// use serde_json::json;
/// use toolroom::expression::Expression;
///
/// let rule = Expression::parse("args.command contains 'rm' and caller.user != 'ann'")?;
/// let variables = json!({ "args": { "command": "rm -r x" }, "caller": { "user": "bob" } });
/// assert!(rule.holds(&variables)?);
/// # Ok::<(), toolroom::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression {
    tree: Node,
    roots: BTreeSet<String>,
}

/// Reads and evaluates a text in one go.
///
/// # Errors
/// When the text is no expression or its evaluation fails.
pub fn evaluate(text: &str, variables: &dyn Variables) -> Result<Value, ExpressionError> {
    Expression::parse(text)?.evaluate(variables)
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// When the text is no expression, calls an unknown function, or is over a limit.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let (tree, roots) = parse(text)?;
        Ok(Self { tree, roots })
    }

    /// The root names in it, sorted, so that a loader can refuse the ones it does not know.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(String::as_str)
    }

    /// The keys that are asked of a root name itself, sorted: `a` and `b` in `args.a[0] == args['b']`.
    #[must_use]
    pub fn keys_of(&self, root: &str) -> BTreeSet<&str> {
        let mut keys = BTreeSet::new();
        self.tree.collect_keys(root, &mut keys);
        keys
    }

    /// The value with these variables.
    ///
    /// # Errors
    /// When a name is unknown, an operator does not fit its operands, a result is no finite number, or a limit
    /// is reached.
    pub fn evaluate(&self, variables: &dyn Variables) -> Result<Value, ExpressionError> {
        let mut budget = Budget::new();
        let operand = self.operand(variables, &mut budget)?;
        operand.into_value(&mut budget).map_err(|problem| problem.at(self.tree.position))
    }

    /// Whether this condition holds with these variables.
    ///
    /// # Errors
    /// As [`Expression::evaluate`], and when the value is not a bool.
    pub fn holds(&self, variables: &dyn Variables) -> Result<bool, ExpressionError> {
        self.condition(variables, &mut Budget::new())
    }

    /// The same for one of several conditions, which together have `steps` left.
    pub(crate) fn holds_within(
        &self,
        variables: &dyn Variables,
        steps: &Cell<usize>,
    ) -> Result<bool, ExpressionError> {
        let left = steps.get();
        let mut budget = Budget::of_shared(left);
        let holds = self.condition(variables, &mut budget);
        steps.set(budget.left_of(left));
        holds
    }

    fn condition(&self, variables: &dyn Variables, budget: &mut Budget) -> Result<bool, ExpressionError> {
        match self.operand(variables, budget)? {
            Operand::Bool(truth) => Ok(truth),
            other => Err(Problem::NotACondition { found: other.kind() }.at(self.tree.position)),
        }
    }

    fn operand<'a>(
        &'a self,
        variables: &'a dyn Variables,
        budget: &mut Budget,
    ) -> Result<Operand<'a>, ExpressionError> {
        Evaluation { variables, budget }.node(&self.tree)
    }
}

/// One evaluation; each kind of node has its own function to keep the stack frames of the recursion small.
struct Evaluation<'a, 'b> {
    variables: &'a dyn Variables,
    budget: &'b mut Budget,
}

impl<'a> Evaluation<'a, '_> {
    fn node(&mut self, node: &'a Node) -> Result<Operand<'a>, ExpressionError> {
        self.budget.spend(1).map_err(|problem| problem.at(node.position))?;
        match &node.kind {
            NodeKind::Literal(literal) => Ok(Operand::from(literal)),
            NodeKind::Name(name) => self.name(name, node.position),
            NodeKind::List(items) => self.list(items),
            NodeKind::Path { base, keys } => self.path(base, keys),
            NodeKind::Prefix { operator, operand } => self.prefix(*operator, operand, node.position),
            NodeKind::Chain { first, links } => self.chain(first, links),
            NodeKind::Call { function, arguments } => self.call(function, arguments, node.position),
            NodeKind::If(branches) => self.choice(branches, node.position),
        }
    }

    fn name(&mut self, name: &str, position: usize) -> Result<Operand<'a>, ExpressionError> {
        let found = self.variables.get(name).map(Operand::from);
        let found = found.or_else(|| self.variables.object(name).map(Operand::Map));
        found.ok_or_else(|| Problem::unknown_name(name, self.variables).at(position))
    }

    fn list(&mut self, items: &'a [Node]) -> Result<Operand<'a>, ExpressionError> {
        self.nodes(items).map(|values| Operand::List(Rc::new(values)))
    }

    fn call(
        &mut self,
        function: &Function,
        arguments: &'a [Node],
        position: usize,
    ) -> Result<Operand<'a>, ExpressionError> {
        let values = self.nodes(arguments)?;
        function.call(values, self.budget).map_err(|problem| problem.at(position))
    }

    fn nodes(&mut self, nodes: &'a [Node]) -> Result<Vec<Operand<'a>>, ExpressionError> {
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            values.push(self.node(node)?);
        }
        Ok(values)
    }

    fn path(&mut self, base: &'a Node, keys: &'a [Key]) -> Result<Operand<'a>, ExpressionError> {
        let (mut value, keys) = match (&base.kind, keys) {
            (NodeKind::Name(name), [Key::Name(key), deeper @ ..])
                if let Some(member) = self.variables.member(name, key) =>
            {
                (Operand::from(member), deeper)
            }
            _ => (self.node(base)?, keys),
        };
        for key in keys {
            value = match key {
                Key::Name(name) => value.key(name),
                Key::Index(node) => {
                    let index = self.node(node)?;
                    at_index(&value, &index).map_err(|problem| problem.at(node.position))?
                }
            };
        }
        Ok(value)
    }

    fn prefix(
        &mut self,
        operator: Prefix,
        operand: &'a Node,
        position: usize,
    ) -> Result<Operand<'a>, ExpressionError> {
        let operand = self.node(operand)?;
        prefixed(operator, &operand).map_err(|problem| problem.at(position))
    }

    fn choice(&mut self, branches: &'a [Node; 3], position: usize) -> Result<Operand<'a>, ExpressionError> {
        let [condition, then, otherwise] = branches;
        let condition = self.node(condition)?;
        let truth = truth(&condition, IF).map_err(|problem| problem.at(position))?;
        self.node(if truth { then } else { otherwise })
    }

    fn chain(&mut self, first: &'a Node, links: &'a [Link]) -> Result<Operand<'a>, ExpressionError> {
        let mut left = self.node(first)?;
        for link in links {
            left = match link.operator {
                Infix::And => self.logic(&left, "and", false, link)?,
                Infix::Or => self.logic(&left, "or", true, link)?,
                Infix::Arithmetic(operator) => {
                    let right = self.node(&link.right)?;
                    self.arithmetic(left, operator, &right, link.position)?
                }
                Infix::Comparison(operator) => {
                    let right = self.node(&link.right)?;
                    self.comparison(&left, operator, &right, link.position)?
                }
            };
        }
        Ok(left)
    }

    fn arithmetic(
        &mut self,
        left: Operand<'a>,
        operator: Arithmetic,
        right: &Operand<'a>,
        position: usize,
    ) -> Result<Operand<'a>, ExpressionError> {
        arithmetic(left, operator, right, self.budget).map_err(|problem| problem.at(position))
    }

    fn comparison(
        &mut self,
        left: &Operand<'a>,
        operator: Comparison,
        right: &Operand<'a>,
        position: usize,
    ) -> Result<Operand<'a>, ExpressionError> {
        let result = compare(left, operator, right, self.budget);
        result.map(Operand::Bool).map_err(|problem| problem.at(position))
    }

    /// `and` or `or`: a left side that decides is the result, and the right side is not evaluated.
    fn logic(
        &mut self,
        left: &Operand<'a>,
        name: &'static str,
        deciding: bool,
        link: &'a Link,
    ) -> Result<Operand<'a>, ExpressionError> {
        if truth(left, name).map_err(|problem| problem.at(link.position))? == deciding {
            return Ok(Operand::Bool(deciding));
        }
        let right = self.node(&link.right)?;
        truth(&right, name).map(Operand::Bool).map_err(|problem| problem.at(link.position))
    }
}

impl<'a> From<&'a Literal> for Operand<'a> {
    fn from(literal: &'a Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(truth) => Self::Bool(*truth),
            Literal::Number(number) => Self::Number(*number),
            Literal::Text(text) => Self::Text(Cow::Borrowed(text)),
        }
    }
}
