import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  CLIRuntime,
  ContainerRunner,
  RuntimeFactory,
  SDKRuntime,
  SessionFileRuntime,
} from "@herdctl/core";
import { UserError } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

const options = { stateDir: "/nowhere" };
const agentWith = (yaml: string) => agentOf(loadTestFleet(inlineAgent(yaml)), "one");

const choices: [yaml: string, runtime: new () => object][] = [
  ["max_turns: 3", SDKRuntime],
  ["runtime: sdk", SDKRuntime],
  ["runtime: { type: sdk }", SDKRuntime],
  ["runtime: cli", CLIRuntime],
  ["runtime: { type: cli, stream: stdout }", CLIRuntime],
  ["runtime: { type: cli, stream: session-file }\npermission_mode: plan", SessionFileRuntime],
];

test.each(choices)("creates the right runtime for an agent with `%s`", (yaml, runtime) => {
  expect(RuntimeFactory.create(agentWith(yaml), options)).toBeInstanceOf(runtime);
});

test.each(choices)("runs the runtime of `%s` in a container with Docker", (yaml, runtime) => {
  const agent = agentWith(`${yaml}\nworking_directory: /srv/repo\ndocker: { enabled: true }`);
  const created = RuntimeFactory.create(agent, options);
  expect(created).toBeInstanceOf(ContainerRunner);
  expect(Reflect.get(created, "runtime")).toBeInstanceOf(runtime);
});

test("rejects an unknown type and names the supported ones", () => {
  const agent = Object.assign(structuredClone(agentWith("runtime: sdk")), {
    runtime: { type: "cloud", stream: "stdout" },
  });
  const create = () => RuntimeFactory.create(agent, options);
  expect(create).toThrow(UserError);
  expect(create).toThrow(
    expect.objectContaining({
      message: "unknown runtime `cloud`",
      hint: "Supported: sdk, cli.",
    }),
  );
});

test("loads the Agent SDK in one file only, and its types elsewhere", () => {
  const root = resolve(import.meta.dirname, "../../packages");
  const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
    (name) => /^\w+\/src\/.*\.tsx?$/.test(name) && !name.includes("node_modules"),
  );
  const types =
    /import type [^;]*? from "@anthropic-ai\/claude-agent-sdk";|typeof import\([^)]*\)/g;
  const loads = /(from|import|require)\s*\(?\s*"@anthropic-ai\/claude-agent-sdk"/;
  const loading = sources.filter((name) =>
    loads.test(readFileSync(join(root, name), "utf8").replaceAll(types, "")),
  );
  expect(sources.length).toBeGreaterThan(100);
  expect(loading).toEqual(["core/src/runner/runtimes/sdk-runtime.ts"]);
});
