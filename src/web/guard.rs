//! Which addresses a fetch may connect to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// Hosts and networks that a fetch may reach although they are not public.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed(Vec<Allowance>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Allowance {
    /// A name, whatever it resolves to.
    Host(String),
    /// The addresses that begin with these bits.
    Network(IpAddr, u8),
}

/// The text names neither a host nor a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no host name, address or network such as 10.0.0.0/8")]
pub struct BadAllowance(String);

/// An address that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{host} ({addr}), {why}")]
pub(super) struct Forbidden {
    host: String,
    addr: IpAddr,
    why: &'static str,
}

/// Resolves a host, and gives out its addresses only if all of them may be connected to.
#[derive(Debug)]
pub(super) struct GuardedResolver<R = DefaultResolver> {
    pub(super) inner: R,
    pub(super) allowed: Allowed,
}

impl Allowed {
    /// Allows these hosts, addresses and networks.
    pub fn new<S: AsRef<str>>(texts: &[S]) -> Result<Self, BadAllowance> {
        let allowances = texts.iter().map(|text| text.as_ref().parse());
        allowances.collect::<Result<_, _>>().map(Self)
    }

    /// Allows one host, whatever it resolves to.
    pub(super) fn host(host: &str) -> Self {
        Self(vec![Allowance::Host(host.to_ascii_lowercase())])
    }

    fn allows(&self, host: &str, addr: IpAddr) -> bool {
        let addr = embedded(addr);
        self.0.iter().any(|allowance| match allowance {
            Allowance::Host(allowed) => host.eq_ignore_ascii_case(allowed),
            Allowance::Network(network, bits) => within(addr, *network, *bits),
        })
    }

    /// Checks the addresses of a host.
    pub(super) fn check(
        &self,
        host: &str,
        addrs: impl IntoIterator<Item = SocketAddr>,
    ) -> Result<(), Forbidden> {
        for addr in addrs {
            let addr = addr.ip();
            // One bad address is enough: which of them is connected to is not ours to say.
            if let Some(why) = not_public(addr).filter(|_| !self.allows(host, addr)) {
                let host = host.to_owned();
                return Err(Forbidden { host, addr, why });
            }
        }
        Ok(())
    }
}

impl FromStr for Allowance {
    type Err = BadAllowance;

    fn from_str(text: &str) -> Result<Self, BadAllowance> {
        let bad = || BadAllowance(text.to_owned());
        let (addr, bits) = match text.split_once('/') {
            Some((addr, bits)) => (addr, Some(bits.parse::<u8>().map_err(|_| bad())?)),
            None => (text, None),
        };
        let addr = addr.trim_start_matches('[').trim_end_matches(']');
        if let Ok(addr) = addr.parse::<IpAddr>() {
            let most = if addr.is_ipv4() { 32 } else { 128 };
            let bits = bits.unwrap_or(most);
            return match bits <= most {
                true => Ok(Self::Network(addr, bits)),
                false => Err(bad()),
            };
        }
        let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        match bits.is_none() && !text.is_empty() && text.chars().all(named) {
            true => Ok(Self::Host(text.to_ascii_lowercase())),
            false => Err(bad()),
        }
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => f.write_str(host),
            Self::Network(addr, bits) => write!(f, "{addr}/{bits}"),
        }
    }
}

impl<R: Resolver> Resolver for GuardedResolver<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let addrs = self.inner.resolve(uri, config, timeout)?;
        let host = uri.host().unwrap_or_default();
        self.allowed
            .check(host, addrs.iter().copied())
            .map_err(|forbidden| Error::Other(Box::new(forbidden)))?;
        // The connector gets these and asks nobody again, so a name that changes its mind changes nothing.
        Ok(addrs)
    }
}

