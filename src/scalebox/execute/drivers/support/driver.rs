// What makes a Rust program of functions answer one call: arguments in, the value out. See execute/drivers.
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::Hash;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;

const MOST: usize = 16 << 20;

pub enum Value {
    Null,
    Bool(bool),
    Int(i128),
    /// Outside of 128 bits.
    Huge,
    Float(f64),
    Text(Vec<u8>),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}
pub type Given = Vec<Value>;
pub type Unfit = String;
pub enum Failed {
    Unfit(Unfit),
    TooLarge,
}
pub type Answer = Result<Vec<u8>, Failed>;
type Out = Vec<u8>;

/// Answer one call of the program. The input is read before any of its code runs: its own standard input is then empty.
pub fn answer(calls: &[fn(&Given) -> Answer]) {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).expect("no input");
    let function = u32::from_le_bytes(input[4..8].try_into().unwrap()) as usize;
    let given = match Reader(&input[8..]).value() {
        Value::List(mut both) => match both.swap_remove(0) {
            Value::List(given) => given,
            _ => std::process::exit(70),
        },
        _ => std::process::exit(70),
    };
    // Deep recursion is common, and the main thread's stack is as large as it may be.
    let (status, data) = match calls[function](&given) {
        Ok(data) if data.len() > MOST => (3, Vec::new()),
        Ok(data) => (0, data),
        Err(Failed::TooLarge) => (3, Vec::new()),
        Err(Failed::Unfit(text)) => (4, text.into_bytes()),
    };
    let mut frame = Vec::with_capacity(17 + data.len());
    frame.extend_from_slice(&(13 + data.len() as u32).to_le_bytes());
    frame.extend_from_slice(&input[..4]);
    frame.push(status);
    frame.extend_from_slice(&[0; 8]);
    frame.extend_from_slice(&data);
    let mut pipe = unsafe { std::fs::File::from_raw_fd(3) };
    pipe.write_all(&frame).expect("no pipe for the value");
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, size: usize) -> &[u8] {
        let (taken, left) = self.0.split_at(size);
        self.0 = left;
        taken
    }
    fn count(&mut self) -> usize {
        u32::from_le_bytes(self.take(4).try_into().unwrap()) as usize
    }
    fn integer(&mut self) -> Value {
        Value::Int(i64::from_le_bytes(self.take(8).try_into().unwrap()).into())
    }
    fn float(&mut self) -> Value {
        Value::Float(f64::from_le_bytes(self.take(8).try_into().unwrap()))
    }
    fn value(&mut self) -> Value {
        match self.take(1)[0] {
            b'N' => Value::Null,
            b'T' => Value::Bool(true),
            b'F' => Value::Bool(false),
            b'i' => self.integer(),
            b'd' => self.float(),
            b'I' => {
                let count = self.count();
                let data = self.take(count);
                let sign = if data[count - 1] >= 0x80 { 0xff } else { 0 };
                let size = count.min(16);
                let mut bytes = [sign; 16];
                bytes[..size].copy_from_slice(&data[..size]);
                let number = i128::from_le_bytes(bytes);
                // What is beyond must be no more than the sign.
                let whole = data[size..].iter().all(|byte| *byte == sign) && (number < 0) == (sign > 0);
                if whole { Value::Int(number) } else { Value::Huge }
            }
            b's' => {
                let count = self.count();
                Value::Text(self.take(count).to_vec())
            }
            tag @ (b'l' | b't' | b'S' | b'Z' | b'q' | b'f') => {
                let count = self.count();
                let item = match tag {
                    b'q' => Reader::integer,
                    b'f' => Reader::float,
                    _ => Reader::value,
                };
                Value::List((0..count).map(|_| item(self)).collect())
            }
            b'D' => {
                let count = self.count();
                Value::Map((0..count).map(|_| (self.value(), self.value())).collect())
            }
            _ => Value::Huge,
        }
    }
}

