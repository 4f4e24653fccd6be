//! A bounded queue with priorities.

#![deny(missing_docs)]

use std::collections::{BTreeMap, VecDeque as Deque};
use std::fmt::{self, Display};
use std::sync::*;

mod limits {
    pub(crate) const MAX: usize = 1 << 10;
    pub static mut LAST: u32 = 0x_ff;
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum QueueError {
    Full { limit: usize },
    Closed(String),
    Empty = 3,
}

impl Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueError::Full { limit } if *limit > 0 => write!(f, "full at {limit}"),
            QueueError::Closed(why) | QueueError::Closed(why) => f.write_str(why),
            _ => Ok(()),
        }
    }
}

pub trait Sink<T: ?Sized + 'static>: Send + Sync {
    type Error: std::error::Error;
    const NAME: &'static str = "sink";

    fn push(&mut self, item: Box<T>) -> Result<(), Self::Error>;

    fn name(&self) -> &str {
        Self::NAME
    }
}

#[derive(Default)]
pub struct Queue<'a, K, V = u8, const N: usize = 4>
where
    K: Ord + 'a,
{
    items: BTreeMap<K, Deque<V>>,
    pub limit: Option<usize>,
    label: &'a str,
    hook: Option<Box<dyn Fn(&K) -> bool + Send + 'a>>,
}

struct Pair(pub i32, f64);
struct Unit;

impl<'a, K: Ord + Clone, V, const N: usize> Queue<'a, K, V, N> {
    #[must_use]
    pub fn new(label: &'a str) -> Self {
        Self {
            items: BTreeMap::new(),
            limit: Some(limits::MAX),
            label,
            hook: None,
        }
    }

    pub async fn drain<F>(&mut self, mut each: F) -> Result<usize, QueueError>
    where
        F: FnMut(K, V) -> bool,
    {
        let mut count = 0;
        'outer: while let Some((key, mut values)) = self.items.pop_first() {
            for value in values.drain(..) {
                if !each(key.clone(), value) {
                    break 'outer;
                }
                count += 1;
            }
        }
        Ok(count)
    }

    fn len(&self) -> usize {
        self.items.values().map(|v| v.len()).sum::<usize>()
    }

    fn push(&mut self, key: K, value: V) -> Result<&mut Self, QueueError> {
        let Some(limit) = self.limit else {
            return Err(QueueError::Closed(format!("{} is closed", self.label)));
        };
        if self.len() >= limit {
            return Err(QueueError::Full { limit });
        } else if let Some(hook) = &self.hook && !hook(&key) {
            return Ok(self);
        }
        self.items.entry(key).or_default().push_back(value);
        Ok(self)
    }
}

macro_rules! queue {
    ($label:expr; $(($key:expr, $value:expr))*) => {{
        let mut queue = Queue::new($label);
        $(queue.push($key, $value)?;)*
        queue
    }};
}

unsafe extern "C" {
    fn getpid() -> i32;
}

fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let (mut a, b) = (seed, 1_u64);
    std::iter::from_fn(move || {
        a = a.wrapping_mul(6364136223846793005).wrapping_add(b);
        if a % 2 == 0 { None } else { Some(a >> 33) }
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut queue: Queue<u8, char> = queue!("main"; (1, 'a') (2, '\n'));
    let text = r#"raw "text""#;
    let bytes: &[u8; 3] = b"abc";
    let slice = &bytes[1..=2];
    let total = loop {
        match queue.len() {
            0 => break 0.5e3,
            n @ 1..=9 => break n as f64,
            _ => continue,
        }
    };
    let pair = Pair(-1, total);
    let shown = unsafe { getpid() } + pair.0;
    println!("{shown:>8} {:?} {}", slice, text);
    queue.push(3, 'c')?.push(4, 'd').map_err(|e| e.to_string())?;
    assert!(matches!(numbers(7).next(), Some(_) | None));
    Ok(())
}
