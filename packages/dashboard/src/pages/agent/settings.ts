import type { ShownValue } from "@herdctl/server/contract";

/** The configuration of an agent, asked by path. */
export class Settings {
  readonly #byPath: ReadonlyMap<string, unknown>;

  constructor(values: readonly ShownValue[]) {
    this.#byPath = new Map(values.map(({ path, value }) => [path, value]));
  }

  text(path: string): string | undefined {
    const value = this.#byPath.get(path);
    return value === undefined || typeof value === "object" ? undefined : String(value);
  }

  isOn(path: string): boolean {
    return this.#byPath.get(path) === true;
  }

  /** What stands in a list, as text. */
  list(path: string): string[] {
    return this.#below(`${path}[`).map(([, value]) => String(value));
  }

  /** The keys directly below, such as the names of schedules. */
  names(path: string): string[] {
    const keys = this.#below(`${path}.`).map(([key]) => key.split(/[.[]/, 1)[0] ?? "");
    return [...new Set(keys)];
  }

  #below(prefix: string): [string, unknown][] {
    return [...this.#byPath]
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, value]) => [path.slice(prefix.length), value]);
  }
}
