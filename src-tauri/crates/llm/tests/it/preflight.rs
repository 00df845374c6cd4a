//! What would be rejected is never sent.

use openspace_llm::preflight::prepare;
use openspace_llm::{
    Content, Error, Hosted, Message, Profile, Request, Role, ToolCall, ToolResult, connect,
};
use serde_json::json;

use crate::server::{Answer, CLAUDE, FakeTiming, Server, ask, options, picture, reply, tool};

fn profile() -> Profile {
    Profile::lookup("anthropic/claude-opus-4-7")
}

fn call(id: &str, name: &str) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        input: json!({}),
        malformed: None,
    })
}

fn result(id: &str, content: Vec<Content>) -> Content {
    Content::ToolResult(ToolResult {
        id: id.into(),
        content,
        is_error: false,
    })
}

fn model(content: Vec<Content>) -> Message {
    Message {
        role: Role::Assistant,
        content,
    }
}

fn person(content: Vec<Content>) -> Message {
    Message {
        role: Role::User,
        content,
    }
}

fn with(messages: Vec<Message>) -> Request {
    Request {
        messages,
        ..ask("")
    }
}

fn check(messages: Vec<Message>) -> Result<Vec<Message>, Error> {
    prepare(&with(messages), &profile(), false)
}

/// Every way in which calls and results do not match is refused before sending.
#[test]
fn calls_and_results_must_match() {
    let start = || Message::user("go");
    let bad = [
        vec![],
        vec![Message::assistant("hi"), start()],
        vec![start(), Message::assistant("hi")],
        vec![
            start(),
            model(vec![call("a", "x")]),
            Message::user("no result"),
        ],
        vec![
            start(),
            model(vec![call("a", "x"), call("b", "x")]),
            person(vec![result("a", vec![])]),
        ],
        vec![
            start(),
            model(vec![call("a", "x"), call("a", "x")]),
            person(vec![result("a", vec![]), result("a", vec![])]),
        ],
        vec![
            start(),
            model(vec![call("a", "x")]),
            person(vec![result("a", vec![]), result("a", vec![])]),
        ],
        vec![
            start(),
            model(vec![call("a", "x")]),
            person(vec![result("a", vec![]), result("b", vec![])]),
        ],
        vec![person(vec![result("a", vec![])])],
        vec![
            start(),
            model(vec![call("", "x")]),
            person(vec![result("", vec![])]),
        ],
        vec![person(vec![call("a", "x")])],
        vec![
            start(),
            model(vec![call("a", "x")]),
            person(vec![result("a", vec![])]),
            model(vec![call("a", "x")]),
            person(vec![result("a", vec![])]),
        ],
        vec![
            start(),
            model(vec![call("a", "x")]),
            person(vec![result("a", vec![call("n", "x")])]),
        ],
    ];
    for (number, messages) in bad.into_iter().enumerate() {
        let result = check(messages);
        assert!(
            matches!(result, Err(Error::InvalidRequest { .. })),
            "{number}: {result:?}"
        );
    }
}

/// Empty texts go, neighbours are merged, results come first.
#[test]
fn a_conversation_is_tidied() {
    let tidy = check(vec![
        Message::user(" "),
        Message::user("one"),
        Message::user("two"),
        Message::assistant(""),
        model(vec![call("a", "x")]),
        person(vec![
            Content::Text("wait".into()),
            result("a", vec![Content::Text(String::new())]),
        ]),
    ]);
    assert_eq!(
        tidy.unwrap(),
        [
            person(vec![
                Content::Text("one".into()),
                Content::Text("two".into())
            ]),
            model(vec![call("a", "x")]),
            person(vec![result("a", vec![]), Content::Text("wait".into())]),
        ]
    );
}

