// The quick window: a task is typed and handed over. It is no part of the main window's bundle, so that it
// is there at once; what was typed stays until it was handed over.
"use strict";

const { invoke } = window.__TAURI_INTERNALS__;
const part = (id) => document.getElementById(id);

let texts = {};
let busy = false;
/** The same request sent twice is one run; other words are another. */
let asked = { task: "", key: "" };

globalThis.show = (said) => {
  texts = said;
  document.documentElement.lang = said.language;
  document.title = said.title;
  for (const name of ["label", "keys", "open"]) part(name).textContent = said[name];
  follow();
  tell("");
  part("task").focus();
  part("task").select();
  fit();
};

/** Looks as the main window does, which keeps that in the storage they share. */
function follow() {
  let theme;
  try {
    theme = JSON.parse(localStorage.getItem("openspace-look") ?? "{}").theme;
  } catch {
    theme = undefined;
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

/** Makes field and window as high as they have to be. */
function fit() {
  const task = part("task");
  task.style.height = "auto";
  task.style.height = `${task.scrollHeight + 2}px`;
  const { width, height } = document.querySelector("main").getBoundingClientRect();
  const value = { Logical: { width, height: Math.ceil(height) } };
  void invoke("plugin:window|set_size", { value });
}

/** Says what is in the way, and what the core said in English; nothing when that is empty. */
function tell(trouble, english) {
  part("trouble").textContent = trouble;
  if (english) {
    const said = document.createElement("span");
    said.lang = "en";
    said.textContent = `\n${english}`;
    part("trouble").append(said);
  }
  part("trouble").hidden = trouble === "";
  part("open").hidden = trouble === "";
}

function leave(address) {
  void invoke("leave", address ? { address } : {});
}

async function handOver() {
  const written = part("task").value;
  const task = written.trim();
  if (task === "" || busy) return;
  busy = true;
  part("keys").textContent = texts.starting;
  try {
    if (asked.task !== task) asked = { task, key: crypto.randomUUID() };
    const request = { task, idempotencyKey: asked.key };
    const { problems } = await invoke("rpc", { name: "run_preflight", request });
    const blocking = problems.filter((problem) => problem.blocks);
    if (blocking.length > 0) {
      tell(
        blocking.map(({ message, hint }) => [message, hint].filter(Boolean).join("\n")).join("\n"),
      );
      return;
    }
    await invoke("rpc", { name: "run_start", request });
    asked = { task: "", key: "" };
    // What was typed meanwhile is the next task.
    if (part("task").value === written) part("task").value = "";
    leave();
  } catch (failure) {
    tell(texts.failed, failure?.message ?? String(failure));
  } finally {
    busy = false;
    part("keys").textContent = texts.keys;
    fit();
  }
}

/** Whether a key belongs to an input method; the one that ends a composition has only this code in WebKit. */
function composing(event) {
  return event.isComposing || event.keyCode === 229;
}

part("task").addEventListener("input", () => {
  tell("");
  fit();
});
part("task").addEventListener("keydown", (event) => {
  // The first Enter of whoever writes Chinese chooses characters.
  if (event.key !== "Enter" || event.shiftKey || composing(event)) return;
  event.preventDefault();
  void handOver();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !composing(event)) leave();
});
// A hidden window may be narrower than it is shown, and what it was told of its size may be lost.
window.addEventListener("focus", fit);
window.addEventListener("resize", fit);
part("form").addEventListener("submit", (event) => event.preventDefault());
part("open").addEventListener("click", () => leave("openspace://tasks/new"));
