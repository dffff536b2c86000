//! As much of HTTP/1.1 (RFC 9112) as the page needs: a request's head, and an answer after which the connection ends.

use std::io::{self, Read, Write};

/// Most bytes of a request's head.
pub const HEAD_MAX: usize = 8192;

/// A request, without a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// `GET`, `POST` or another.
    pub method: String,
    /// Where it goes: a path.
    pub target: String,
    /// Fields of its head, by names in lower case, in their order.
    pub fields: Vec<(String, String)>,
}

impl HttpRequest {
    /// Takes a head apart, which ends with an empty line. `None`: it is none.
    pub fn parse(head: &[u8]) -> Option<Self> {
        let head = std::str::from_utf8(head).ok()?.strip_suffix("\r\n\r\n")?;
        if head
            .bytes()
            .any(|byte| byte.is_ascii_control() && !b"\r\n\t".contains(&byte))
        {
            return None;
        }
        let mut lines = head.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        let is_token = |text: &str| {
            let allowed =
                |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            !text.is_empty() && text.bytes().all(allowed)
        };
        if words.next().is_some()
            || !matches!(version, "HTTP/1.1" | "HTTP/1.0")
            || !is_token(method)
            || !target.starts_with('/')
        {
            return None;
        }
        let fields = lines.map(|line| {
            let (name, value) = line.split_once(':')?;
            let value = value.trim_matches([' ', '\t']);
            let is_line = !value.contains(['\r', '\n']);
            (is_token(name) && is_line).then(|| (name.to_ascii_lowercase(), value.to_owned()))
        });
        Some(Self {
            method: method.to_owned(),
            target: target.to_owned(),
            fields: fields.collect::<Option<_>>()?,
        })
    }

    /// Reads a head. `None`: none comes, or what comes is none.
    ///
    /// # Errors
    /// The connection fails.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut head = Vec::new();
        let mut buffer = [0; 1024];
        loop {
            let count = from.read(&mut buffer)?;
            head.extend_from_slice(&buffer[..count]);
            if let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
                return Ok(Self::parse(&head[..end + 4]));
            }
            if count == 0 || head.len() > HEAD_MAX {
                return Ok(None);
            }
        }
    }

    /// The value of a field; `None` where it is missing, or comes twice.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut values = self.fields.iter().filter(|(known, _)| known == name);
        let value = values.next().map(|(_, value)| value.as_str());
        value.filter(|_| values.next().is_none())
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its number and its words.
    pub status: &'static str,
    /// The media type of the body.
    pub media: &'static str,
    /// The body.
    pub body: String,
}

impl Answer {
    /// Writes it. Nothing on the page comes from elsewhere, and nothing elsewhere can show the page.
    ///
    /// # Errors
    /// The connection fails.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let Self {
            status,
            media,
            body,
        } = self;
        write!(
            to,
            "HTTP/1.1 {status}\r\nContent-Type: {media}; charset=utf-8\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Security-Policy: default-src 'none'; \
             script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        )?;
        to.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn heads_are_taken_apart() {
        let head = b"GET /vms HTTP/1.1\r\nHost: localhost:1\r\nX-Tactus:1 \r\n\r\n";
        let request = HttpRequest::parse(head).expect("it is one");
        assert_eq!(
            (request.method.as_str(), request.target.as_str()),
            ("GET", "/vms")
        );
        assert_eq!(request.field("host"), Some("localhost:1"));
        assert_eq!(request.field("x-tactus"), Some("1"));
        assert_eq!(request.field("cookie"), None);
        for wrong in [
            "GET /\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n",
            "GET http://a/ HTTP/1.1\r\n\r\n",
            "G(T / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost\r\n\r\n",
            "GET / HTTP/1.1\r\nHo st: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n",
            "GET / HTTP/1.1\r\nHost: a\nb\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\0\r\n\r\n",
        ] {
            assert_eq!(HttpRequest::parse(wrong.as_bytes()), None, "{wrong:?}");
        }
        let twice = b"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n";
        let twice = HttpRequest::parse(twice).expect("it is one");
        assert_eq!(twice.field("host"), None);
    }

    #[test]
    fn a_head_without_end_is_none() {
        let endless = vec![b'a'; 2 * HEAD_MAX];
        assert_eq!(
            HttpRequest::read(&mut &endless[..]).expect("it can be read"),
            None
        );
        assert_eq!(
            HttpRequest::read(&mut &b""[..]).expect("it can be read"),
            None
        );
        let mut pieces = (&b"GET / HTT"[..]).chain(&b"P/1.1\r\n\r\nrest"[..]);
        let read = HttpRequest::read(&mut pieces).expect("it can be read");
        assert_eq!(read.map(|request| request.target), Some("/".to_owned()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = HttpRequest::parse(&bytes);
            let _ = HttpRequest::read(&mut &bytes[..]);
        }
    }
}
