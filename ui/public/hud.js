// The pill: shows what it is told and makes a few calls. It is no part of the window's bundle, so that
// it is there at once whatever the window does. Who pressed a button is not judged here: the program
// asks the window system.
"use strict";

const { invoke } = window.__TAURI_INTERNALS__;
const part = (id) => document.getElementById(id);
/** A control that allows does nothing before it could be seen for this long, milliseconds. */
const SEEN = 600;

let told = {};
let question = null;
let shownAt = 0;
let readToEnd = false;
let busy = false;

function call(name, request, failed = (failure) => (part("line").textContent = failure.message)) {
  return invoke("rpc", { name, request }).catch((failure) =>
    failed(failure?.message ? failure : { code: "internal", message: String(failure) }),
  );
}

globalThis.show = (now) => {
  told = now;
  document.documentElement.lang = now.language;
  for (const name of ["title", "line", "pause", "stop"]) part(name).textContent = now[name];
  part("take-over").textContent = now.takeOver;
  part("take-over").hidden = now.paused;
  if (now.question?.approval !== question?.approval) ask(now.question);
};

/** Shows another question, or none. */
function ask(asked) {
  question = asked;
  busy = false;
  part("question").hidden = !asked;
  if (!asked) return;
  part("asked").textContent = asked.title;
  part("about").textContent = asked.about;
  part("note").textContent = asked.note;
  part("exactly").replaceChildren(
    ...asked.exactly.flatMap(({ what, text }) =>
      text === null ? [element("p", what)] : [element("p", what), element("pre", text)],
    ),
  );
  for (const name of ["deny", "open"]) part(name).textContent = asked[name];
  part("allow").textContent = asked.allow ?? "";
  part("allow").hidden = asked.allow === null;
  part("whole").scrollTop = 0;
  shownAt = performance.now();
  readToEnd = false;
  setTimeout(judge, SEEN);
  judge();
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

/** Whether the question could be read: all of it was in view, for long enough. */
function judge() {
  if (!question) return;
  const { scrollHeight, scrollTop, clientHeight } = part("whole");
  readToEnd ||= scrollHeight - scrollTop - clientHeight <= 2;
  // What keeps it from being allowed is said only as long as it does.
  if (readToEnd && question.allow !== null && !busy) part("note").hidden = true;
  else part("note").hidden = false;
  const seen = performance.now() - shownAt >= SEEN;
  part("allow").disabled = busy || !readToEnd || !seen;
  part("deny").disabled = busy;
}

function answer(choice) {
  if (!question || busy) return;
  const { approval, nonce, refused } = question;
  busy = true;
  judge();
  void call("approval_answer", { approval, nonce, choice }, ({ code, message }) => {
    if (question?.approval !== approval) return;
    busy = false;
    judge();
    part("note").hidden = false;
    part("note").textContent = code === "forbidden" ? refused : message;
  });
}

part("pause").addEventListener("click", () =>
  call("run_command", { run: told.run, command: told.paused ? "resume" : "pause" }),
);
part("take-over").addEventListener("click", () =>
  call("run_command", { run: told.run, command: "take_over" }),
);
part("stop").addEventListener("click", () => call("run_stop", { run: told.run }));
part("deny").addEventListener("click", () => answer(null));
part("allow").addEventListener("click", () => answer("once"));
part("open").addEventListener("click", () =>
  invoke("leave", { address: `openspace://approvals/${question.approval}` }),
);
part("whole").addEventListener("scroll", judge);
