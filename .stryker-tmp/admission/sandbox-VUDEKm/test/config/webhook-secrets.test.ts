import { join } from "node:path";
import { loadFleet } from "@herdctl/config";
import { ProblemsError } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { tempFolderWith } from "../support/temp-folder.ts";

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString("base64");

function problemsWith(kind: string, secret: string, secretEnv = "HOOK"): string[] {
  const signature = `{ kind: ${kind}, secret_env: ${secretEnv}, header: X-Signature }`;
  const folder = tempFolderWith({
    "herdctl.yaml": `version: 1
fleet: { name: test }
agents:
  - name: coder
    schedules:
      hook: { type: webhook, prompt: Work., signature: ${kind === "hmac" ? signature : signature.replace(", header: X-Signature", "")} }
`,
  });
  const env = { HOOK: secret, OTHER: "a secret that is long enough" };
  try {
    loadFleet(join(folder, "herdctl.yaml"), env);
    return [];
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error;
    return error.problems.map(({ message, hint, line }) => `${line}: ${message}. ${hint}`);
  }
}

test.each([
  ["token", "7"],
  ["token", "fifteen chars.."],
  ["github", "short"],
  ["hmac", "short"],
  ["slack", "short"],
  ["standard", "whsec_AA"],
  ["standard", `whsec_${base64(15)}`],
])("refuses a weak secret for %s: %s", (kind, secret) => {
  const [problem = "", ...others] = problemsWith(kind, secret);
  expect(others).toEqual([]);
  expect(problem).toMatch(/^6: the webhook secret in HOOK has fewer than 16 bytes\. Set it to/);
  expect(problem).not.toContain(secret);
});

test.each([
  ["token", "sixteen chars..."],
  ["github", "a secret with more than sixteen bytes"],
  ["standard", `whsec_${base64(16)}`],
  ["standard", base64(24)],
  // A secret that is not set refuses deliveries until it is; the fleet starts without it.
  ["github", ""],
])("accepts a strong or unset secret for %s: %s", (kind, secret) => {
  expect(problemsWith(kind, secret)).toEqual([]);
});

test("requires both secrets to be strong during a rotation", () => {
  expect(problemsWith("github", "short", "[OTHER, HOOK]")).toHaveLength(1);
});