// -- values in ------------------------------------------------------------------------------------------------

thread_local! {
    /// What encodes the first argument that a function may have changed.
    static CHANGED: RefCell<Option<Box<dyn Fn(&mut Out) -> Result<(), Failed>>>> = const { RefCell::new(None) };
    static ARGUMENT: RefCell<usize> = const { RefCell::new(0) };
}

pub trait Arg: Sized {
    fn from(value: &Value) -> Result<Self, Unfit>;
    fn is_none(value: &Value) -> bool {
        matches!(value, Value::Null)
    }
    fn from_key(value: &Value) -> Result<Self, Unfit> {
        Self::from(value)
    }
}

pub fn takes(given: &Given, count: usize) -> Result<(), Failed> {
    if given.len() == count {
        return Ok(());
    }
    Err(Failed::Unfit(format!("takes {} arguments, {} are given", count, given.len())))
}
pub fn arg<T: Arg>(given: &Given, number: usize) -> Result<T, Failed> {
    ARGUMENT.with(|one| *one.borrow_mut() = number);
    T::from(&given[number]).map_err(|text| Failed::Unfit(format!("argument {} {}", number + 1, text)))
}
fn items<T: Arg>(value: &Value) -> Result<Vec<T>, Unfit> {
    match value {
        Value::List(items) => items.iter().map(T::from).collect(),
        _ => Err("is no list".into()),
    }
}

