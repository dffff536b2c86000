//! `tactus ctl page`: a page for a browser of this machine, with the managed VMs, live, and buttons for each.
//!
//! The page is served to this machine only. A request is answered if it was made to this server by its own name, and
//! one that changes something if the page's script has made it: a page from elsewhere can do neither.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tactus_management::Request;

use super::http::{Answer, HttpRequest};
use super::link::{Failure, Link};
use super::vms_json;
use crate::problem::io_reason;

/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);
/// The field by which the page's script shows that it is that: a form or a page from elsewhere cannot send it.
const OWN: &str = "x-tactus";

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// A page that browsers can ask for; they are answered once it is served.
#[derive(Debug)]
pub struct Page {
    listener: TcpListener,
    port: u16,
}

impl Page {
    /// Listens at a port of this machine; 0: any.
    ///
    /// # Errors
    /// The port cannot be had.
    pub fn at(port: u16) -> Result<Self, String> {
        let reason = |error: io::Error| format!("port {port}: {}", io_reason(&error));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(reason)?;
        let port = listener.local_addr().map_err(reason)?.port();
        Ok(Self { listener, port })
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("http://{}:{}/", Ipv4Addr::LOCALHOST, self.port)
    }

    /// Serves it until the process ends.
    pub fn serve(self, link: Link) {
        let port = self.port;
        let link = Arc::new(Mutex::new(link));
        for stream in self.listener.incoming().flatten() {
            let link = Arc::clone(&link);
            // A browser opens connections that it may never use: none keeps another waiting.
            thread::spawn(move || {
                // A browser that leaves wants no answer.
                let _ = converse(stream, &link, port);
            });
        }
    }
}

fn converse(mut stream: TcpStream, link: &Mutex<Link>, port: u16) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let answer = match HttpRequest::read(&mut stream)? {
        Some(request) => answer(&request, port, &mut |wanted| {
            let mut link = link.lock().unwrap_or_else(PoisonError::into_inner);
            let vms = link.request(&wanted)?;
            Ok(vms_json(&vms))
        }),
        None => text("400 Bad Request", "this is no request"),
    };
    answer.write(&mut stream)
}

fn text(status: &'static str, body: &str) -> Answer {
    Answer {
        status,
        media: "text/plain",
        body: body.to_owned(),
    }
}

/// Answers a request; `ask` asks the manager.
fn answer(
    request: &HttpRequest,
    port: u16,
    ask: &mut dyn FnMut(Request<'_>) -> Result<serde_json::Value, Failure>,
) -> Answer {
    let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    let is_here = |host: &str| names.iter().any(|name| name == host);
    if !request.field("host").is_some_and(is_here) {
        return text("403 Forbidden", "this server has another name");
    }
    let page = |media, body: &str| Answer {
        status: "200 OK",
        media,
        body: body.to_owned(),
    };
    let wanted = match (request.method.as_str(), request.target.as_str()) {
        ("GET", "/") => return page("text/html", PAGE),
        ("GET", "/page.js") => return page("text/javascript", SCRIPT),
        ("GET", "/page.css") => return page("text/css", STYLE),
        ("GET", "/vms") => Request::List,
        ("POST", target) => {
            if request.field(OWN) != Some("1") {
                return text("403 Forbidden", "only the page itself asks for this");
            }
            let words = target.strip_prefix("/vms/");
            match words.and_then(|words| words.split_once('/')) {
                Some((name, _)) if !is_name(name) => return text("404 Not Found", "no such VM"),
                Some((name, "restart")) => Request::Restart(name),
                Some((name, "stop")) => Request::Stop(name),
                Some((name, "start")) => Request::Start(name),
                _ => return text("404 Not Found", "there is nothing here"),
            }
        }
        ("GET", _) => return text("404 Not Found", "there is nothing here"),
        _ => return text("405 Method Not Allowed", "GET and POST only"),
    };
    let (status, body) = match ask(wanted) {
        Ok(vms) => ("200 OK", vms),
        Err(failure) => {
            let status = match failure {
                Failure::Refused(_) => "409 Conflict",
                Failure::Late | Failure::Link(_) => "502 Bad Gateway",
            };
            (status, json!({ "error": failure.to_string() }))
        }
    };
    Answer {
        status,
        media: "application/json",
        body: body.to_string(),
    }
}

/// Whether a VM can have that name: it becomes a word of the manager's line.
fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && name.bytes().all(allowed)
}

