import { mount } from "svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import App from "./shell/App.svelte";
import { useBackend } from "./lib/api";
import { chooseBackend } from "./lib/backend/choose";
import { speaker } from "./lib/i18n.svelte";
import { firstLanguage } from "./lib/state/program.svelte";

const target = document.getElementById("app");
if (!target) throw new Error("the page has no place for the window");

useBackend(await chooseBackend());
const pseudo = new URLSearchParams(location.search).get("lang") === "pseudo";
await speaker.speak(pseudo ? "pseudo" : firstLanguage());
mount(App, { target });
