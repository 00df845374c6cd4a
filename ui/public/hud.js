// The pill: shows what it is told and makes four calls. It is no part of the window's bundle, so that
// it is there at once whatever the window does.
"use strict";

const { invoke } = window.__TAURI_INTERNALS__;
const part = (id) => document.getElementById(id);
let run = "";
let paused = false;

function call(name, request) {
  invoke("rpc", { name, request }).catch((failure) => {
    part("line").textContent = failure.message ?? String(failure);
  });
}

globalThis.show = (told) => {
  run = told.run;
  paused = told.paused;
  part("title").textContent = told.title;
  part("line").textContent = told.line;
  part("pause").textContent = told.pause;
  part("take-over").textContent = told.takeOver;
  part("stop").textContent = told.stop;
  part("take-over").hidden = paused;
};

part("pause").addEventListener("click", () =>
  call("run_command", { run, command: paused ? "resume" : "pause" }),
);
part("take-over").addEventListener("click", () =>
  call("run_command", { run, command: "take_over" }),
);
part("stop").addEventListener("click", () => call("run_stop", { run }));