macro_rules! integers {
    ($($kind:ty)*) => {$(
        impl Arg for $kind {
            fn from(value: &Value) -> Result<Self, Unfit> {
                match value {
                    Value::Int(number) => (*number).try_into().map_err(|_| "is out of range".into()),
                    Value::Huge => Err("is out of range".into()),
                    _ => Err("is no integer".into()),
                }
            }
            // JSON has no keys but texts: one that is an integer stands for it.
            fn from_key(value: &Value) -> Result<Self, Unfit> {
                match value {
                    Value::Text(text) => std::str::from_utf8(text).ok().and_then(|text| text.parse().ok())
                        .ok_or_else(|| "has a key that is no integer".into()),
                    _ => <Self as Arg>::from(value),
                }
            }
        }
        impl Sent for $kind {
            fn put(&self, out: &mut Out) -> Result<(), Failed> {
                match i64::try_from(*self) {
                    Ok(number) => {
                        out.push(b'i');
                        out.extend_from_slice(&number.to_le_bytes());
                    }
                    Err(_) => {
                        head(out, b'I', 17);
                        out.extend_from_slice(&(*self as i128).to_le_bytes());
                        #[allow(unused_comparisons)]
                        out.push(if *self < 0 { 0xff } else { 0 });
                    }
                }
                Ok(())
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

macro_rules! floats {
    ($($kind:ty)*) => {$(
        impl Arg for $kind {
            fn from(value: &Value) -> Result<Self, Unfit> {
                match value {
                    Value::Float(number) => Ok(*number as $kind),
                    Value::Int(number) => Ok(*number as $kind),
                    _ => Err("is no number".into()),
                }
            }
        }
        impl Sent for $kind {
            fn put(&self, out: &mut Out) -> Result<(), Failed> {
                out.push(b'd');
                let number = if self.is_nan() { f64::NAN } else { *self as f64 };
                out.extend_from_slice(&number.to_le_bytes());
                Ok(())
            }
        }
    )*};
}
floats!(f32 f64);

impl Arg for bool {
    fn from(value: &Value) -> Result<Self, Unfit> {
        match value {
            Value::Bool(value) => Ok(*value),
            _ => Err("is no bool".into()),
        }
    }
}
impl Arg for String {
    fn from(value: &Value) -> Result<Self, Unfit> {
        match value {
            Value::Text(text) => String::from_utf8(text.clone()).map_err(|_| "holds half a surrogate pair".into()),
            _ => Err("is no string".into()),
        }
    }
}
impl Arg for char {
    fn from(value: &Value) -> Result<Self, Unfit> {
        let text = <String as Arg>::from(value)?;
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => Ok(letter),
            _ => Err("is no char".into()),
        }
    }
}
// What is borrowed lives as long as the process.
impl<'a> Arg for &'a str {
    fn from(value: &Value) -> Result<Self, Unfit> {
        Ok(Box::leak(<String as Arg>::from(value)?.into_boxed_str()))
    }
}
impl<'a, T: Arg + 'a> Arg for &'a [T] {
    fn from(value: &Value) -> Result<Self, Unfit> {
        Ok(Box::leak(items(value)?.into_boxed_slice()))
    }
}
impl<'a, T: Arg> Arg for &'a T {
    fn from(value: &Value) -> Result<Self, Unfit> {
        Ok(Box::leak(Box::new(T::from(value)?)))
    }
}
impl<'a, T: Arg + Sent + 'static> Arg for &'a mut T {
    fn from(value: &Value) -> Result<Self, Unfit> {
        let place: *mut T = Box::into_raw(Box::new(T::from(value)?));
        keep(Box::new(move |out| unsafe { &*place }.put(out)));
        Ok(unsafe { &mut *place })
    }
}
impl<'a, T: Arg + Sent + 'static> Arg for &'a mut [T] {
    fn from(value: &Value) -> Result<Self, Unfit> {
        let place: *mut [T] = Box::into_raw(items::<T>(value)?.into_boxed_slice());
        keep(Box::new(move |out| put_items(out, unsafe { &*place }.iter())));
        Ok(unsafe { &mut *place })
    }
}
fn keep(put: Box<dyn Fn(&mut Out) -> Result<(), Failed>>) {
    if ARGUMENT.with(|number| *number.borrow() == 0) {
        CHANGED.with(|changed| *changed.borrow_mut() = Some(put));
    }
}
impl<T: Arg> Arg for Option<T> {
    fn from(value: &Value) -> Result<Self, Unfit> {
        if T::is_none(value) { Ok(None) } else { T::from(value).map(Some) }
    }
}
impl<T: Arg, const N: usize> Arg for [T; N] {
    fn from(value: &Value) -> Result<Self, Unfit> {
        items(value)?.try_into().map_err(|_| "has another length than the array".into())
    }
}
macro_rules! sequences {
    ($($kind:ident($($bound:ident)*) $tag:literal)*) => {$(
        impl<T: Arg $(+ $bound)*> Arg for $kind<T> {
            fn from(value: &Value) -> Result<Self, Unfit> {
                Ok(items(value)?.into_iter().collect())
            }
        }
        impl<T: Sent> Sent for $kind<T> {
            fn put(&self, out: &mut Out) -> Result<(), Failed> {
                put_tagged(out, $tag, self.iter())
            }
        }
    )*};
}
sequences!(Vec() b'l' VecDeque() b'l' LinkedList() b'l' HashSet(Eq Hash) b'S' BTreeSet(Ord) b'S');

macro_rules! maps {
    ($($kind:ident($($bound:ident)*))*) => {$(
        impl<K: Arg $(+ $bound)*, V: Arg> Arg for $kind<K, V> {
            fn from(value: &Value) -> Result<Self, Unfit> {
                match value {
                    Value::Map(pairs) => pairs.iter().map(|(key, item)| Ok((K::from_key(key)?, V::from(item)?))).collect(),
                    _ => Err("is no map".into()),
                }
            }
        }
        impl<K: Sent, V: Sent> Sent for $kind<K, V> {
            fn put(&self, out: &mut Out) -> Result<(), Failed> {
                head(out, b'D', self.len());
                for (key, item) in self {
                    key.put(out)?;
                    item.put(out)?;
                }
                Ok(())
            }
        }
    )*};
}
maps!(HashMap(Eq Hash) BTreeMap(Ord));

macro_rules! tuples {
    ($(($count:literal $($name:ident $number:tt)*))*) => {$(
        impl<$($name: Arg),*> Arg for ($($name,)*) {
            fn from(value: &Value) -> Result<Self, Unfit> {
                match value {
                    Value::List(items) if items.len() == $count => Ok(($($name::from(&items[$number])?,)*)),
                    Value::List(_) => Err("has another length than the tuple".into()),
                    _ => Err("is no tuple".into()),
                }
            }
        }
        impl<$($name: Sent),*> Sent for ($($name,)*) {
            fn put(&self, out: &mut Out) -> Result<(), Failed> {
                head(out, b't', $count);
                $(self.$number.put(out)?;)*
                Ok(())
            }
        }
    )*};
}
tuples!((1 A 0) (2 A 0 B 1) (3 A 0 B 1 C 2) (4 A 0 B 1 C 2 D 3) (5 A 0 B 1 C 2 D 3 E 4) (6 A 0 B 1 C 2 D 3 E 4 F 5));

// -- values out -----------------------------------------------------------------------------------------------

pub trait Sent: Sized {
    fn put(&self, out: &mut Out) -> Result<(), Failed>;
    fn put_none(out: &mut Out) -> Result<(), Failed> {
        out.push(b'N');
        Ok(())
    }
    /// Return the encoded value, which is that of the first argument where the function returns nothing.
    fn send(value: Self) -> Answer {
        let mut out = Vec::new();
        value.put(&mut out)?;
        Ok(out)
    }
}

fn head(out: &mut Out, tag: u8, count: usize) {
    out.push(tag);
    out.extend_from_slice(&(count as u32).to_le_bytes());
}
fn put_text(out: &mut Out, text: &str) -> Result<(), Failed> {
    head(out, b's', text.len());
    out.extend_from_slice(text.as_bytes());
    Ok(())
}
fn put_tagged<'a, T: Sent + 'a>(out: &mut Out, tag: u8, items: impl ExactSizeIterator<Item = &'a T>) -> Result<(), Failed> {
    head(out, tag, items.len());
    for item in items {
        if out.len() > MOST {
            return Err(Failed::TooLarge);
        }
        item.put(out)?;
    }
    Ok(())
}
fn put_items<'a, T: Sent + 'a>(out: &mut Out, items: impl ExactSizeIterator<Item = &'a T>) -> Result<(), Failed> {
    put_tagged(out, b'l', items)
}

impl Sent for () {
    fn put(&self, out: &mut Out) -> Result<(), Failed> {
        CHANGED.with(|changed| match changed.borrow().as_ref() {
            Some(put) => put(out),
            None => Self::put_none(out),
        })
    }
}
impl Sent for bool {
    fn put(&self, out: &mut Out) -> Result<(), Failed> {
        out.push(if *self { b'T' } else { b'F' });
        Ok(())
    }
}
impl Sent for String {
    fn put(&self, out: &mut Out) -> Result<(), Failed> {
        put_text(out, self)
    }
}
impl Sent for &str {
    fn put(&self, out: &mut Out) -> Result<(), Failed> {
        put_text(out, self)
    }
}
impl Sent for char {
    fn put(&self, out: &mut Out) -> Result<(), Failed> {
        put_text(out, self.encode_utf8(&mut [0; 4]))
    }
}
impl<T: Sent> Sent for &T {
    fn put(&self, out: &mut Out) -> Result<(), Failed> {
        (**self).put(out)
    }
}
impl<T: Sent> Sent for &[T] {
    fn put(&self, out: &mut Out) -> Result<(), Failed> {
        put_items(out, self.iter())
    }
}
impl<T: Sent, const N: usize> Sent for [T; N] {
    fn put(&self, out: &mut Out) -> Result<(), Failed> {
        put_items(out, self.iter())
    }
}
impl<T: Sent> Sent for Option<T> {
    fn put(&self, out: &mut Out) -> Result<(), Failed> {
        match self {
            Some(value) => value.put(out),
            None => T::put_none(out),
        }
    }
}

// -- nodes, as LeetCode writes them: lists as arrays, trees level by level with null where a child is not there ----

macro_rules! list_node {
    ($node:ident) => {
        impl driver::Arg for Box<$node> {
            fn from(value: &driver::Value) -> Result<Self, driver::Unfit> {
                let values: Vec<_> = driver::Arg::from(value)?;
                let mut first = None;
                for val in values.into_iter().rev() {
                    first = Some(Box::new($node { val, next: first }));
                }
                first.ok_or_else(|| "is an empty list, and the type has no None".into())
            }
            fn is_none(value: &driver::Value) -> bool {
                driver::is_empty(value)
            }
        }
        impl driver::Sent for Box<$node> {
            fn put(&self, out: &mut Vec<u8>) -> Result<(), driver::Failed> {
                let (mut values, mut node) = (vec![self.val], &self.next);
                while let Some(one) = node {
                    values.push(one.val);
                    node = &one.next;
                }
                values.put(out)
            }
            fn put_none(out: &mut Vec<u8>) -> Result<(), driver::Failed> {
                Vec::<i32>::new().put(out)
            }
        }
    };
}
macro_rules! tree_node {
    ($node:ident) => {
        impl driver::Arg for std::rc::Rc<std::cell::RefCell<$node>> {
            fn from(value: &driver::Value) -> Result<Self, driver::Unfit> {
                let values: Vec<Option<_>> = driver::Arg::from(value)?;
                let made = |val| std::rc::Rc::new(std::cell::RefCell::new($node { val, left: None, right: None }));
                let mut values = values.into_iter();
                let Some(Some(root)) = values.next() else {
                    return Err("is an empty tree, and the type has no None".into());
                };
                let mut nodes = vec![made(root)];
                let mut at = 0;
                while at < nodes.len() {
                    let mut children = [None, None];
                    for child in &mut children {
                        if let Some(Some(val)) = values.next() {
                            let node = made(val);
                            nodes.push(node.clone());
                            *child = Some(node);
                        }
                    }
                    let [left, right] = children;
                    let mut node = nodes[at].borrow_mut();
                    (node.left, node.right) = (left, right);
                    drop(node);
                    at += 1;
                }
                if values.next().is_some() { Err("has values without a parent".into()) } else { Ok(nodes[0].clone()) }
            }
            fn is_none(value: &driver::Value) -> bool {
                driver::is_empty(value)
            }
        }
        impl driver::Sent for std::rc::Rc<std::cell::RefCell<$node>> {
            fn put(&self, out: &mut Vec<u8>) -> Result<(), driver::Failed> {
                let mut values = Vec::new();
                let mut nodes = std::collections::VecDeque::from([Some(self.clone())]);
                while let Some(node) = nodes.pop_front() {
                    values.push(node.as_ref().map(|node| node.borrow().val));
                    driver::bounded(values.len())?;
                    if let Some(node) = node {
                        nodes.push_back(node.borrow().left.clone());
                        nodes.push_back(node.borrow().right.clone());
                    }
                }
                while let Some(None) = values.last() {
                    values.pop();
                }
                values.put(out)
            }
            fn put_none(out: &mut Vec<u8>) -> Result<(), driver::Failed> {
                Vec::<i32>::new().put(out)
            }
        }
    };
}
#[allow(unused_imports)]
pub(crate) use {list_node, tree_node};

/// Whether a value stands for no node at all.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::List(items) => items.is_empty(),
        _ => false,
    }
}
/// Fail for more nodes than can be sent, such as those of a ring.
pub fn bounded(count: usize) -> Result<(), Failed> {
    if count > MOST / 9 { Err(Failed::TooLarge) } else { Ok(()) }
}
