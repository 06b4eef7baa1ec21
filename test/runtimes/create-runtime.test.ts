import { join } from "node:path";
import type { ResolvedAgentConfig } from "@herdctl/config";
import {
  CLIRuntime,
  ContainerRunner,
  RuntimeFactory,
  type RuntimeFactoryOptions,
  SDKRuntime,
  SessionFileRuntime,
} from "@herdctl/core/internal";
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

test.each(["cloud", "constructor", "toString"])("rejects the unknown type %s", (type) => {
  const agent = Object.assign(structuredClone(agentWith("runtime: sdk")), { runtime: { type } });
  const create = () => RuntimeFactory.create(agent, options);
  expect(create).toThrow(UserError);
  expect(create).toThrow(
    expect.objectContaining({
      message: `Unknown runtime type: ${type}`,
      hint: "Supported types: 'sdk' (default), 'cli'.",
    }),
  );
});

const dockerAgents: [string, ResolvedAgentConfig, RuntimeFactoryOptions?][] = [
  ["with a state directory", { name: "one", docker: { enabled: true } }, { stateDir: "/nowhere" }],
  ["with empty options", { name: "one", docker: { enabled: true } }, {}],
  ["without options", { name: "one", runtime: "cli", docker: { enabled: true } }],
];

test.each(dockerAgents)(
  "wraps the runtime of a Docker agent in a container %s",
  (...[, ...args]) => {
    const runtime = RuntimeFactory.create(...args);
    expect(runtime).toBeInstanceOf(ContainerRunner);
    expect(runtime).toMatchObject({
      stateDir: args[1]?.stateDir ?? join(process.cwd(), ".herdctl"),
      runtime: expect.any(args[0].runtime === "cli" ? CLIRuntime : SDKRuntime),
      config: { memory: 2 ** 31, network: "none" },
    });
  },
);

test("creates the runtime of an agent that a program wrote, without options", () => {
  expect(RuntimeFactory.create({ name: "one" })).toBeInstanceOf(SDKRuntime);
  expect(RuntimeFactory.create({ name: "one", runtime: "cli" })).toBeInstanceOf(CLIRuntime);
  class OwnFactory extends RuntimeFactory {}
  expect(OwnFactory.create({ name: "one" })).toBeInstanceOf(SDKRuntime);
});
