//! A name server that says what a test wants it to say.

use std::collections::HashMap;
use std::net::{IpAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;

/// What is said about a name. Nothing may be kept: every answer lives for 0 seconds.
#[derive(Clone)]
pub(crate) enum Answer {
    /// These addresses, in this order.
    Addresses(Vec<IpAddr>),
    /// The one and then the other, turn by turn, for each kind of address separately.
    Turns(Vec<IpAddr>),
    /// It is another name, which is told along with what that one is.
    Alias(String),
    /// Nothing, ever.
    Silence,
}

/// The names there are.
#[derive(Clone, Default)]
pub(crate) struct Names(Arc<Mutex<Book>>);

#[derive(Default)]
struct Book {
    answers: HashMap<String, Answer>,
    asked: HashMap<(String, u16), usize>,
}

impl Names {
    pub(crate) fn set(&self, name: &str, answer: Answer) {
        self.0.lock().unwrap().answers.insert(name.to_owned(), answer);
    }

    /// A name with these addresses.
    pub(crate) fn point(&self, name: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.set(name, Answer::Addresses(addresses));
    }

    /// How often addresses of a name were asked for.
    pub(crate) fn asked(&self, name: &str) -> usize {
        let book = self.0.lock().unwrap();
        [A, AAAA].iter().filter_map(|kind| book.asked.get(&(name.to_owned(), *kind))).sum()
    }

    pub(super) fn serve(&self, socket: UdpSocket) {
        let names = self.clone();
        thread::spawn(move || {
            let mut query = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut query) {
                if let Some(answer) = names.answer(&query[..length]) {
                    socket.send_to(&answer, from).unwrap();
                }
            }
        });
    }

    fn answer(&self, query: &[u8]) -> Option<Vec<u8>> {
        let (name, end) = read_name(query, 12)?;
        let kind = u16::from_be_bytes([*query.get(end)?, *query.get(end + 1)?]);
        let records = self.0.lock().unwrap().records(&name, kind)?;
        let is_known = self.0.lock().unwrap().answers.contains_key(&name);
        let mut answer = query.get(..2)?.to_vec();
        // A response of a server that recurses; 3 is "no such name".
        answer.extend([0x81, if is_known { 0x80 } else { 0x83 }]);
        answer.extend([0, 1]);
        answer.extend(u16::try_from(records.len()).ok()?.to_be_bytes());
        answer.extend([0; 4]);
        answer.extend(query.get(12..end + 4)?);
        records.iter().for_each(|record| answer.extend(record));
        Some(answer)
    }
}

impl Book {
    /// `None` for a name about which nothing is ever said.
    fn records(&mut self, name: &str, kind: u16) -> Option<Vec<Vec<u8>>> {
        let turn = self.asked.entry((name.to_owned(), kind)).or_default();
        *turn += 1;
        let turn = *turn - 1;
        let fits = |address: &&IpAddr| address.is_ipv4() == (kind == A) && matches!(kind, A | AAAA);
        Some(match self.answers.get(name).cloned() {
            None => Vec::new(),
            Some(Answer::Silence) => return None,
            Some(Answer::Addresses(all)) => all.iter().filter(fits).map(|to| address(name, *to)).collect(),
            Some(Answer::Turns(all)) => {
                let fitting: Vec<&IpAddr> = all.iter().filter(fits).collect();
                let now = fitting.get(turn % fitting.len().max(1));
                now.map(|to| address(name, **to)).into_iter().collect()
            }
            Some(Answer::Alias(other)) => {
                let mut records = vec![record(name, CNAME, &written(&other))];
                records.extend(self.records(&other, kind)?);
                records
            }
        })
    }
}

fn address(name: &str, address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => record(name, A, &address.octets()),
        IpAddr::V6(address) => record(name, AAAA, &address.octets()),
    }
}

fn record(name: &str, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut record = written(name);
    record.extend(kind.to_be_bytes());
    record.extend([0, 1, 0, 0, 0, 0]);
    record.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    record.extend(data);
    record
}

fn written(name: &str) -> Vec<u8> {
    let labels = name
        .split('.')
        .flat_map(|label| std::iter::once(u8::try_from(label.len()).unwrap()).chain(label.bytes()));
    labels.chain([0]).collect()
}

fn read_name(query: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut labels = Vec::new();
    loop {
        let length = usize::from(*query.get(at)?);
        at += 1;
        if length == 0 {
            return Some((labels.join("."), at));
        }
        labels.push(String::from_utf8_lossy(query.get(at..at + length)?).to_ascii_lowercase());
        at += length;
    }
}