fn within(addr: IpAddr, network: IpAddr, bits: u8) -> bool {
    let same = |a: u128, b: u128, width: u8| {
        let shift = u32::from(width - bits.min(width));
        a.checked_shr(shift).unwrap_or(0) == b.checked_shr(shift).unwrap_or(0)
    };
    match (addr, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => same(u32::from(a).into(), u32::from(b).into(), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => same(u128::from(a), u128::from(b), 128),
        _ => false,
    }
}

/// The IPv4 address that an IPv6 address stands for, where it does.
fn embedded(addr: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = addr else {
        return addr;
    };
    let [a, b, c, d, e, f, g, h] = six.segments();
    let four = |high: u16, low: u16| {
        let ([one, two], [three, four]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(one, two, three, four))
    };
    match [a, b, c, d, e, f] {
        // IPv4-mapped, and the IPv4-compatible form of old; `::` and `::1` are themselves.
        [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] => four(g, h),
        [0, 0, 0, 0, 0, 0] if g != 0 => four(g, h),
        // NAT64.
        [0x64, 0xff9b, 0, 0, 0, 0] => four(g, h),
        // 6to4.
        [0x2002, ..] => four(b, c),
        _ => addr,
    }
}

/// Says why an address is not one of the public internet, if it is not.
fn not_public(addr: IpAddr) -> Option<&'static str> {
    match embedded(addr) {
        IpAddr::V4(addr) => not_public_v4(addr),
        IpAddr::V6(addr) => not_public_v6(addr),
    }
}

/// Follows the registry of <https://www.iana.org/assignments/iana-ipv4-special-registry>: what it calls not
/// globally reachable, multicast, and one address of the public range that a cloud answers on itself.
fn not_public_v4(addr: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, d] = addr.octets();
    Some(match (a, b, c) {
        // Azure serves its machines what they are configured with, from every network.
        (168, 63, 129) if d == 16 => "which is the service of a cloud for its own machines",
        (127, ..) => "which is this machine",
        (0, ..) => "which is no address of another machine",
        (10, ..) | (172, 16..=31, _) | (192, 168, _) => "which is a private network",
        (169, 254, _) => "which is link-local, where cloud machines keep their credentials",
        (100, 64..=127, _) => "which is the shared network of a provider",
        (192, 0, 0 | 2) | (198, 18..=19, _) | (198, 51, 100) | (203, 0, 113) | (192, 88, 99) => {
            "which is reserved"
        }
        (224..=239, ..) => "which is multicast",
        (240.., ..) => "which is reserved",
        _ => return None,
    })
}

