import { rpc, type ModelsList } from "../api";

/** Models that are known, as suggestions. */
class Models {
  list: ModelsList | null = $state.raw(null);
  readonly names = $derived(this.list?.models.map((model) => model.name) ?? []);
  #asked = false;

  async load(): Promise<void> {
    if (this.#asked) return;
    this.#asked = true;
    try {
      this.list = await rpc("models_list", {});
    } catch {
      this.#asked = false;
    }
  }
}

export const models = new Models();
