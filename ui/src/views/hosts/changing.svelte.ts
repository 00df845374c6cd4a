import { rpc } from "../../lib/api";
import { failureOf, type Failure } from "../../lib/backend/backend";
import {
  giveUp,
  type HostChange,
  type HostDetail,
  type HostPlace,
  type HostPreview,
  type SkillChange,
  type Wanted,
} from "./hosts.svelte";

/** What a person may do about an entry of our name that is not ours. It is never merged with ours. */
export type Choice = "keep" | "replace" | "remove";

/** A change to a host's file: shown, chosen, made. Exactly what is shown is made, or nothing. */
export class Changing {
  detail: HostDetail | null = $state.raw(null);
  preview: HostPreview | null = $state.raw(null);
  failure: Failure | null = $state.raw(null);
  /** The entry of our name that is not ours, while nobody has chosen what becomes of it. */
  other: string | null = $state(null);
  /** The file was changed by somebody else after it was shown, so nothing was written. */
  meanwhile = $state(false);
  written: HostPreview | null = $state.raw(null);
  busy = $state(false);
  trust = $state(false);
  /** Our skills come with the registration. */
  skills = $state(false);
  /** The folder of a project whose file is meant, empty while it is not named; null for the person's
   * own file. */
  project: string | null = $state(null);
  change: HostChange["change"] = $state("register");
  #force = false;
  #turn = 0;

  constructor(readonly wanted: Wanted) {
    this.change = wanted.change;
  }

  get #request(): HostChange {
    const { place } = this.wanted;
    return {
      place: this.project === null ? place : { host: place.host, project: this.project },
      change: this.change,
      force: this.#force,
      trust: this.trust && this.change === "register",
      create: this.wanted.create ?? false,
      skills: this.skills && this.project === null,
    };
  }

  /** Something would be written. */
  get changes(): boolean {
    const { preview } = this;
    return (
      preview !== null &&
      (preview.effect !== "nothing" || preview.skills.some(({ effect }) => changesSkill(effect)))
    );
  }

  /** Shows what would be done now. */
  async look(): Promise<void> {
    const turn = ++this.#turn;
    this.failure = null;
    this.meanwhile = false;
    if (this.project === "") {
      this.preview = null;
      return;
    }
    try {
      const preview = await rpc("host_preview", this.#request);
      if (turn === this.#turn) this.#show(preview);
    } catch (thrown) {
      if (turn === this.#turn) this.#refused(failureOf(thrown));
    }
  }

  async about(): Promise<void> {
    try {
      this.detail = await rpc("host_detail", this.wanted.place);
    } catch {
      // What the change itself says is all there is then.
      this.detail = null;
    }
  }

  /** Shows what a choice does to the other entry. */
  async choose(choice: Exclude<Choice, "keep">): Promise<void> {
    this.#force = true;
    this.change = choice === "remove" ? "unregister" : "register";
    await this.look();
  }

  /** The file that was written into, to be named later. */
  get place(): HostPlace {
    const { place } = this.wanted;
    return this.project && this.written ? { host: place.host, file: this.written.file } : place;
  }

  /** Makes what is shown. */
  async write(): Promise<void> {
    const { preview } = this;
    if (!preview || this.busy) return;
    this.busy = true;
    this.failure = null;
    this.meanwhile = false;
    try {
      const request = this.#request;
      const applied = await rpc("host_change", { request, fingerprint: preview.fingerprint });
      if (applied.made) {
        this.written = applied.preview;
      } else {
        this.meanwhile = true;
        this.#show(applied.preview);
      }
    } catch (thrown) {
      this.#refused(failureOf(thrown));
    } finally {
      this.busy = false;
    }
  }

  /** Stops waiting for a host that thinks about its file, which is as it was then. */
  async giveUp(): Promise<void> {
    if (this.busy) await giveUp(this.#request.place);
  }

  /** Goes on with taking back what was just written. */
  async undo(): Promise<void> {
    // The skills that came with it go with it.
    this.skills = this.written?.skills.some(({ effect }) => effect === "install") ?? false;
    // Where nothing else was written, the last change of the file is an older one, which stays.
    this.change = this.written?.effect === "nothing" ? "remove_skills" : "undo";
    this.written = null;
    this.preview = null;
    this.#force = false;
    await this.look();
  }

  #show(preview: HostPreview): void {
    this.other = null;
    this.preview = preview;
  }

  #refused(failure: Failure): void {
    this.preview = null;
    if (failure.params?.reason === "different") this.other = failure.params.entry ?? "";
    else this.failure = failure;
  }
}

/** Something in the folder of a skill changes. */
export function changesSkill(effect: SkillChange["effect"]): boolean {
  return effect === "install" || effect === "renew" || effect === "remove";
}

/** JSON on several lines; anything else as it is. */
export function laidOut(entry: string): string {
  try {
    return JSON.stringify(JSON.parse(entry), null, 2);
  } catch {
    return entry;
  }
}
