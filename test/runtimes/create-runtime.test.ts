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