/// For [`crate::testing::try_http`].
#[cfg(any(test, feature = "testing"))]
pub(crate) fn try_any(bytes: &[u8]) {
    let Ok(Some(request)) = HttpRequest::read(&mut &bytes[..]) else {
        return;
    };
    let is_own = request.field(OWN) == Some("1");
    let answer = answer(&request, 8000, &mut |wanted| {
        assert!(is_own || wanted == Request::List, "{wanted}");
        let line = wanted.to_string();
        let again = tactus_management::parse(line.as_bytes());
        assert_eq!(again.request, Ok(wanted));
        Ok(json!([]))
    });
    let mut written = Vec::new();
    answer.write(&mut written).expect("memory takes it");
    assert!(written.starts_with(b"HTTP/1.1 "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_inputs_are_refused_or_answered() {
        crate::testing::each_file("fuzz/corpus/ctl_http", try_any);
    }

    fn ask(head: &str) -> (&'static str, Vec<String>) {
        let mut asked = Vec::new();
        let request = HttpRequest::parse(head.as_bytes()).expect("it is one");
        let answer = answer(&request, 80, &mut |wanted| {
            asked.push(wanted.to_string());
            match wanted {
                Request::Stop(_) => Err(Failure::Refused("no".to_owned())),
                Request::Start(_) => Err(Failure::Link("gone".to_owned())),
                _ => Ok(json!([])),
            }
        });
        (answer.status, asked)
    }

    #[test]
    fn only_the_page_itself_changes_something() {
        let own = "Host: 127.0.0.1:80\r\nX-Tactus: 1\r\n\r\n";
        let plain = "Host: localhost:80\r\n\r\n";
        let none = Vec::<String>::new();
        let one = |request: &str| vec![request.to_owned()];
        for (head, status, asked) in [
            (format!("GET / HTTP/1.1\r\n{plain}"), "200 OK", none.clone()),
            (
                format!("GET /vms HTTP/1.1\r\n{plain}"),
                "200 OK",
                one("list"),
            ),
            (
                format!("GET /vms/a/restart HTTP/1.1\r\n{own}"),
                "404 Not Found",
                none.clone(),
            ),
            (
                format!("POST /vms/a/restart HTTP/1.1\r\n{plain}"),
                "403 Forbidden",
                none.clone(),
            ),
            (
                format!("POST /vms/a/restart HTTP/1.1\r\n{own}"),
                "200 OK",
                one("restart a"),
            ),
            (
                format!("POST /vms/a/stop HTTP/1.1\r\n{own}"),
                "409 Conflict",
                one("stop a"),
            ),
            (
                format!("POST /vms/a/start HTTP/1.1\r\n{own}"),
                "502 Bad Gateway",
                one("start a"),
            ),
            (
                format!("POST /vms/a%20b/stop HTTP/1.1\r\n{own}"),
                "404 Not Found",
                none.clone(),
            ),
            (
                format!("POST /vms//stop HTTP/1.1\r\n{own}"),
                "404 Not Found",
                none.clone(),
            ),
            (
                format!("POST /vms/a/load HTTP/1.1\r\n{own}"),
                "404 Not Found",
                none.clone(),
            ),
            (
                format!("PUT /vms HTTP/1.1\r\n{own}"),
                "405 Method Not Allowed",
                none.clone(),
            ),
            (
                "GET /vms HTTP/1.1\r\nHost: evil:80\r\n\r\n".to_owned(),
                "403 Forbidden",
                none.clone(),
            ),
            (
                "GET /vms HTTP/1.1\r\n\r\n".to_owned(),
                "403 Forbidden",
                none.clone(),
            ),
        ] {
            assert_eq!(ask(&head), (status, asked), "{head}");
        }
    }
}
