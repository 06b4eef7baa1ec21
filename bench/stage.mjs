// A fleet in a temp folder, on the rehearsal model; nothing of this machine's user is seen.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { startRehearsal } from "@herdctl/rehearsal";

const greeting = { rules: [{ reply: "Hello." }] };
const oneAgent = `version: 1
fleet: { name: bench }
agents:
  - { name: hello, runtime: cli, permission_mode: bypassPermissions, default_prompt: hello }
`;

export async function rehearsedFleet({ script = greeting, fleetFile = oneAgent } = {}) {
  const rehearsal = await startRehearsal({ script });
  const root = mkdtempSync(join(tmpdir(), "herdctl-bench-"));
  const [home, folder] = [join(root, "home"), join(root, "fleet")];
  mkdirSync(home);
  mkdirSync(folder);
  writeFileSync(join(folder, "herdctl.yaml"), fleetFile);
  const env = {
    PATH: pathOfAShell(),
    HOME: home,
    TMPDIR: root,
    IS_SANDBOX: "1",
    ...rehearsal.env(),
  };
  const dispose = async () => {
    await rehearsal.stop();
    rmSync(root, { recursive: true, force: true });
  };
  return { env, folder, home, dispose };
}

/** npm puts the programs of this project before all others, and a `claude` of its tests is among them. */
function pathOfAShell() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.filter((one) => !one.endsWith("node_modules/.bin")).join(delimiter);
}

export function bundledClaude() {
  const fromSdk = createRequire(
    createRequire(import.meta.url).resolve("@anthropic-ai/claude-agent-sdk"),
  );
  const platform = `${process.platform}-${process.arch}`;
  return join(
    dirname(fromSdk.resolve(`@anthropic-ai/claude-agent-sdk-${platform}/package.json`)),
    "claude",
  );
}
