export type Theme = "system" | "light" | "dark";
export type Preference = "system" | "on" | "off";

/** How the window looks; kept in this window's storage because it belongs to the screen at hand. */
export interface Look {
  theme: Theme;
  contrast: Preference;
  motion: Preference;
  /** Per cent. */
  zoom: number;
  underline: boolean;
  /** Single-letter shortcuts work. */
  letters: boolean;
  /** Everything is announced, not only what matters. */
  verbose: boolean;
  /** What the model says is shown between the steps. */
  thoughts: boolean;
  sidebar: "wide" | "narrow";
}

const KEY = "openspace-look";
/** How it looks when nobody said otherwise. */
export const PLAIN: Look = {
  theme: "system",
  contrast: "system",
  motion: "system",
  zoom: 100,
  underline: false,
  letters: true,
  verbose: false,
  thoughts: true,
  sidebar: "wide",
};
export const ZOOMS = [80, 90, 100, 110, 125, 150, 175, 200] as const;

class Appearance {
  look: Look = $state(read());
  #dark = $state(false);
  #contrast = $state(false);
  #calm = $state(false);

  readonly theme: "light" | "dark" = $derived(
    this.look.theme === "system" ? (this.#dark ? "dark" : "light") : this.look.theme,
  );
  readonly highContrast = $derived(
    this.look.contrast === "system" ? this.#contrast : this.look.contrast === "on",
  );
  /** Nothing may move. */
  readonly calm = $derived(this.look.motion === "system" ? this.#calm : this.look.motion === "off");

  /** Follows the system and applies the look until the returned function is called. */
  start(): () => void {
    const stops = [
      follow("(prefers-color-scheme: dark)", (on) => (this.#dark = on)),
      follow("(prefers-contrast: more)", (on) => (this.#contrast = on)),
      follow("(prefers-reduced-motion: reduce)", (on) => (this.#calm = on)),
      $effect.root(() => {
        $effect(() => this.#apply());
      }),
    ];
    return () => stops.forEach((stop) => stop());
  }

  set(change: Partial<Look>): void {
    this.look = { ...this.look, ...change };
    try {
      localStorage.setItem(KEY, JSON.stringify(this.look));
    } catch {
      // Without storage the look lasts as long as the window.
    }
  }

  zoomBy(direction: 1 | -1): void {
    const next =
      direction > 0
        ? ZOOMS.find((zoom) => zoom > this.look.zoom)
        : ZOOMS.findLast((zoom) => zoom < this.look.zoom);
    if (next !== undefined) this.set({ zoom: next });
  }

  #apply(): void {
    const root = document.documentElement;
    root.dataset.theme = this.theme;
    root.dataset.contrast = this.highContrast ? "high" : "normal";
    root.dataset.motion = this.calm ? "off" : "on";
    root.dataset.underline = this.look.underline ? "on" : "off";
    root.style.setProperty("zoom", this.look.zoom === 100 ? "" : `${this.look.zoom}%`);
    root.style.setProperty("--zoom", String(this.look.zoom / 100));
  }
}

function follow(query: string, apply: (on: boolean) => void): () => void {
  const media = matchMedia(query);
  const read = () => apply(media.matches);
  read();
  media.addEventListener("change", read);
  return () => media.removeEventListener("change", read);
}

function read(): Look {
  try {
    return { ...PLAIN, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Look>) };
  } catch {
    return { ...PLAIN };
  }
}

export const appearance = new Appearance();
