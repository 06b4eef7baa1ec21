import { ProblemsError } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

function problemsOf(yaml: string) {
  try {
    loadTestFleet(inlineAgent(yaml));
    return [];
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error;
    return error.problems.map(({ path, message, hint }) => ({ path, message, hint }));
  }
}

test.each([
  ["provider: { type: bedrock, project: p }", "provider.project", "does not use `project`"],
  ["provider: { type: anthropic, region: x }", "provider.region", "does not use `region`"],
  ["provider: { type: vertex, regoin: x }", "provider.regoin", "unknown key"],
  ["provider: { type: vertex, project: a/b }", "provider.project", "not allowed"],
  ["provider: { type: custom, headers: { 'a b': c } }", "provider.headers.a b", "name of a header"],
  ["provider: bedrok", "provider", ""],
  ["runtime: cli\nprovider: bedrock\ncredential: subscription", "credential", "subscription"],
  [
    "provider: bedrock\ndocker: { enabled: true, auth: env }",
    "docker.auth",
    "inside the container",
  ],
  [
    "provider: { type: foundry, token_env: A, credential_command: b }",
    "provider.credential_command",
    "exclude each other",
  ],
  ["env: { CLAUDE_CODE_USE_BEDROCK: '1' }", "env.CLAUDE_CODE_USE_BEDROCK", "sets"],
])("refuses %s", (yaml, path, message) => {
  expect(problemsOf(yaml)).toContainEqual(
    expect.objectContaining({ path, message: expect.stringContaining(message) }),
  );
});

test("accepts the short form, and a provider for all agents", () => {
  expect(problemsOf("provider: bedrock")).toEqual([]);
  expect(problemsOf("provider: { type: vertex, project: p, models: { opus: x } }")).toEqual([]);
});
