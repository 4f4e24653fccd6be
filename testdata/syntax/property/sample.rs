//! A small store of orders: how they are read, kept and priced.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

const LIMIT: usize = 32;
static NAME: &str = "orders";

/// What can go wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum OrderError {
    Empty,
    TooMany { wanted: usize, limit: usize },
    Unknown(String),
}

#[derive(Debug, Default)]
pub struct Order<'a> {
    pub id: u64,
    name: &'a str,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    price: i64,
    count: u32,
}

pub trait Priced {
    const CURRENCY: &'static str;
    type Unit: Copy;

    fn price(&self) -> i64;

    fn is_free(&self) -> bool {
        self.price() == 0
    }
}

impl Priced for Line {
    const CURRENCY: &'static str = "EUR";
    type Unit = i64;

    #[inline]
    fn price(&self) -> i64 {
        self.price * i64::from(self.count)
    }
}

impl<'a> Order<'a> {
    pub fn new(id: u64, name: &'a str) -> Self {
        Order { id, name, lines: Vec::new() }
    }

    /// Adds a line.
    pub fn add(&mut self, price: i64, count: u32) -> Result<(), OrderError> {
        if self.lines.len() >= LIMIT {
            return Err(OrderError::TooMany {
                wanted: self.lines.len() + 1,
                limit: LIMIT,
            });
        }
        self.lines.push(Line { price, count });
        Ok(())
    }

    pub fn total(&self) -> i64 {
        self.lines.iter().map(|l| l.price()).sum::<i64>() // of all lines
    }

    async fn fetch(&self, client: &Client) -> Option<String> {
        let url = format!("{}/{}", client.base, self.id);
        let body = client.fetch(&url, None).await?;
        Some(body.trim().to_owned())
    }
}

fn group<T, K>(items: Vec<T>, key: impl Fn(&T) -> K) -> BTreeMap<K, Vec<T>>
where
    K: Ord,
{
    let mut groups: BTreeMap<K, Vec<T>> = BTreeMap::new();
    for item in items {
        groups.entry(key(&item)).or_default().push(item);
    }
    groups
}

fn classify(value: i64) -> &'static str {
    match value {
        i64::MIN..=-1 => "negative",
        0 => "zero",
        v if v % 2 == 0 => "even",
        _ => "odd",
    }
}

pub fn parse(text: &str) -> Result<HashMap<String, i64>, OrderError> {
    let mut res = HashMap::new();
    'lines: for (idx, line) in text.lines().enumerate() {
        let Some((name, value)) = line.split_once('=') else {
            continue 'lines;
        };
        /* blanks do not count */
        let value = value.trim().parse::<i64>().map_err(|_| OrderError::Unknown(name.to_owned()))?;
        if idx > 100 || value < -1 {
            break;
        } else if value == 0 {
            println!("zero on {}: {:?}", idx, name);
        } else {
            res.insert(name.to_string(), value);
        }
    }
    if res.is_empty() { Err(OrderError::Empty) } else { Ok(res) }
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderError::Empty => write!(f, "nothing in {NAME}"),
            OrderError::TooMany { wanted, limit } => write!(f, "{wanted} > {limit}"),
            OrderError::Unknown(name) => f.write_str(name),
        }
    }
}

macro_rules! square {
    ($x:expr) => {
        $x * $x
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals() {
        let mut order = Order::new(1, "a");
        order.add(3, 2).unwrap();
        order.add(4, 1).unwrap();
        assert_eq!(order.total(), 10, "sum of {:?}", order.lines);
        let pairs = [(1, "one"), (2, "two")];
        let text = r#"raw "text" here"#;
        while let Some(last) = order.lines.pop() {
            drop(last);
        }
        let closure = move |a: i64, b| a + b as i64;
        let _ = (closure(1, 2u8), square!(3), pairs.len(), text, &order, -1, !true);
        unsafe { core::hint::unreachable_unchecked() }
    }
}
