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
  part("aim-label").textContent = texts.aim;
};

// A target instead: where it is clicked is said in the title, which is all a page without rights can say.
if (new URLSearchParams(location.search).has("target")) {
  part("aim").hidden = false;
  part("practise").hidden = true;
  addEventListener("pointerdown", ({ clientX, clientY, target }) => {
    const { left, top, width, height } = part("target").getBoundingClientRect();
    const off = (at, from, side) => Math.round((at - from - side / 2) * devicePixelRatio);
    const hit = target === part("target") ? "hit" : "miss";
    document.title = `arrived:${off(clientX, left, width)},${off(clientY, top, height)},${hit}`;
  });
}

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