/// Follows the registry of <https://www.iana.org/assignments/iana-ipv6-special-registry>. Of 2001::/23 some
/// parts are globally reachable, but no page is served from them: all of it is refused.
fn not_public_v6(addr: Ipv6Addr) -> Option<&'static str> {
    let [a, b, ..] = addr.segments();
    Some(match (a, b) {
        _ if addr.is_loopback() => "which is this machine",
        _ if addr.is_unspecified() => "which is no address of another machine",
        (0xfc00..=0xfdff, _) => "which is a private network",
        (0xfe80..=0xfebf, _) => "which is link-local",
        (0xfec0..=0xfeff, _) => "which is a private network",
        (0xff00.., _) => "which is multicast",
        (0x2001, 0xdb8 | 0..=0x1ff) | (0x3fff, 0..=0xfff) => "which is reserved",
        (0x64, 0xff9b) | (0x100, 0) | (0x5f00, _) => "which is reserved",
        // Everything that is given out for the public internet begins with the bits 001.
        (0x2000..=0x3fff, _) => return None,
        _ => "which is reserved",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(addr: &str) -> bool {
        let addr: IpAddr = addr.parse().expect("an address");
        not_public(addr).is_some()
    }

    /// Every row of the two registries of IANA that is not globally reachable, with its first address, its
    /// last, and the neighbours before and behind where those are public. Multicast is no row there, and
    /// 168.63.129.16 is public by its number alone.
    const CLOSED: &[(&str, &str, Option<&str>, Option<&str>)] = &[
        ("0.0.0.0", "0.255.255.255", None, Some("1.0.0.0")),
        (
            "10.0.0.0",
            "10.255.255.255",
            Some("9.255.255.255"),
            Some("11.0.0.0"),
        ),
        (
            "100.64.0.0",
            "100.127.255.255",
            Some("100.63.255.255"),
            Some("100.128.0.0"),
        ),
        (
            "127.0.0.0",
            "127.255.255.255",
            Some("126.255.255.255"),
            Some("128.0.0.0"),
        ),
        (
            "168.63.129.16",
            "168.63.129.16",
            Some("168.63.129.15"),
            Some("168.63.129.17"),
        ),
        (
            "169.254.0.0",
            "169.254.255.255",
            Some("169.253.255.255"),
            Some("169.255.0.0"),
        ),
        (
            "172.16.0.0",
            "172.31.255.255",
            Some("172.15.255.255"),
            Some("172.32.0.0"),
        ),
        (
            "192.0.0.0",
            "192.0.0.255",
            Some("191.255.255.255"),
            Some("192.0.1.0"),
        ),
        (
            "192.0.2.0",
            "192.0.2.255",
            Some("192.0.1.255"),
            Some("192.0.3.0"),
        ),
        (
            "192.88.99.0",
            "192.88.99.255",
            Some("192.88.98.255"),
            Some("192.88.100.0"),
        ),
        (
            "192.168.0.0",
            "192.168.255.255",
            Some("192.167.255.255"),
            Some("192.169.0.0"),
        ),
        (
            "198.18.0.0",
            "198.19.255.255",
            Some("198.17.255.255"),
            Some("198.20.0.0"),
        ),
        (
            "198.51.100.0",
            "198.51.100.255",
            Some("198.51.99.255"),
            Some("198.51.101.0"),
        ),
        (
            "203.0.113.0",
            "203.0.113.255",
            Some("203.0.112.255"),
            Some("203.0.114.0"),
        ),
        (
            "224.0.0.0",
            "239.255.255.255",
            Some("223.255.255.255"),
            None,
        ),
        ("240.0.0.0", "255.255.255.255", None, None),
        ("::", "::1", None, None),
        // IPv4-compatible, of which nothing is in use; those of public addresses stand in for them.
        ("::127.0.0.1", "::127.255.255.255", None, None),
        (
            "::ffff:0.0.0.0",
            "::ffff:0.255.255.255",
            None,
            Some("::ffff:1.0.0.0"),
        ),
        (
            "::ffff:10.0.0.0",
            "::ffff:10.255.255.255",
            Some("::ffff:9.255.255.255"),
            None,
        ),
        (
            "::ffff:127.0.0.1",
            "::ffff:127.255.255.255",
            None,
            Some("::ffff:128.0.0.0"),
        ),
        (
            "::ffff:169.254.169.254",
            "::ffff:169.254.255.255",
            None,
            None,
        ),
        ("::ffff:0:127.0.0.1", "::ffff:0:127.255.255.255", None, None),
        (
            "64:ff9b::7f00:1",
            "64:ff9b::7fff:ffff",
            None,
            Some("64:ff9b::8000:0"),
        ),
        (
            "64:ff9b::a9fe:a9fe",
            "64:ff9b::a9fe:ffff",
            None,
            Some("64:ff9b::a9ff:0"),
        ),
        (
            "64:ff9b:1::",
            "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
            None,
            None,
        ),
        ("100::", "100::ffff:ffff:ffff:ffff", None, None),
        ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", None, None),
        // Teredo is the first of 2001::/23; ORCHID, benchmarks and drones are there too.
        (
            "2001::",
            "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
            None,
            Some("2001:200::"),
        ),
        ("2001:0:7f00:1::", "2001:0:a9fe:a9fe::", None, None),
        (
            "2001:db8::",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            Some("2001:db7:ffff::"),
            Some("2001:db9::"),
        ),
        (
            "2002:7f00:1::",
            "2002:7fff:ffff::",
            None,
            Some("2002:8000::"),
        ),
        (
            "2002:a00::",
            "2002:aff:ffff:ffff::",
            Some("2002:9ff:ffff::"),
            Some("2002:b00::"),
        ),
        ("2002:a9fe:a9fe::", "2002:a9fe:ffff::1", None, None),
        (
            "3fff::",
            "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
            Some("3ffe:ffff::"),
            Some("3fff:1000::"),
        ),
        ("4000::", "5eff:ffff::", None, None),
        (
            "5f00::",
            "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            None,
            None,
        ),
        (
            "fc00::",
            "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            None,
            None,
        ),
        ("fd00:ec2::254", "fd20:ce::254", None, None),
        (
            "fe80::",
            "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            None,
            None,
        ),
        (
            "fec0::",
            "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            None,
            None,
        ),
        (
            "ff00::",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            None,
            None,
        ),
    ];

    /// Rows that the registries call globally reachable, and addresses of no row.
    const OPEN: &[&str] = &[
        "1.1.1.1",
        "100.63.255.255",
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.1",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
        "2002:101:101::1",
        "2001:4860::8888",
        "2606:4700::1111",
        "2620:4f:8000::1",
    ];

    // R148: loopback, private, link-local, metadata and all other special addresses, also inside IPv6.
    #[test]
    fn addresses_that_are_not_public_are_refused() {
        for (first, last, before, behind) in CLOSED {
            for addr in [first, last] {
                assert!(refused(addr), "{addr}");
            }
            for addr in [before, behind].into_iter().flatten() {
                assert!(!refused(addr), "{addr}");
            }
        }
        for addr in OPEN {
            assert!(!refused(addr), "{addr}");
        }
    }

    // R148: no spelling of a closed address is fetched, and none is taken for another.
    #[test]
    fn every_spelling_of_an_address_is_that_address() {
        for host in [
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7F.0.0.1",
            "017700000001",
            "0177.0.0.01",
            "0x7f.1",
            "127.0.0.0x1",
            "%31%32%37.0.0.1",
            "\u{FF11}27.0.0.1",
            "127\u{3002}0\u{FF0E}0.1",
            "[::1]",
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:ffff:127.0.0.1]",
            "[64:ff9b::127.0.0.1]",
        ] {
            let url = url::Url::parse(&format!("http://{host}/")).expect(host);
            let addr: IpAddr = match url.host().expect("it has one") {
                url::Host::Ipv4(addr) => addr.into(),
                url::Host::Ipv6(addr) => addr.into(),
                url::Host::Domain(name) => panic!("{host} is taken for the name {name}"),
            };
            assert_eq!(not_public(addr), Some("which is this machine"), "{host}");
        }
        for host in [
            "256.0.0.1",
            "127.0.0.1.5",
            "0x100000000",
            "[::1",
            "[fe80::1%25eth0]",
        ] {
            assert!(
                url::Url::parse(&format!("http://{host}/")).is_err(),
                "{host}"
            );
        }
    }

    #[test]
    fn what_is_allowed_is_allowed_and_nothing_else() {
        let allowed = Allowed::new(&["localhost", "10.1.0.0/16", "[fd00::1]"]).expect("sound");
        let check = |host: &str, addr: &str| {
            let addr: IpAddr = addr.parse().expect("an address");
            allowed.check(host, [SocketAddr::new(addr, 80)]).is_ok()
        };
        assert!(check("LOCALHOST", "127.0.0.1"));
        assert!(!check("other", "127.0.0.1"));
        assert!(check("any", "10.1.255.1") && !check("any", "10.2.0.1"));
        assert!(check("any", "::ffff:10.1.0.1"));
        assert!(check("any", "fd00::1") && !check("any", "fd00::2"));
        assert!(check("any", "1.1.1.1"));
    }

    #[test]
    fn one_bad_address_among_good_ones_is_enough() {
        let addrs = ["1.1.1.1:80", "127.0.0.1:80"].map(|addr| addr.parse().expect("an address"));
        let err = Allowed::default()
            .check("mixed", addrs)
            .expect_err("it is refused");
        assert_eq!(err.to_string(), "mixed (127.0.0.1), which is this machine");
    }

    #[test]
    fn a_bad_allowance_is_refused() {
        for text in ["", "10.0.0.0/33", "::1/129", "10.0.0.0/x", "a b", "host/8"] {
            assert!(Allowed::new(&[text]).is_err(), "{text}");
        }
        let all: Allowance = "0.0.0.0/0".parse().expect("a network");
        assert_eq!(all.to_string(), "0.0.0.0/0");
        assert!(Allowed(vec![all]).allows("any", "9.9.9.9".parse().expect("an address")));
    }
}
