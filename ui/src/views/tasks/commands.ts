import { t, type MessageKey } from "../../lib/i18n.svelte";
import { BACKENDS, composer, LIMITS, PRESETS } from "../../lib/state/composer.svelte";
import { models } from "../../lib/state/models.svelte";
import { program } from "../../lib/state/program.svelte";

/** Something the field for a new task can do, offered after a stroke. */
export interface ComposerCommand {
  id: string;
  title: string;
  /** What it sets. */
  group: string;
  /** It is what holds now. */
  chosen: boolean;
  run: () => void;
}

/** Opens the choice of a folder or of files. */
export interface Pickers {
  folder: () => void;
  files: () => void;
}

/** Everything the composer can do, in the order of its buttons. */
export function composerCommands(pick: Pickers): ComposerCommand[] {
  const { draft } = composer;
  const list: ComposerCommand[] = [];
  const add = (id: string, group: MessageKey, title: string, chosen: boolean, run: () => void) =>
    list.push({ id, group: t(group), title, chosen, run });

  add("files", "ui.composer.attached", t("ui.composer.slash.files"), false, pick.files);
  add("folder", "ui.path.folder", t("ui.composer.slash.folder"), false, pick.folder);
  for (const name of BACKENDS) {
    const title = t(`ui.backend.${name}` satisfies MessageKey);
    add(`back end ${name}`, "ui.composer.backends", title, composer.offers(name), () =>
      composer.toggle(name),
    );
  }
  if (composer.offers("gui") && program.state?.system === "linux") {
    add("private", "ui.composer.backends", t("ui.composer.private"), draft.private, () =>
      composer.changed({ private: !draft.private }),
    );
  }
  for (const preset of PRESETS) {
    const title = t(`ui.preset.${preset === "" ? "default" : preset}` satisfies MessageKey);
    add(`preset ${preset}`, "ui.composer.preset", title, draft.preset === preset, () =>
      composer.changed({ preset }),
    );
  }
  for (const model of ["", ...models.names]) {
    add(`model ${model}`, "ui.composer.model", modelTitle(model), draft.model === model, () =>
      composer.changed({ model }),
    );
  }
  for (const steps of [null, ...LIMITS]) {
    add(`limit ${steps ?? ""}`, "ui.composer.limit", limitTitle(steps), draft.steps === steps, () =>
      composer.changed({ steps }),
    );
  }
  return list;
}

/** A model as the composer names it; without a name the one of the settings. */
export function modelTitle(name: string): string {
  if (name !== "") return name;
  const model = program.state?.model;
  return model ? t("ui.composer.model.default", { model }) : t("ui.composer.model.none");
}

/** A limit as the composer names it; without a number the one of the settings. */
export function limitTitle(steps: number | null): string {
  return steps === null ? t("ui.composer.limit.default") : t("ui.run.steps", { count: steps });
}
