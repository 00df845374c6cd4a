/** Keeps the newest values and lets go of the oldest. */
export class Lru<V> {
  readonly #values = new Map<string, V>();

  constructor(
    private readonly most: number,
    private readonly drop: (value: V) => void,
  ) {}

  /** The value, which is the newest from now on. */
  get(key: string): V | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    for (const [oldest, gone] of this.#values) {
      if (this.#values.size <= this.most) break;
      this.#values.delete(oldest);
      this.drop(gone);
    }
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  get size(): number {
    return this.#values.size;
  }
}
