// A fleet of one agent in a temp folder, on the rehearsal model; nothing of this machine's user is seen.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startRehearsal } from "@herdctl/rehearsal";

export async function rehearsedFleet(script = { rules: [{ reply: "Hello." }] }) {
  const rehearsal = await startRehearsal({ script });
  const root = mkdtempSync(join(tmpdir(), "herdctl-bench-"));
  const [home, folder] = [join(root, "home"), join(root, "fleet")];
  mkdirSync(home);
  mkdirSync(folder);
  const fleet = `version: 1
fleet: { name: bench }
agents:
  - { name: hello, runtime: cli, permission_mode: bypassPermissions, default_prompt: hello }
`;
  writeFileSync(join(folder, "herdctl.yaml"), fleet);
  const env = {
    PATH: process.env.PATH,
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