/// Pictures: how many, how long once there are many, how many bytes, and in all.
#[test]
fn d09_pictures_beyond_the_limits_are_refused() {
    let pictures = |count: usize, width| {
        check(vec![person(vec![
            Content::Image(picture(width, 100));
            count
        ])])
    };
    assert!(pictures(20, 2576).is_ok());
    assert!(matches!(
        pictures(21, 2001),
        Err(Error::ImageRejected { .. })
    ));
    assert!(pictures(21, 2000).is_ok());
    assert!(matches!(
        pictures(1, 8001),
        Err(Error::ImageRejected { .. })
    ));
    assert!(matches!(
        pictures(601, 100),
        Err(Error::ImageRejected { .. })
    ));
    assert!(matches!(pictures(1, 0), Err(Error::ImageRejected { .. })));

    let heavy = |bytes: usize| {
        let mut image = picture(100, 100);
        image.data = vec![0; bytes].into();
        Content::Image(image)
    };
    let megabyte = 1024 * 1024;
    assert!(matches!(
        check(vec![person(vec![heavy(8 * megabyte)])]),
        Err(Error::ImageRejected { .. })
    ));
    assert!(check(vec![person(vec![heavy(7 * megabyte)])]).is_ok());
    let many = vec![heavy(5 * megabyte); 5];
    assert!(matches!(
        check(vec![person(many)]),
        Err(Error::ImageRejected { .. })
    ));
    let text = Message::user("x".repeat(33 * megabyte));
    assert!(matches!(
        check(vec![text]),
        Err(Error::ContextTooLong { .. })
    ));
}

/// The declared display is the newest whole picture of the tool, and one the service does not shrink.
#[test]
fn d02_declared_display_equals_the_picture() {
    let request = |declared: (u32, u32), shown: (u32, u32), input| {
        let mut computer = tool("computer");
        computer.hosted = Some(Hosted::Computer {
            width: declared.0,
            height: declared.1,
        });
        let first = picture(declared.0, declared.1);
        let second = ToolCall {
            id: "b".into(),
            name: "computer".into(),
            input,
            malformed: None,
        };
        let mut request = with(vec![
            Message::user("go"),
            model(vec![call("a", "computer")]),
            person(vec![result("a", vec![Content::Image(first)])]),
            model(vec![Content::ToolCall(second)]),
            person(vec![result(
                "b",
                vec![Content::Image(picture(shown.0, shown.1))],
            )]),
        ]);
        request.tools = vec![computer];
        prepare(&request, &profile(), true)
    };
    let look = || json!({"action": "screenshot"});
    assert!(request((2420, 1512), (2420, 1512), look()).is_ok());
    assert!(matches!(
        request((2420, 1512), (1389, 868), look()),
        Err(Error::InvalidRequest { .. })
    ));
    assert!(matches!(
        request((2880, 1800), (2880, 1800), look()),
        Err(Error::InvalidRequest { .. })
    ));
    // A look at a part has a size of its own.
    assert!(request((2420, 1512), (800, 600), json!({"action": "zoom"})).is_ok());
}

/// Tools need names, schemas of objects, and to be told apart.
#[test]
fn tools_are_checked() {
    let mut nameless = tool("x");
    nameless.name = "a b".into();
    let mut list = tool("y");
    list.schema = json!({"type": "array"});
    for tools in [vec![nameless], vec![list], vec![tool("z"), tool("z")]] {
        let request = Request { tools, ..ask("hi") };
        assert!(matches!(
            prepare(&request, &profile(), false),
            Err(Error::InvalidRequest { .. })
        ));
    }
    let silent = Request {
        max_tokens: 0,
        ..ask("hi")
    };
    assert!(prepare(&silent, &profile(), false).is_err());
}

/// A refused request does not reach the network.
#[tokio::test]
async fn nothing_is_sent_that_would_be_rejected() {
    let server = Server::start(vec![Answer::html(200)]).await;
    let connected = connect(options(CLAUDE, &server.base, FakeTiming::new(0.0))).unwrap();
    let request = with(vec![
        Message::user("go"),
        model(vec![call("a", "x")]),
        Message::user("on"),
    ]);
    assert!(matches!(
        reply(&connected, &request).await.0,
        Err(Error::InvalidRequest { .. })
    ));
    assert!(server.seen().is_empty());
}
