// A form that fills a list, for trying clicks and keys. Nothing is kept and nothing leaves the page.
"use strict";

const part = (id) => document.getElementById(id);
const language = new URLSearchParams(location.search).get("lang") === "zh-Hans" ? "zh-Hans" : "en";
document.documentElement.lang = language;

// The sentences are put in by the program, from the catalogue everybody shares.
globalThis.say = (texts) => {
  document.title = texts.title;
  part("title").textContent = texts.title;
  part("about").textContent = texts.about;
  part("name-label").textContent = texts.name;
  part("topic-label").textContent = texts.topic;
  part("agree-label").textContent = texts.agree;
  part("add").textContent = texts.add;
  part("list-label").textContent = texts.list;
  part("none").textContent = texts.none;
};

part("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const entry = document.createElement("li");
  const copy = part("agree").checked ? " ✓" : "";
  entry.textContent = `${part("name").value} · ${part("topic").value}${copy}`;
  part("list").append(entry);
  part("none").hidden = true;
  part("form").reset();
  part("name").focus();
});
