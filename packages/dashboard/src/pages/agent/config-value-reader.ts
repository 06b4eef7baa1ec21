import type { ConfigValueView } from "@herdctl/server/contract";

/** Reads an agent's configuration values by path. */
export class ConfigValueReader {
  readonly #byPath: ReadonlyMap<string, unknown>;

  constructor(values: readonly ConfigValueView[]) {
    this.#byPath = new Map(values.map(({ path, value }) => [path, value]));
  }

  text(path: string): string | undefined {
    const value = this.#byPath.get(path);
    return value === undefined || typeof value === "object" ? undefined : String(value);
  }

  isOn(path: string): boolean {
    return this.#byPath.get(path) === true;
  }

  /** The items of a list, as text. */
  list(path: string): string[] {
    return this.#entriesBelow(`${path}[`).map(([, value]) => String(value));
  }

  /** The keys directly below, such as the names of schedules. */
  names(path: string): string[] {
    const keys = this.#entriesBelow(`${path}.`).map(([key]) => key.split(/[.[]/, 1)[0] ?? "");
    return [...new Set(keys)];
  }

  #entriesBelow(prefix: string): [string, unknown][] {
    return [...this.#byPath]
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, value]) => [path.slice(prefix.length), value]);
  }
}
