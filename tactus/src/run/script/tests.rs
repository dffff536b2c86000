use super::*;

fn vms() -> Vec<String> {
    vec!["rt".to_owned(), "linux".to_owned()]
}

fn parse(text: &str) -> Result<Script, String> {
    Script::parse("login", text, &vms(), None).map_err(|bad| format!("{bad}; {}", bad.help))
}

#[test]
fn a_script_is_read() {
    let text = "# comment\n\nvm linux\ntimeout 250ms\nexpect \"~ # \"\n  send nproc --all \n\
        expect \"\\x32\\r\\n\"\ntype \"\\e[A\"\nsend\nwait 1s\nexit 7\n";
    let script = parse(text).expect("it is in order");
    let actions: Vec<Action> = script
        .steps
        .iter()
        .map(|step| step.action.clone())
        .collect();
    let send = |bytes: &[u8]| Action::Send {
        vm: 1,
        bytes: bytes.to_vec(),
    };
    let expect = |text: &[u8]| Action::Expect {
        vm: 1,
        text: text.to_vec(),
        patience: Nanoseconds(250_000_000),
    };
    assert_eq!(
        actions,
        [
            expect(b"~ # "),
            send(b"nproc --all\n"),
            expect(b"2\r\n"),
            send(b"\x1b[A"),
            send(b"\n"),
            Action::Wait(Nanoseconds(1_000_000_000)),
            Action::Exit(7),
        ]
    );
    assert_eq!(script.steps[0].name, "login:5: expect \"~ # \"");
}

#[test]
fn bad_lines_are_named() {
    let begin = "login:2: ";
    for (line, message) in [
        (
            "expct x",
            "`expct` is nothing that a script does; did you mean `expect`?",
        ),
        (
            "frobnicate",
            "`frobnicate` is nothing that a script does; a line begins with one of `vm`, `timeout`, `expect`, `send`, `type`, `wait`, `exit`",
        ),
        (
            "vm dos",
            "the system has no VM `dos`; the VMs are `rt`, `linux`",
        ),
        (
            "send ls",
            "`send` does not say whose console is meant; say --console VM, or `vm NAME` in a line before; the VMs are `rt`, `linux`",
        ),
        (
            "timeout 5",
            "`5` is not a time; say a number and s, ms, us or ns, such as 5s or 250ms",
        ),
        (
            "wait",
            "`wait` needs a time; say a number and s, ms, us or ns, such as 5s or 250ms",
        ),
        (
            "exit 256",
            "`256` is not an exit code; say a number from 0 to 255",
        ),
    ] {
        let error = parse(&format!("# first\n{line}\n")).expect_err(line);
        assert_eq!(error, format!("{begin}{message}"));
    }
    let quotes = "in quotes, \\n, \\r, \\t, \\e, \\\\, \\\" and \\xNN stand for bytes";
    for (line, message) in [
        ("expect \"~ #", "the quotes are not closed"),
        ("expect \"a\" b", "`b` is behind the quotes"),
        ("send \"\\q\"", "`\\q` stands for no byte"),
        ("send \"\\xg1\"", "`\\xg1` stands for no byte"),
    ] {
        let error = parse(&format!("vm rt\n{line}\n")).expect_err(line);
        assert_eq!(error, format!("{begin}{message}; {quotes}"));
    }
    assert_eq!(
        parse("vm rt\nexpect\n").expect_err("no text"),
        "login:2: `expect` needs a text; say what to expect, such as `expect \"~ # \"`"
    );
    assert_eq!(
        parse("exit 0\nwait 1s\n").expect_err("more"),
        "login:2: nothing is done after `login:1: exit 0`; take the line out, or put `exit` last"
    );
}

const fn ms(milliseconds: u64) -> Nanoseconds {
    Nanoseconds(milliseconds * 1_000_000)
}

fn player(text: &str) -> Player {
    Player::new(Some(parse(text).expect("it is in order")), None, &vms())
}

fn hear(player: &mut Player, vm: usize, text: &str) {
    text.bytes().for_each(|byte| player.heard(vm, byte));
}

#[test]
fn what_is_expected_is_answered() {
    let mut player = player("vm linux\nexpect \"# \"\nsend ls\nexpect # \nexit 3\n");
    assert_eq!(player.advance(ms(1)), b"");
    hear(&mut player, 0, "# ");
    assert_eq!(player.advance(ms(2)), b"", "it was another VM");
    hear(&mut player, 1, "boot\n/ #");
    assert_eq!(player.advance(ms(3)), b"");
    hear(&mut player, 1, " ");
    assert_eq!(player.advance(ms(4)), b"\x1eBls\n");
    assert!(player.unfinished().is_some());
    hear(&mut player, 1, "ls\nbin\n/ # ");
    assert_eq!(player.advance(ms(5)), b"");
    assert_eq!(player.ended(), Some(&ScriptEnd::Exit(3)));
    assert_eq!(player.unfinished(), None);
}

#[test]
fn time_outs_are_in_virtual_time() {
    let mut player = player("timeout 10ms\nvm rt\nexpect ready\n");
    hear(&mut player, 0, "booting\nnot read\n");
    player.advance(ms(100));
    player.advance(ms(109));
    assert_eq!(player.ended(), None);
    player.advance(ms(110));
    let end = player.ended().expect("the time is up").to_string();
    assert_eq!(
        end,
        "login:3: expect ready: not within 10 ms of virtual time; rt ended with \"not read\""
    );
}

#[test]
fn each_vm_is_selected_before_its_input() {
    let mut player = player("vm rt\nsend a\nvm linux\nsend b\nwait 10ms\nvm rt\nsend c\n");
    assert_eq!(player.advance(ms(1)), b"\x1eAa\n\x1eBb\n");
    assert_eq!(player.advance(ms(5)), b"");
    hear(&mut player, 0, "ok");
    assert_eq!(player.advance(ms(11)), b"\x1eAc\n");
    assert!(!player.needs_time());
}

#[test]
fn what_is_fed_waits_for_the_prompt() {
    let feed = Feed::default();
    feed.add(b"nproc\n");
    let typed = Typed {
        vm: 1,
        feed: feed.clone(),
    };
    let mut player = Player::new(None, Some(typed), &vms());
    assert_eq!(player.advance(ms(100)), b"");
    hear(&mut player, 1, "~ # ");
    assert_eq!(player.advance(ms(101)), b"");
    assert_eq!(player.advance(ms(121)), b"\x1eBnproc\n");
    assert!(player.awaits_feed());
    feed.close();
    assert!(!player.needs_time());
}
