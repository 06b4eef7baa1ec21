import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { checkout, minimalEnv, waitForExit } from "../cli/run-herdctl.ts";

/** In these, dependencies keep what all their copies in a process share. */
const registries = [
  "globals.__zod_globalConfig",
  "globals.__zod_globalRegistry",
  "globals.Symbol(signal-exit emitter)",
];

/** Compares the process before and after an import, by the identity of every property. */
const program = `
const propertiesOf = (object) => new Map(
  Reflect.ownKeys(object).map((key) => [key, Object.getOwnPropertyDescriptor(object, key)]),
);
const prototypes = [Object, Function, Array, Promise, Error, Map, Set, String, Date];
const snapshot = () => ({
  globals: propertiesOf(globalThis),
  process: propertiesOf(process),
  ...Object.fromEntries(prototypes.map((one) => [one.name, propertiesOf(one.prototype)])),
  listeners: new Map(process.eventNames().map((name) => [name, process.listeners(name).length])),
  environment: new Map(Object.entries(process.env)),
  state: new Map([["cwd", process.cwd()], ["umask", process.umask()], ["exitCode", process.exitCode]]),
});
const same = (a, b) => a === b || (typeof a === "object" && a && b &&
  ["value", "get", "set", "writable"].every((key) => Object.is(a[key], b[key])));
// Node defines some properties when others are first read.
for (const key of Reflect.ownKeys(process)) process[key];
new Headers();
const before = snapshot();
await import(process.argv[1]);
const changed = Object.entries(snapshot()).flatMap(([part, after]) =>
  [...new Set([...after.keys(), ...before[part].keys()])]
    .filter((key) => !same(before[part].get(key), after.get(key)))
    .map((key) => part + "." + String(key)));
process.stdout.write(JSON.stringify(changed));
`;

test.each(["core", "config", "protocol", "server", "slack", "rehearsal"])(
  "changes no globals, listeners or environment on import of @herdctl/%s",
  async (name) => {
    const file = pathToFileURL(join(checkout, `packages/${name}/dist/index.mjs`)).href;
    const args = ["--input-type=module", "--eval", program, file];
    const run = await waitForExit(spawn(process.execPath, args, { env: minimalEnv() }));
    expect(run).toMatchObject({ code: 0, stderr: "" });
    const changed: string[] = JSON.parse(run.stdout);
    expect(changed.filter((name) => !registries.includes(name))).toEqual([]);
  },
);
