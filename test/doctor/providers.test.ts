import { startRehearsal } from "@herdctl/rehearsal";
import { expect, onTestFinished, test } from "vitest";
import { resolveProvider } from "../../packages/core/src/claude/provider/resolve-provider.ts";
import {
  checkProvider,
  evaluateProviderAnswer,
} from "../../packages/core/src/doctor/claude/provider.ts";
import { providerCases } from "../providers/provider-cases.ts";
import { loadAgentProvider } from "../providers/provider-config.ts";

async function check(yaml: string, environment: Record<string, string> = {}) {
  const choice = resolveProvider(loadAgentProvider(yaml), environment);
  if (choice?.kind !== "provider") throw new Error(JSON.stringify(choice));
  return await checkProvider(choice.provider, environment, AbortSignal.timeout(20_000));
}

test.each(providerCases)("checks the credential of $type without a message", async ({ yaml }) => {
  const rehearsal = await startRehearsal();
  onTestFinished(() => rehearsal.stop());
  const finding = await check(yaml, {
    PATH: process.env.PATH ?? "",
    HERDCTL_REHEARSAL_URL: rehearsal.url ?? "",
  });
  expect(finding).toMatchObject({ verdict: "ok", message: expect.stringContaining("was free") });
  expect(rehearsal.ledger.entries.map(({ status }) => status)).toEqual([400]);
});

test("reports a rejected key, a failed command and an unreachable service", async () => {
  const rehearsal = await startRehearsal({ script: { keys: ["another-key"], rules: [] } });
  onTestFinished(() => rehearsal.stop());
  const yaml = `{ type: foundry, base_url: "${rehearsal.url}/foundry"`;
  const key = { ANTHROPIC_FOUNDRY_API_KEY: "wrong-key-0123456789" };
  expect(await check(`${yaml} }`, key)).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("rejects the credential from ANTHROPIC_FOUNDRY_API_KEY"),
  });
  expect(await check(`${yaml}, credential_command: "exit 4" }`)).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("exit code 4"),
  });
  expect(await check('{ type: foundry, base_url: "http://127.0.0.1:9" }', key)).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("cannot be reached"),
  });
});

test.each([
  [403, "You don't have access to the model with the specified model ID.", "ok"],
  [403, "The security token included in the request is expired", "failed"],
  [403, "User is not authorized to perform: bedrock:InvokeModel", "failed"],
  [404, "Publisher Model was not found", "ok"],
  [503, "", "warning"],
] as const)("reads the answer %i %s as %s", (status, answer, verdict) => {
  const place = { label: "Amazon Bedrock", source: "AWS_PROFILE" };
  expect(evaluateProviderAnswer(status, answer, place)).toMatchObject({ verdict });
});
